"""The log of a training: JSON lines that survive a kill, and the curves that are drawn of them."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sightline.errors import UserError


class Log:
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
                    raise UserError(f"{self.file}:{number}: this is no JSON.", "delete that line") from None
        return found


def draw_curves(entries: list[dict[str, Any]], folder: Path) -> Path:
    """The loss over tokens and the accuracy after each stage: curves.png, or curves.csv where matplotlib is missing."""
    losses = [entry for entry in entries if "loss" in entry]
    asked = [entry for entry in entries if "evaluation" in entry]
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        return _table(losses, asked, folder / "curves.csv")
    names = sorted({name for entry in asked for name in entry["evaluation"]})
    figure = Figure(figsize=(10, 4) if names else (6, 4), layout="constrained")
    FigureCanvasAgg(figure)
    left = figure.add_subplot(1, 2 if names else 1, 1)
    for stage in dict.fromkeys(entry["stage"] for entry in losses):
        some = [entry for entry in losses if entry["stage"] == stage]
        left.plot([entry["tokens"] for entry in some], [entry["loss"] for entry in some], label=stage)
    left.set(xlabel="tokens", ylabel="loss")
    left.legend(fontsize="small")
    if names:
        right = figure.add_subplot(1, 2, 2)
        for name in names:
            scores = [entry["evaluation"][name] for entry in asked]
            ends = [[s["accuracy"] - s["low"] for s in scores], [s["high"] - s["accuracy"] for s in scores]]
            stages = [entry["stage"] for entry in asked]
            right.errorbar(stages, [s["accuracy"] for s in scores], yerr=ends, marker="o", capsize=3, label=name)
        right.set(ylabel="accuracy", ylim=(0, 1))
        right.tick_params(axis="x", rotation=30)
        right.legend(fontsize="small")
    figure.savefig(folder / "curves.png", dpi=120)
    return folder / "curves.png"


def _table(losses: list[dict[str, Any]], asked: list[dict[str, Any]], file: Path) -> Path:
    with file.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out)
        writer.writerow(["stage", "step", "tokens", "what", "value"])
        for entry in losses:
            writer.writerow([entry["stage"], entry["step"], entry["tokens"], "loss", entry["loss"]])
        for entry in asked:
            for name, scores in entry["evaluation"].items():
                writer.writerow([entry["stage"], entry["step"], "", f"accuracy on {name}", scores["accuracy"]])
    return file
