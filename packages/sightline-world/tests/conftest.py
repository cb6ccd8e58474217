"""One written photo history for all tests."""

from __future__ import annotations

import pytest

from sightline_world.histories import read_shots, write_history
from world_lives import WrittenLife


@pytest.fixture(scope="session")
def written_life(tmp_path_factory: pytest.TempPathFactory) -> WrittenLife:
    folder = tmp_path_factory.mktemp("lives") / "life"
    life = write_history(folder, seed=3, pictures=240, size=(320, 240))
    return WrittenLife(folder, life, {shot.id: shot for shot in read_shots(folder)})
