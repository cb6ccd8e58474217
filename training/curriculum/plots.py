"""The plots of the experiment: how much is right by arm, after each stage, and along what was varied."""

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


def draw_along(panels: Mapping[str, Mapping[str, Mapping[float, Score]]], guessing: float, file: Path) -> None:
    """For each thing that was varied how arms do along it; an arm has the same colour everywhere."""
    figure = Figure(figsize=(9, 4), layout="constrained")
    FigureCanvasAgg(figure)
    every = list(dict.fromkeys(arm for arms in panels.values() for arm in arms))
    all_axes = figure.subplots(1, len(panels), sharey=True)
    for axes, (about, arms) in zip(all_axes, panels.items(), strict=True):
        for arm, by_amount in arms.items():
            _draw_line(axes, arm, by_amount, every.index(arm))
        amounts = sorted({amount for by_amount in arms.values() for amount in by_amount})
        axes.set(xscale="log", xlabel=about)
        axes.set_xticks(amounts, [f"{amount:,.0f}" if amount >= 1000 else f"{amount:.3g}" for amount in amounts])
        axes.minorticks_off()
    for axes in all_axes:
        _mark(axes, guessing)
    all_axes[0].set_ylabel("right")
    all_axes[0].legend(fontsize="small")
    figure.suptitle("Right at the end as questions and tokens vary, with 95 % intervals", fontsize="medium")
    figure.savefig(file, dpi=130)


def _draw_line(axes: Any, arm: str, by_amount: Mapping[float, Score], number: int) -> None:
    """An arm's scores with their intervals, a little beside those of the others."""
    amounts = sorted(by_amount)
    found = [by_amount[amount] for amount in amounts]
    ends = [[score.mean - score.low for score in found], [score.high - score.mean for score in found]]
    beside = [amount * 1.012**number for amount in amounts]
    means = [score.mean for score in found]
    axes.errorbar(beside, means, yerr=ends, marker="o", markersize=5, capsize=3, color=f"C{number}", label=arm)


def _axes() -> tuple[Figure, Any]:
    figure = Figure(figsize=(7.5, 4), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.add_subplot()


def _save(figure: Figure, axes: Any, guessing: float, file: Path) -> None:
    _mark(axes, guessing)
    axes.set_ylabel("right")
    figure.savefig(file, dpi=130)


def _mark(axes: Any, guessing: float) -> None:
    """What guessing gets, on an axis of per cent that begins at nothing."""
    axes.axhline(guessing, color="grey", linestyle=":", linewidth=1)
    axes.text(1, guessing, "guessing ", transform=axes.get_yaxis_transform(), color="grey", ha="right", va="bottom")
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
