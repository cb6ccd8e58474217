"""Where the runs gave no answer, and why."""

from __future__ import annotations

from collections import Counter

from sightline.report.blocks import Block, Cell, Notes, Part, Row, Table, numeric
from sightline.report.gather import Section


def failures(section: Section) -> Part:
    """Failures by kind of task and reason, for each run."""
    counts = [Counter((row.kind, row.failure) for row in run.scores.tasks if row.failure) for run in section.runs]
    attempts = [Counter(row.kind for row in run.scores.tasks) for run in section.runs]
    keys = [key for kind in section.facts.kinds for key in sorted(set().union(*counts), key=str) if key[0] == kind]
    if not keys:
        return Part("Failures", [Notes(["none: every attempt gave an answer"])])
    rows: list[Row] = [
        (kind, str(reason), *(_cell(count[kind, reason], of[kind]) for count, of in zip(counts, attempts, strict=True)))
        for kind, reason in keys
    ]
    head = ("kind of task", "reason", *(run.name for run in section.runs))
    blocks: list[Block] = [Table("Attempts without an answer; each counts as zero", head, rows, numeric(2, len(head)))]
    return Part("Failures", blocks)


def _cell(count: int, attempts: int) -> Cell:
    return Cell(f"{count:,}", f"of {attempts:,}", tone="bad" if count else "quiet")
