"""The log of a training (JSON lines that survive a kill), and the curves of loss and accuracy drawn from it."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from sightline.errors import UserError

Entries = Sequence[Mapping[str, Any]]


class TrainLog:
    """One file of JSON lines; where a training goes on from a checkpoint, what came after that is cut off first."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def begin(self, steps: int) -> None:
        """Keep what was written up to so many steps."""
        kept = [entry for entry in self.read() if entry["step"] <= steps] if steps else []
        self.file.write_text("".join(json.dumps(entry) + "\n" for entry in kept), encoding="utf-8")

    def __call__(self, entry: Mapping[str, Any]) -> None:
        with self.file.open("a", encoding="utf-8") as out:
            out.write(json.dumps(entry) + "\n")

    def read(self) -> list[dict[str, Any]]:
        """All entries; a last line that a kill cut short is left out."""
        if not self.file.exists():
            return []
        found = []
        lines = self.file.read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines, 1):
            try:
                found.append(json.loads(line))
            except ValueError:
                if number < len(lines):
                    raise UserError(f"{self.file}:{number}: this is not JSON.", "delete that line") from None
        return found


def evaluations(entries: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The scores after each stage, those of sets that were asked later with the others."""
    found: dict[tuple[int, str], dict[str, Any]] = {}
    for entry in entries:
        if "evaluation" in entry:
            same = found.setdefault((entry["step"], entry["stage"]), {**entry, "evaluation": {}})
            same["evaluation"].update(entry["evaluation"])
    return list(found.values())


def scores_told(entry: Mapping[str, Any]) -> list[str]:
    """A line for each set of questions that was asked after a stage."""
    lines = []
    for name, scores in entry["evaluation"].items():
        interval = f"[{scores['low']:.3f}, {scores['high']:.3f}]"
        unread = f", {scores['unread']} without an option" if scores["unread"] else ""
        lines.append(f"{entry['stage']}: {name} {scores['accuracy']:.3f} {interval}, n {scores['n']}{unread}")
    return lines


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
