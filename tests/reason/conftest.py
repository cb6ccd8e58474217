"""What several tests of reasoning begin with."""

from __future__ import annotations

from pathlib import Path

import pytest
from curriculum_tools import pools, written


@pytest.fixture
def good(tmp_path: Path) -> Path:
    """A benchmark of ten questions that a curriculum can be made from."""
    return written(tmp_path / "b", pools(10))
