"""One written photo history for all tests, and the command line as the tests of Sightline run it."""

from __future__ import annotations

import pytest

from cli.conftest import cli
from sightline_world.histories import read_shots, write_history
from world_lives import WrittenLife

__all__ = ["cli", "written_life"]


@pytest.fixture(scope="session")
def written_life(tmp_path_factory: pytest.TempPathFactory) -> WrittenLife:
    folder = tmp_path_factory.mktemp("lives") / "life"
    life = write_history(folder, seed=3, pictures=240, size=(320, 240))
    return WrittenLife(folder, life, {shot.id: shot for shot in read_shots(folder)})
