"""What several tests of reasoning begin with."""

from __future__ import annotations

from pathlib import Path

import pytest

from reason.curriculum_tools import pools, written
from sightline.calls.retry import RetryPolicy


@pytest.fixture
def good(tmp_path: Path) -> Path:
    """A benchmark of ten questions that a curriculum can be made from."""
    return written(tmp_path / "b", pools(10))


@pytest.fixture(autouse=True)
def _tried_again_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A failed call is tried again without a pause: how long pauses are, the tests of models and calls look at."""
    monkeypatch.setattr(RetryPolicy, "pause", lambda *_: 0.0)
