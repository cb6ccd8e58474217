"""What a run came to: counts, failures by kind, and its latency, from the ledger."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sightline.display import Table, quiet
from sightline.english import counted
from sightline.types import Attempt, Failure, LedgerEntry, Run

ATTEMPT = "run"
"""The stage of the ledger that times an attempt at a task."""
INDEX, INDEX_FROM_CACHE = "index", "index-from-cache"
"""Stages that time building an index; the second when some of its vectors had been made before."""


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds of the `n` attempts that answered: percentiles, linear between the two nearest; None when there is none.

    `index` is the time that building took, None when an index that was there already was used, or there is none;
    `index_is_whole` is false where vectors came from the cache.
    """

    n: int = 0
    p50: float | None = None
    p90: float | None = None
    p99: float | None = None
    slowest: float | None = None
    index: float | None = None
    index_is_whole: bool = True

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("n", "p50", "p90", "p99", "slowest")}


def latency_of(ledger: Iterable[LedgerEntry]) -> Latency:
    """Add a ledger up; what failed is left out, because giving up early is not being fast."""
    times: list[float] = []
    index: list[float] = []
    whole = True
    for entry in ledger:
        if entry.seconds is None:
            continue
        if entry.stage == ATTEMPT and entry.task_id is not None and entry.ok:
            times.append(entry.seconds)
        elif entry.stage in (INDEX, INDEX_FROM_CACHE):
            index.append(entry.seconds)
            whole &= entry.stage == INDEX
    built = sum(index) if index else None
    if not times:
        return Latency(index=built, index_is_whole=whole)
    p50, p90, p99, slowest = (float(value) for value in np.quantile(times, (0.5, 0.9, 0.99, 1.0)))
    return Latency(len(times), p50, p90, p99, slowest, built, whole)


@dataclass(frozen=True, slots=True, repr=False)
class RunSummary(Table[Attempt]):
    """A run on disk, finished: `attempts` of `tasks` tasks, of which `made` now and the others before.

    Its rows are the attempts of `run`.

    `failures` counts attempts by kind of failure; `left_out` counts tasks of kinds that the system does not do, which
    score zero.
    """

    folder: Path
    run: Run
    tasks: int
    made: int
    failures: Mapping[str, int] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    latency: Latency = field(default_factory=Latency)
    seconds: float = 0.0
    benchmark: Path | None = field(default=None, compare=False)

    def __fspath__(self) -> str:
        """A summary stands for its folder: `sightline.score(bench, sightline.run(bench, system))`."""
        return str(self.folder)

    @property
    def attempts(self) -> int:
        return len(self.run.attempts)

    @property
    def answered(self) -> int:
        return self.attempts - sum(self.failures.values())

    def to_json(self) -> dict[str, Any]:
        """The object that `run --json` prints."""
        return {
            "run": str(self.folder),
            "benchmark": self.run.benchmark,
            "system": self.run.system,
            "parameters": dict(self.run.parameters),
            "tasks": self.tasks,
            "attempts": self.attempts,
            "made": self.made,
            "answered": self.answered,
            "failures": dict(self.failures),
            "left_out": dict(self.left_out),
            "latency": self.latency.to_json(),
            "index_seconds": self.latency.index,
            "notes": list(self.notes),
            "seconds": round(self.seconds, 3),
        }

    def records(self) -> list[dict[str, Any]]:
        """One flat record for each attempt: task, number, form of the prediction, answer, failure."""
        return self.run.records()

    def __str__(self) -> str:
        """What was done, how long it took, and what comes next."""
        after = f"next: sightline score {self.benchmark or 'BENCH'} {self.folder}"
        return "\n".join(f"  {line}" for line in (self._line(), *self._lines(), after))

    def _rows(self) -> Sequence[Attempt]:
        return self.run.attempts

    def _line(self) -> str:
        before = self.attempts - self.made
        return (
            f"{self.run.system} on {self.run.benchmark}: {counted(self.attempts, 'attempt')} "
            f"at {counted(self.tasks, 'task')}" + (f", {before:,} of them before" if before else "")
        )

    def _lines(self) -> Iterator[str]:
        if self.failures:
            yield f"failures, which count as zero: {', '.join(f'{kind} {n:,}' for kind, n in self.failures.items())}"
        if self.left_out:
            kinds = ", ".join(f"{count:,} {kind}" for kind, count in self.left_out.items())
            yield f"left out, because such a system does not do them: {kinds}"
        times = self.latency
        if times.p50 is not None and times.p90 is not None and times.p99 is not None:
            built = "" if times.index is None else f"; index built in {_time(times.index)}"
            yield (
                f"time: p50 {_time(times.p50)}, p90 {_time(times.p90)}, p99 {_time(times.p99)} "
                f"over {counted(times.n, 'answer')}{built}"
            )

    def _blocks(self) -> Iterable[str]:
        yield from self._lines()
        yield from self.run._blocks()
        yield quiet(f"Next: sightline.score({str(self.benchmark or 'BENCH')!r}, {str(self.folder)!r})")


def _time(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds * 1000:.1f} ms"


def failures_of(run: Run) -> dict[str, int]:
    """Attempts that failed, by kind, the commonest first."""
    kinds = (attempt.prediction.kind for attempt in run.attempts if isinstance(attempt.prediction, Failure))
    return dict(Counter(kinds).most_common())


def summarise(
    folder: Path,
    run: Run,
    *,
    tasks: int,
    made: int,
    left_out: Mapping[str, int],
    notes: tuple[str, ...],
    seconds: float,
    benchmark: Path | None = None,
) -> RunSummary:
    """Count what a run holds."""
    latency = latency_of(run.ledger)
    return RunSummary(folder, run, tasks, made, failures_of(run), left_out, notes, latency, seconds, benchmark)
