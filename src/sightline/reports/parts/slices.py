"""The scores broken down by every label."""

from __future__ import annotations

from collections.abc import Iterator

from sightline.markup import Markup
from sightline.reports.blocks import (
    Block,
    Cell,
    ChartsBlock,
    FileLink,
    Fold,
    Legend,
    PagePart,
    Paragraph,
    Row,
    TableBlock,
    numeric,
)
from sightline.reports.charts import Band, PlotDot, dot_plot
from sightline.reports.sections import FileNames, ReportSection
from sightline.reports.text import DASH, interval, score
from sightline.types import Estimate

_VALUES_DRAWN = 12
_RUNS_DRAWN = 6
_ROWS_SHOWN = 120


def breakdown(section: ReportSection, files: FileNames, ident: str) -> PagePart | None:
    """For each label a drawing by kind of task and a table of all metrics; None without labels."""
    labels = dict.fromkeys(label for run in section.runs for label in run.scores.by_label)
    if not labels:
        return None
    blocks: list[Block] = [Legend([run.name for run in section.runs[:_RUNS_DRAWN]])]
    if len(section.runs) > _RUNS_DRAWN:
        blocks.append(Paragraph(f"The first {_RUNS_DRAWN} of {len(section.runs)} systems are drawn; tables have all."))
    drawings = [
        drawing for number, label in enumerate(labels) for drawing in _drawings(section, label, f"{ident}-l{number}")
    ]
    blocks.append(ChartsBlock(drawings))
    blocks += [Fold(f"Table: {label}", [_table(section, label)]) for label in labels]
    blocks.append(FileLink("Every slice of every run", files.slices))
    return PagePart("By label", blocks)


def _drawings(section: ReportSection, label: str, ident: str) -> Iterator[Markup]:
    """The first metric of each kind of task that has the label; a single slice would only repeat the whole."""
    for kind, metric in section.headlines.items():
        values = _values(section, label, metric)
        bands = [band for value in values[:_VALUES_DRAWN] if (band := _band(section, label, value, metric)).dots]
        if len(bands) > 1:
            more = f", {_VALUES_DRAWN} of {len(values):,}" if len(values) > _VALUES_DRAWN else ""
            yield dot_plot(f"{metric} by {label}{more}", bands, f"{ident}-{kind}")


def _band(section: ReportSection, label: str, value: str, metric: str) -> Band:
    dots = [
        PlotDot(series, run.name, found)
        for series, run in enumerate(section.runs[:_RUNS_DRAWN])
        if (found := run.scores.by_label.get(label, {}).get(value, {}).get(metric)) is not None
    ]
    return Band(value, dots, f"n = {max((dot.estimate.n for dot in dots), default=0):,}")


def _values(section: ReportSection, label: str, metric: str) -> list[str]:
    """The values that some run has in a metric, in the order of the scores."""
    return list(
        dict.fromkeys(
            value
            for run in section.runs
            for value, estimates in run.scores.by_label.get(label, {}).items()
            if metric in estimates
        )
    )


def _table(section: ReportSection, label: str) -> TableBlock:
    pairs = [(metric, value) for metric in section.metrics for value in _values(section, label, metric)]
    rows = [_row(section, label, value, metric) for metric, value in pairs[:_ROWS_SHOWN]]
    more = f"; {_ROWS_SHOWN} of {len(pairs):,} slices shown" if len(pairs) > _ROWS_SHOWN else ""
    head = ("metric", label, "n", *(run.name for run in section.runs))
    return TableBlock(f"By {label}: mean and interval{more}", head, rows, numeric(2, len(head)))


def _row(section: ReportSection, label: str, value: str, metric: str) -> Row:
    found = [run.scores.by_label.get(label, {}).get(value, {}).get(metric) for run in section.runs]
    return metric, value, f"{max(one.n for one in found if one is not None):,}", *map(_cell, found)


def _cell(found: Estimate | None) -> Cell:
    return Cell(DASH, tone="quiet") if found is None else Cell(score(found.mean), interval(found))
