"""What of a scored run concerns the metrics that a reader asked for; the others were computed beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable

from sightline.score.scores import Scores, TaskScore

_MISSING = "no prediction, counted as zero: "


def missing_note(rows: Iterable[TaskScore], tasks: int) -> str | None:
    """How many tasks have no prediction; None where all have one."""
    missing = sum(row.status == "missing" for row in rows)
    return f"{_MISSING}{missing} of {tasks} tasks" if missing else None


def failures_of(scores: Scores, metrics: Collection[str]) -> dict[str, int]:
    """Failures by their kind, a missing prediction among them, of the tasks that the metrics score."""
    kinds = (row.failure for row in _rows(scores, metrics) if row.failure is not None)
    return dict(sorted(Counter(kinds).items()))


def notes_of(scores: Scores, metrics: Collection[str]) -> tuple[str, ...]:
    """The notes without those about other metrics, and about tasks that only others score."""
    rows = _rows(scores, metrics)
    others = tuple(f"{name} is " for name in scores.metrics if name not in metrics)
    kept = (
        missing_note(rows, len({row.task_id for row in rows})) if note.startswith(_MISSING) else note
        for note in scores.notes
        if not note.startswith(others)
    )
    return tuple(note for note in kept if note is not None)


def _rows(scores: Scores, metrics: Collection[str]) -> list[TaskScore]:
    return [row for row in scores.tasks if any(name in row.values for name in metrics)]
