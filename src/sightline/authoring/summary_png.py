"""The same drawings as PNG files, for papers and slides; needs matplotlib."""

from __future__ import annotations

import io
import math
from typing import Any

from sightline.authoring.summary_charts import Bars, Boxes, Chart, Curves, Histogram, Shares
from sightline.errors import MissingExtraError
from sightline.plain_text import short

_COLOURS = ("#0b6fb8", "#c2500a", "#0f7f5c", "#9b3fa0", "#8a6a00", "#b3266b", "#3b5bd6", "#59636e")
_INK, _QUIET, _LINE = "#1b2128", "#5b6673", "#dfe3e8"
_DPI = 150
_WIDTH = 7.0
_ROW = 0.27


def to_png(drawing: Chart) -> bytes:
    """One drawing; the same drawing gives the same bytes."""
    figure, axes = _figure(_height(drawing))
    match drawing:
        case Bars():
            _bars(axes, drawing)
        case Histogram():
            _histogram(axes, drawing)
        case Boxes():
            _boxes(axes, drawing)
        case Curves():
            _curves(axes, drawing)
        case Shares():
            _shares(axes, drawing)
    axes.set_title(drawing.title, loc="left", fontsize=11, fontweight="bold", color=_INK)
    out = io.BytesIO()
    # Without the version of the library, files of two machines can be compared.
    figure.savefig(out, format="png", dpi=_DPI, bbox_inches="tight", metadata={"Software": None})
    return out.getvalue()


def _figure(height: float) -> tuple[Any, Any]:
    """A figure of its own, so that nothing global is touched and threads do not meet."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("drawing PNG files", "charts") from None
    figure: Any = Figure(figsize=(_WIDTH, height), facecolor="white")
    FigureCanvasAgg(figure)
    axes: Any = figure.add_subplot()
    axes.spines[["top", "right", "left", "bottom"]].set_visible(False)
    axes.tick_params(length=0, colors=_QUIET, labelsize=9)
    axes.set_axisbelow(True)
    return figure, axes


def _height(drawing: Chart) -> float:
    match drawing:
        case Bars(bars=rows) | Boxes(boxes=rows) | Shares(rows=rows):
            return 0.9 + _ROW * max(2, len(rows))
        case _:
            return 3.4


def _bars(axes: Any, drawing: Bars) -> None:
    places = range(len(drawing.bars))
    drawn = axes.barh(places, [bar.value for bar in drawing.bars], height=0.62, color=_COLOURS[0])
    axes.bar_label(drawn, [bar.shown for bar in drawing.bars], padding=4, fontsize=8.5, color=_INK)
    _rows(axes, [bar.label for bar in drawing.bars])
    axes.set_xticks([])
    axes.margins(x=0.18)


def _histogram(axes: Any, drawing: Histogram) -> None:
    for series, (name, counts) in enumerate(drawing.series.items()):
        axes.stairs(counts, drawing.edges, fill=True, alpha=0.55, color=_COLOURS[series], label=name)
    axes.grid(axis="y", color=_LINE)
    axes.set_xlabel(drawing.across, fontsize=9, color=_QUIET)
    _legend(axes, len(drawing.series))


def _boxes(axes: Any, drawing: Boxes) -> None:
    for place, box in enumerate(drawing.boxes):
        low, first, median, third, high = box.quantiles
        colour = _COLOURS[box.series]
        axes.plot([low, high], [place, place], color=colour, linewidth=1.4, alpha=0.7)
        axes.barh(place, third - first, left=first, height=0.5, color=colour, alpha=0.45)
        axes.plot([median], [place], marker="o", markersize=5, color=colour)
    _rows(axes, [f"{short(box.label, 22)} (n = {box.n:,})" for box in drawing.boxes])
    axes.grid(axis="x", color=_LINE)
    axes.set_xlabel(drawing.across, fontsize=9, color=_QUIET)
    if any(box.series for box in drawing.boxes):
        for series, name in enumerate(("relevant", "not relevant")):
            axes.plot([], [], marker="o", linestyle="", color=_COLOURS[series], label=name)
        _legend(axes, 2)


def _curves(axes: Any, drawing: Curves) -> None:
    for series, (name, (xs, ys)) in enumerate(drawing.lines.items()):
        axes.step(xs, ys, where="post", color=_COLOURS[series], label=name)
    axes.set_ylim(0, 1.02)
    axes.grid(color=_LINE)
    axes.set_xlabel(drawing.across, fontsize=9, color=_QUIET)
    _legend(axes, len(drawing.lines))


def _shares(axes: Any, drawing: Shares) -> None:
    for place, (_, found) in enumerate(drawing.rows):
        if found.interval is not None:
            axes.plot(found.interval, [place, place], color=_COLOURS[0], linewidth=2.2, alpha=0.6)
        axes.plot([found.mean], [place], marker="o", markersize=6, color=_COLOURS[0], clip_on=False)
    _rows(axes, [f"{short(name, 22)} (n = {found.n:,})" for name, found in drawing.rows])
    axes.set_xlim(0, 1)
    axes.grid(axis="x", color=_LINE)


def _rows(axes: Any, labels: list[str]) -> None:
    # A dollar sign would start a formula.
    axes.set_yticks(range(len(labels)), [short(label, 40).replace("$", r"\$") for label in labels])
    axes.tick_params(axis="y", labelcolor=_INK)
    axes.set_ylim(max(1, len(labels)) - 0.4, -0.6)


def _legend(axes: Any, series: int) -> None:
    if series > 1:
        axes.legend(frameon=False, fontsize=9, loc="lower right", bbox_to_anchor=(1, 1), ncols=math.ceil(series))
