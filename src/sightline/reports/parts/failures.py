"""Where the runs gave no answer, and why agents missed what they missed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from sightline.agent.attribution import ERRORS, MISSES
from sightline.reports.blocks import Block, Cell, NotesBlock, PagePart, Row, TableBlock, numeric
from sightline.reports.sections import ReportSection
from sightline.runs.folder import read_attribution


def failures(section: ReportSection) -> PagePart:
    """Failures by kind of task and reason, for each run."""
    counts = [Counter((row.kind, row.failure) for row in run.scores.tasks if row.failure) for run in section.runs]
    attempts = [Counter(row.kind for row in run.scores.tasks) for run in section.runs]
    keys = [key for kind in section.facts.kinds for key in sorted(set().union(*counts), key=str) if key[0] == kind]
    if not keys:
        return PagePart("Failures", [NotesBlock(["none: every attempt gave an answer"])])
    rows: list[Row] = [
        (
            kind,
            str(reason),
            *(
                Cell(f"{count[kind, reason]:,}", f"of {of[kind]:,}", tone="bad" if count[kind, reason] else "quiet")
                for count, of in zip(counts, attempts, strict=True)
            ),
        )
        for kind, reason in keys
    ]
    head = ("kind of task", "reason", *(run.name for run in section.runs))
    blocks: list[Block] = [
        TableBlock("Attempts without an answer; each counts as zero", head, rows, numeric(2, len(head)))
    ]
    return PagePart("Failures", blocks)


def missed(section: ReportSection) -> PagePart | None:
    """Reasons for missed pictures, and DISBench's classes of errors; None where no run kept trajectories."""
    told = {run.name: found for run in section.runs if (found := read_attribution(run.folder)) is not None}
    if not told:
        return None
    misses = _table("Missed pictures, by reason", "reason", MISSES, "misses", told)
    errors = _table("Attempts that are not right, by DISBench's classes", "error", ERRORS, "errors", told)
    return PagePart("Why agents missed", [misses, errors])


def _table(
    caption: str, first: str, names: Sequence[str], key: str, told: Mapping[str, Mapping[str, Any]]
) -> TableBlock:
    rows: list[Row] = [(name, *(_missed_cell(found[key], name) for found in told.values())) for name in names]
    head = (first, *told)
    return TableBlock(caption, head, rows, numeric(1, len(head)))


def _missed_cell(counts: Mapping[str, int], name: str) -> Cell:
    count, total = counts[name], sum(counts.values())
    return Cell(f"{count:,}", f"{count / total:.0%}" if count else "", tone="quiet" if not count else "")
