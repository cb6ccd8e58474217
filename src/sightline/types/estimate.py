"""A score with its uncertainty."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over `n` tasks with its interval; failures count as zero in `mean` and are left out of `answered`."""

    mean: float
    low: float
    high: float
    n: int
    failures: int
    answered: float | None
    level: float = 0.95
    method: str = "bca"
