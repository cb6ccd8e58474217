"""The plots of the experiment: how much is right by arm, and after each stage."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scores import Score


def draw_arms(scores: Mapping[str, tuple[Score, NDArray[np.float64]]], guessing: float, file: Path) -> None:
    """For each arm its score, and beside it the means of its seeds."""
    figure, axes = _axes()
    for place, (score, seeds) in enumerate(scores.values()):
        ends = [[score.mean - score.low], [score.high - score.mean]]
        axes.errorbar([place], [score.mean], yerr=ends, fmt="o", color="black", capsize=4)
        axes.plot([place + 0.2] * len(seeds), seeds, "x", color="tab:blue", markersize=5)
    axes.set_xticks(range(len(scores)), list(scores), rotation=20)
    axes.set(title="Right at the end, with 95 % intervals; crosses are seeds")
    _save(figure, axes, guessing, file)


def draw_stages(scores: Mapping[str, Mapping[str, Score]], guessing: float, file: Path) -> None:
    """For each arm of several stages how much is right after each."""
    figure, axes = _axes()
    for arm, by_stage in scores.items():
        found = list(by_stage.values())
        x = range(1, len(found) + 1)
        line = axes.plot(x, [score.mean for score in found], marker="o", label=arm)[0]
        low, high = [score.low for score in found], [score.high for score in found]
        axes.fill_between(x, low, high, color=line.get_color(), alpha=0.12, linewidth=0)
    axes.set(xlabel="after stage", title="Right after each stage, asked for all steps with nothing given")
    axes.legend(fontsize="small")
    _save(figure, axes, guessing, file)


def _axes() -> tuple[Figure, Any]:
    figure = Figure(figsize=(7.5, 4), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.add_subplot()


def _save(figure: Figure, axes: Any, guessing: float, file: Path) -> None:
    axes.axhline(guessing, color="grey", linestyle=":", linewidth=1)
    axes.text(1, guessing, "guessing ", transform=axes.get_yaxis_transform(), color="grey", ha="right", va="bottom")
    axes.set_ylim(bottom=0)
    axes.set_ylabel("right")
    axes.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    figure.savefig(file, dpi=130)
