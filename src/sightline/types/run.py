"""A run: what one system answered on one benchmark, what it cost, and a score of it with its uncertainty."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sightline.class_names import known_as
from sightline.types.corpus import Json
from sightline.types.truth import Prediction

if TYPE_CHECKING:
    from sightline.types.benchmark import Benchmark


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

    @classmethod
    def from_rankings(
        cls,
        rankings: Any,
        *,
        benchmark: Benchmark | str | None = None,
        system: str = "system",
        columns: Mapping[str, str] | None = None,
    ) -> Run:
        """Make a run from results that are at hand.

        Parameters
        ----------
        rankings:
            `{query: {picture: score}}`, ordered by score and, where scores are equal, as trec_eval does;
            `{query: [pictures]}` or `{query: [(picture, score)]}`, best first; or a data frame (pandas or polars) or a
            list of dictionaries with `query_id`, `picture` and `score`, `rank` or neither. A `Failure` in place of a
            ranking is counted as one.
        benchmark:
            What the queries are of; a benchmark that has none of them is refused.
        system:
            What the system is called.
        columns:
            Where a column is called otherwise, `{field: column}`; fields are `query`, `picture`, `score` and `rank`.

        Returns
        -------
        Run
            One attempt for each query, in memory.

        Examples
        --------
        >>> run = Run.from_rankings({"q1": {"a.jpg": 0.2, "b.jpg": 0.7}}, system="mine")
        >>> run.attempts[0].prediction.pictures
        ('b.jpg', 'a.jpg')
        """
        from sightline.benchmark.from_tables import run_from_rankings

        return run_from_rankings(rankings, benchmark=benchmark, system=system, columns=columns)


@dataclass(frozen=True, slots=True)
class ScoreWarning:
    """Why a score or a comparison deserves less trust than it looks, and what to do about it."""

    code: str
    message: str
    fix: str


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
        if self.reason is not None:
            return self.reason
        if self.n < max(fewest_units(self.level), _FEWEST_TO_RESAMPLE if self.method == "bca" else 0):
            return f"too few tasks ({self.n})"
        return "no spread" if self.method == "none" else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Both ends, or None where `no_interval` says why there are none to read."""
        return (self.low, self.high) if self.no_interval is None else None


# Below this many tasks 95 % intervals by resampling held the truth in less than 90 % of simulations.
_FEWEST_TO_RESAMPLE = 10


def fewest_units(level: float) -> int:
    """The fewest tasks or clusters that can carry an interval: the least G with 2 / 2^G < 1 - level; 6 for 95 %.

    With fewer, no test that takes deviations as likely up as down excludes any value at that level.
    """
    return math.floor(-math.log2(1 - level)) + 2
