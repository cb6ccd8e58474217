"""How far down one has to look: recall against the cut-off."""

from __future__ import annotations

from sightline.report.blocks import Block, Cell, Charts, Legend, Part, Row, Table, numeric
from sightline.report.charts import Curve, curve_plot
from sightline.report.gather import Section
from sightline.report.words import DASH, interval, score
from sightline.types import TaskKind


def recall(section: Section, ident: str) -> Part | None:
    """A drawing and a table for each kind of task that some run answers with rankings."""
    blocks: list[Block] = []
    kinds = dict.fromkeys(kind for run in section.runs for kind in run.scores.recall)
    curves = {kind: _curves(section, kind) for kind in kinds}
    if not curves:
        return None
    if len(section.runs) > 1:
        blocks.append(Legend([run.name for run in section.runs]))
    drawings = [
        curve_plot(f"Recall against cut-off ({kind})", of_kind, "results looked at", f"{ident}-recall-{kind}")
        for kind, of_kind in curves.items()
    ]
    blocks.append(Charts(drawings))
    blocks += [_table(kind, of_kind) for kind, of_kind in curves.items()]
    return Part("Recall against cut-off", blocks)


def _curves(section: Section, kind: TaskKind) -> list[Curve]:
    return [
        Curve(series, run.name, {point.k: point.found for point in run.scores.recall[kind]})
        for series, run in enumerate(section.runs)
        if kind in run.scores.recall
    ]


def _table(kind: TaskKind, curves: list[Curve]) -> Table:
    cuts = sorted({k for curve in curves for k in curve.points})
    rows: list[Row] = []
    for curve in curves:
        cells = []
        for k in cuts:
            found = curve.points.get(k)
            cells.append(Cell(DASH) if found is None else Cell(score(found.mean), interval(found)))
        tasks = max(found.n for found in curve.points.values())
        rows.append((curve.name, *cells, f"{tasks:,}"))
    head = ("system", *(f"@{k:,}" for k in cuts), "n")
    return Table(f"Recall of {kind} tasks that have something to find", head, rows, numeric(1, len(head)))
