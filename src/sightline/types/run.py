"""A run: what one system answered on one benchmark, what it cost, and a score of it with its uncertainty."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from sightline.class_names import known_as
from sightline.types.corpus import Json
from sightline.types.truth import Prediction


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try at one task; `number` counts repeated runs of the same task from 0."""

    task_id: str
    prediction: Prediction
    number: int = 0


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One paid or timed call: for what, by which model, how much; `usd` None means the price is not known.

    `from_journal` marks a call of an attempt that was cut off before it could be told: paid then, reused now.
    """

    stage: str
    model: str
    task_id: str | None = None
    tokens_in: int = 0
    tokens_cached: int = 0
    tokens_out: int = 0
    tokens_reasoning: int = 0
    tokens_image: int = 0
    usd: float | None = None
    seconds: float | None = None
    ok: bool = True
    from_journal: bool = False


@known_as("Run")
@dataclass(frozen=True, slots=True)
class Run:
    """Benchmark, system, predictions and ledger; `benchmark_checksum` says on exactly what it was run."""

    benchmark: str
    system: str
    attempts: tuple[Attempt, ...]
    benchmark_checksum: str | None = None
    parameters: Mapping[str, Json] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    seed: int | None = None
    limits: Mapping[str, Json] = field(default_factory=dict)
    ledger: tuple[LedgerEntry, ...] = ()


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
    reason: str | None = None

    @property
    def no_interval(self) -> str | None:
        """Why `low` and `high` say nothing, in a few words; None where they are an interval to read.

        `reason` is what n alone does not tell, such as too few clusters.
        """
        if self.reason is not None or self.method == "none":
            return self.reason or "no interval"
        return f"too few values ({self.n})" if self.n < fewest_units(self.level) else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Both ends, or None where `no_interval` says why there are none to read."""
        return (self.low, self.high) if self.no_interval is None else None


def fewest_units(level: float) -> int:
    """The fewest tasks or clusters that can carry an interval: the least G with 2 / 2^G < 1 - level; 6 for 95 %.

    With fewer, no test that takes deviations as likely up as down excludes any value at that level.
    """
    return math.floor(-math.log2(1 - level)) + 2
