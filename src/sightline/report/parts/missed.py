"""Why agents missed what they missed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sightline.agent.attribution import ERRORS, MISSES, read_attribution
from sightline.report.blocks import Cell, Part, Row, Table, numeric
from sightline.report.gather import Section


def missed(section: Section) -> Part | None:
    """Reasons for missed pictures, and DISBench's classes of errors; None where no run kept trajectories."""
    told = {run.name: found for run in section.runs if (found := read_attribution(run.folder)) is not None}
    if not told:
        return None
    misses = _table("Missed pictures, by reason", "reason", MISSES, "misses", told)
    errors = _table("Attempts that are not right, by DISBench's classes", "error", ERRORS, "errors", told)
    return Part("Why agents missed", [misses, errors])


def _table(caption: str, first: str, names: Sequence[str], key: str, told: Mapping[str, Mapping[str, Any]]) -> Table:
    rows: list[Row] = [(name, *(_cell(found[key], name) for found in told.values())) for name in names]
    head = (first, *told)
    return Table(caption, head, rows, numeric(1, len(head)))


def _cell(counts: Mapping[str, int], name: str) -> Cell:
    count, total = counts[name], sum(counts.values())
    return Cell(f"{count:,}", f"{count / total:.0%}" if count else "", tone="quiet" if not count else "")
