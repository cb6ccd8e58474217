"""The curves of a training: its loss over tokens, and how much it has right after each stage."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from sightline.train.log import evaluations

Entries = Sequence[Mapping[str, Any]]


def draw_curves(entries: Entries, folder: Path) -> Path:
    """From the entries of a log: curves.png, or curves.csv where matplotlib is missing."""
    losses = [entry for entry in entries if "loss" in entry]
    asked = evaluations(entries)
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        return _table(losses, asked, folder / "curves.csv")
    sets = sorted({name for entry in asked for name in entry["evaluation"]})
    figure = Figure(figsize=(11, 4.2) if sets else (6.5, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    _draw_losses(figure.add_subplot(1, 2 if sets else 1, 1), losses)
    if sets:
        _draw_scores(figure.add_subplot(1, 2, 2), asked, sets)
    figure.savefig(folder / "curves.png", dpi=120)
    return folder / "curves.png"


def _draw_losses(axes: Any, losses: Entries) -> None:
    """One line through all stages, of which each has its own ground: what is asked differs, so the loss may jump."""
    tokens = [entry["tokens"] for entry in losses]
    marker = "o" if len(losses) < 60 else None
    axes.plot(tokens, [entry["loss"] for entry in losses], color="black", linewidth=1, marker=marker, markersize=3)
    last = [entry for entry, after in pairwise([*losses, {"stage": None}]) if entry["stage"] != after["stage"]]
    ends = [entry["tokens"] for entry in last]
    begins = [0, *ends[:-1]]
    for number, (begin, end) in enumerate(zip(begins, ends, strict=True)):
        axes.axvspan(begin, end, color="tab:blue", alpha=0.06 if number % 2 else 0.16, linewidth=0)
    middles = [(begin + end) / 2 for begin, end in zip(begins, ends, strict=True)]
    above = axes.secondary_xaxis("top")
    above.set_xticks(middles, [entry["stage"] for entry in last], rotation=30, ha="left", color="tab:blue")
    above.tick_params(length=0)
    axes.margins(x=0.02)
    axes.set(ylabel="loss", xlabel="tokens")
    axes.xaxis.set_major_formatter(lambda tokens, _: f"{tokens:,.0f}")


def _draw_scores(axes: Any, asked: Entries, sets: Sequence[str]) -> None:
    """A line for each set of questions; sets stand a little apart, or equal ones would hide each other."""
    stages = [entry["stage"] for entry in asked]
    for number, name in enumerate(sets):
        there = [(place, entry["evaluation"][name]) for place, entry in enumerate(asked) if name in entry["evaluation"]]
        apart = 0.12 * (number - (len(sets) - 1) / 2)
        scores = [score for _, score in there]
        ends = [[s["accuracy"] - s["low"] for s in scores], [s["high"] - s["accuracy"] for s in scores]]
        axes.errorbar(
            [place + apart for place, _ in there],
            [score["accuracy"] for score in scores],
            yerr=ends,
            marker="o",
            capsize=3,
            label=f"{name} (n {scores[0]['n']:,})",
        )
    axes.set_xticks(range(len(stages)), stages, rotation=30, ha="right")
    axes.set_xlim(-0.5, len(stages) - 0.5)
    axes.set(title="Right after each stage, with 95 % intervals", ylim=(0, 1.02))
    axes.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    axes.legend(fontsize="small")


def _table(losses: Entries, asked: Entries, file: Path) -> Path:
    with file.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out)
        writer.writerow(["stage", "step", "tokens", "what", "value"])
        for entry in losses:
            writer.writerow([entry["stage"], entry["step"], entry["tokens"], "loss", entry["loss"]])
        for entry in asked:
            for name, scores in entry["evaluation"].items():
                writer.writerow([entry["stage"], entry["step"], "", f"accuracy on {name}", scores["accuracy"]])
    return file
