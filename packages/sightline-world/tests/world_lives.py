"""A written life with the truth about it, as the tests of lives use it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sightline_world.truth import ShotTruth, SyntheticHistory


@dataclass(frozen=True, slots=True)
class WrittenLife:
    """A life with its folder and the truth about each picture."""

    folder: Path
    life: SyntheticHistory
    shots: dict[str, ShotTruth]
