"""How long answers took, and how long an index took to build."""

from __future__ import annotations

from sightline.report.blocks import Block, Cell, Notes, Part, Row, Table, numeric
from sightline.report.gather import Section
from sightline.report.words import DASH, seconds
from sightline.run.latency import Latency, latency_of


def latency(section: Section) -> Part | None:
    """Percentiles of each run's answers with their number; failures are left out."""
    found = [(run.name, latency_of(run.run.ledger)) for run in section.runs]
    if not any(times.n for _, times in found):
        return None
    rows: list[Row] = [(name, *_times(times), _index(times), f"{times.n:,}") for name, times in found]
    head = ("system", "p50", "p90", "p99", "slowest", "index built in", "n")
    blocks: list[Block] = [Table("Seconds per answer, failures left out", head, rows, numeric(1, len(head)))]
    few = [name for name, times in found if 0 < times.n < 100]
    notes = ["with fewer than 100 answers the p99 is close to the slowest of them"] if few else []
    if any(not times.index_is_whole for _, times in found):
        notes.append("an index whose vectors were made before takes less time to build than a new one")
    if notes:
        blocks.append(Notes(notes))
    return Part("Latency", blocks)


def _times(found: Latency) -> list[str]:
    values = (found.p50, found.p90, found.p99, found.slowest)
    return [DASH if value is None else seconds(value) for value in values]


def _index(found: Latency) -> Cell:
    if found.index is None:
        return Cell(DASH)
    return Cell(seconds(found.index), "" if found.index_is_whole else "vectors partly made before")
