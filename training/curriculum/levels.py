"""How hard each question is for a model, as MIR measures it: by how often answers to it are right.

The base knows none of these questions, so it can't be asked. Others can, which learnt to answer one half of the
questions at once: each is asked the other half. The share of them that is wrong about a question is its level.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from statistics import fmean

from drawing import Drawn

HALVES = ("half-0", "half-1")
"""Arms of the experiment that answer one half of the questions, and learn from the other."""


def answered_by(arm: str, items: Sequence[Drawn]) -> list[Drawn]:
    """The questions that such an arm answers: half of them by lot, since subtasks take turns; in their order."""
    mixed = Random("halves").sample(range(len(items)), len(items))
    return [items[row] for row in sorted(mixed[HALVES.index(arm) :: 2])]


def learnt_by(arm: str, items: Sequence[Drawn]) -> list[Drawn]:
    """The questions that such an arm learns from: those that the other answers."""
    (other,) = (one for one in HALVES if one != arm)
    return answered_by(other, items)


def measured(items: Sequence[Drawn], file: Path) -> list[Drawn]:
    """The same questions with the levels that the rows of such arms tell."""
    wrong: dict[str, list[bool]] = {item.id: [] for item in items}
    for row in map(json.loads, file.read_text().splitlines()):
        for item, letter in zip(answered_by(row["arm"], items), row["letters"], strict=True):
            wrong[item.id].append(letter != item.answer)
    return [replace(item, level=fmean(wrong[item.id])) for item in items]
