"""A run: what one system answered on one benchmark, what it cost, and a score of it with its uncertainty."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from sightline.arguments import checked
from sightline.class_names import known_as, name_of
from sightline.display import Rows, Table, html_table
from sightline.english import counted, some
from sightline.plain_text import short, text_table
from sightline.types.corpus import Json
from sightline.types.truth import Choice, Failure, PictureSet, Prediction, Ranking, Text, Trace

_ROWS = 20

if TYPE_CHECKING:
    from sightline.io.files import PathLike
    from sightline.types.benchmark import Benchmark


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try at one task; `number` counts repeated runs of the same task from 0."""

    task_id: str
    prediction: Prediction
    number: int = 0


class Attempts(Rows[Attempt]):
    """Attempts in order: `attempts[:5]` are the first five."""

    __slots__ = ()

    def records(self) -> list[dict[str, Any]]:
        """One flat record for each attempt: its task, its number, what was said, and why it failed."""
        return [
            {
                "task": attempt.task_id,
                "attempt": attempt.number,
                "prediction": name_of(type(attempt.prediction)),
                "answer": answer_text(attempt.prediction),
                "failure": attempt.prediction.kind if isinstance(attempt.prediction, Failure) else None,
            }
            for attempt in self
        ]

    def __str__(self) -> str:
        more = f"\n  … and {counted(len(self) - _ROWS, 'more attempt')}" if len(self) > _ROWS else ""
        return text_table(*self._cells(_ROWS)) + more if self else f"  {self._line()}"

    def _line(self) -> str:
        failed = sum(isinstance(attempt.prediction, Failure) for attempt in self)
        if failed and failed == len(self):
            return counted(failed, "failed attempt")
        return counted(len(self), "attempt") + (f", {failed:,} of them failed" if failed else "")

    def _cells(self, most: int) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """The names of columns, and the first rows; numbers of attempts only where tasks were tried more than once."""
        repeated = any(attempt.number for attempt in self)
        failed = any(isinstance(attempt.prediction, Failure) for attempt in self)
        head = ("task", *(("attempt",) if repeated else ()), "answer", *(("failure",) if failed else ()))
        rows = [
            (one.task_id, *((f"{one.number}",) if repeated else ()), *_said(one.prediction)[: 1 + failed])
            for one in islice(self, most)
        ]
        return head, rows

    def _blocks(self) -> Iterable[str]:
        if self:
            yield html_table(*self._cells(len(self)))


def _said(prediction: Prediction) -> tuple[str, str]:
    """The answer, and why there is none."""
    if isinstance(prediction, Failure):
        error, _, _ = prediction.message.partition("\n")  # A traceback may follow.
        return "–", f"{prediction.kind}: {short(error, 100)}"
    return answer_text(prediction), ""


def answer_text(prediction: Prediction) -> str:
    """What a system said, on one line; nothing for a failure."""
    match prediction:
        case Ranking() | PictureSet():
            return short(some(prediction.pictures, 3), 100) or "no picture"
        case Text():
            return short(prediction.text, 120)
        case Choice():
            return prediction.option or "–"
        case Trace():
            return short(prediction.answer, 120)
    return ""


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One paid or timed call: for what, by which model, how much; `usd` None means the price is not known.

    `from_journal` marks a call of an attempt that was cut off before it could be told: paid then, reused now. `key`
    names its row in the workspace's journal.
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
    key: str | None = None


@known_as("Run")
@dataclass(frozen=True, slots=True, repr=False)
class Run(Table[Attempt]):
    """Benchmark, system, predictions and ledger; `benchmark_checksum` says on exactly what it was run.

    Its rows are the attempts; `run.failures` are those that failed.
    """

    benchmark: str
    system: str
    attempts: tuple[Attempt, ...]
    benchmark_checksum: str | None = None
    parameters: Mapping[str, Json] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    seed: int | None = None
    limits: Mapping[str, Json] = field(default_factory=dict)
    ledger: tuple[LedgerEntry, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "attempts", Attempts(self.attempts))

    @property
    def failures(self) -> Attempts:
        """The attempts that failed: each counts as zero."""
        return Attempts(attempt for attempt in self.attempts if isinstance(attempt.prediction, Failure))

    def records(self) -> list[dict[str, Any]]:
        """One flat record for each attempt."""
        return Attempts(self.attempts).records()

    def __str__(self) -> str:
        return f"{self._line()}\n{self.attempts}"

    def _rows(self) -> Sequence[Attempt]:
        return self.attempts

    def _line(self) -> str:
        return f"{self.system} on {self.benchmark}: {Attempts(self.attempts)._line()}"

    def _blocks(self) -> Iterable[str]:
        return Attempts(self.attempts)._blocks()

    @classmethod
    @checked
    def from_rankings(
        cls,
        rankings: Any,
        *,
        benchmark: Benchmark | PathLike | None = None,
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
            What the queries are of: the benchmark, its folder, or only its name. One that has none of them is refused.
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


@dataclass(frozen=True, slots=True, repr=False)
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
        return f"too few tasks ({self.n})" if self.n < fewest_units(self.level) else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Both ends, or None where `no_interval` says why there are none to read."""
        return (self.low, self.high) if self.no_interval is None else None

    def __str__(self) -> str:
        return format(self)

    def __repr__(self) -> str:
        return f"<Estimate: {self}, n = {self.n:,}>"

    def __format__(self, spec: str) -> str:
        """`0.873 [0.812, 0.901]`, each number by `spec` (three decimals); a dash where there was nothing to measure."""
        spec = spec or ".3f"
        return f"{self.mean:z{spec}} {self.interval_text(spec)}" if self.n else "–"

    def interval_text(self, spec: str = ".3f") -> str:
        """`[0.812, 0.901]`; else the `reason`, or "no interval", where the n beside it says why."""
        if self.interval is None:
            return self.reason or "no interval"
        low, high = self.interval
        return f"[{low:z{spec}}, {high:z{spec}}]"


def fewest_units(level: float) -> int:
    """The fewest tasks or clusters that can carry an interval: the least G with 2 / 2^G < 1 - level; 6 for 95 %.

    With fewer, no test that takes deviations as likely up as down excludes any value at that level.
    """
    return math.floor(-math.log2(1 - level)) + 2
