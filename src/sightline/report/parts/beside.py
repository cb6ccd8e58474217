"""What stands beside the scores of some benchmarks: repeated attempts, and knowing when there is nothing to find."""

from __future__ import annotations

from sightline.report.blocks import Block, Part, Row, Table, numeric
from sightline.report.gather import Section
from sightline.report.words import DASH, score


def beside(section: Section) -> Part | None:
    """Tables for runs with repeated attempts and for tasks with nothing to find; None when there are neither."""
    blocks: list[Block] = [*_repeats(section), *_abstentions(section)]
    return Part("Beside the scores", blocks) if blocks else None


def _repeats(section: Section) -> list[Table]:
    rows: list[Row] = [
        (
            metric,
            run.name,
            f"{found.runs:,}",
            ", ".join(map(score, found.run_means)),
            _maybe(found.between_run_sd),
            _maybe(found.intraclass),
            ", ".join(map(score, run.scores.best_of.get(metric, ()))) or DASH,
        )
        for metric in section.metrics
        for run in section.runs
        if (found := run.scores.repeated.get(metric)) is not None
    ]
    head = ("metric", "system", "attempts", "mean of each", "sd between", "variance by task", "best of 1, 2, …")
    return [Table("Repeated attempts", head, rows, numeric(2, 7))] if rows else []


def _abstentions(section: Section) -> list[Table]:
    found = [(run.name, run.scores.abstention) for run in section.runs]
    rows: list[Row] = [
        (
            name,
            f"{seen.empty:,} of {seen.tasks:,}",
            f"{seen.right:,}",
            f"{seen.false_answers:,}",
            _maybe(seen.precision),
            _maybe(seen.recall),
        )
        for name, seen in found
        if seen is not None
    ]
    head = ("system", "tasks with nothing to find", "rightly empty", "something returned", "precision", "recall")
    return [Table("Tasks with nothing to find", head, rows, numeric(1, 6))] if rows else []


def _maybe(value: float | None) -> str:
    return DASH if value is None else score(value)
