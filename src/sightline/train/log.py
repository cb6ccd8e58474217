"""The log of a training: JSON lines that survive a kill."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
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
