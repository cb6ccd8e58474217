"""What a run came to: counts, failures by kind, times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sightline.class_names import name_of
from sightline.errors import MissingExtraError
from sightline.run.latency import Latency, latency_of
from sightline.types import Failure, Run

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A run on disk, finished: `attempts` of `tasks` tasks, of which `made` now and the others before.

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

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each attempt: task, number, form of the prediction, failure."""
        try:
            import pandas
        except ImportError as error:
            raise MissingExtraError("RunSummary.to_pandas", "pandas") from error
        return pandas.DataFrame(
            {
                "task": attempt.task_id,
                "attempt": attempt.number,
                "prediction": name_of(type(attempt.prediction)),
                "failure": attempt.prediction.kind if isinstance(attempt.prediction, Failure) else None,
            }
            for attempt in self.run.attempts
        )


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
) -> RunSummary:
    """Count what a run holds."""
    return RunSummary(folder, run, tasks, made, failures_of(run), left_out, notes, latency_of(run.ledger), seconds)
