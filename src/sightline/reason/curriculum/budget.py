"""How often each stage is gone through: by its epochs, or so that plans are equal in tokens."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.reason.curriculum.schedule import Block, Entries, Kept, Schedule

Costs = NDArray[np.int64]
"""Tokens, prompt and target together, by form and row."""


@dataclass(frozen=True, slots=True)
class Laid:
    """A stage as it is trained: its records in order, and their tokens."""

    name: str
    phase: str
    entries: Entries
    tokens: int


def lay_out(schedule: Schedule, keep: Kept, costs: Costs, budget: int | None) -> list[Laid]:
    """Every stage for its epochs; with a budget, each keeps its share of tokens and records are repeated or cut.

    Each stage is then within half a record of its share, whatever comes before it: plans that arrange the same stages
    differently still teach the same records. What is cut is by lot, whatever the stage's order.
    """
    natural = [block.epochs * _cost(block.entries, keep, costs) for block in schedule.blocks]
    rooms = [None if budget is None else budget * own / max(1, sum(natural)) for own in natural]
    laid = [
        _laid(block.name, block.phase, _taken(schedule, block, keep, costs, room), costs)
        for block, room in zip(schedule.blocks, rooms, strict=True)
    ]
    if not schedule.shuffled:
        return laid
    everything = schedule.mixed(Entries.joined([stage.entries for stage in laid]), "shuffled")
    return [_laid("shuffled", "shuffled", everything, costs)]


def _laid(name: str, phase: str, entries: Entries, costs: Costs) -> Laid:
    return Laid(name, phase, entries, int(costs[entries.forms, entries.rows].sum()))


def _taken(schedule: Schedule, block: Block, keep: Kept, costs: Costs, room: float | None) -> Entries:
    """Whole passes, and of the last one what there is room for."""
    taken: list[Entries] = []
    for number, entries in enumerate(schedule.passes(block, keep)):
        if room is None:
            fits = len(entries) if number < block.epochs else 0
        else:
            each = costs[entries.forms, entries.rows]
            fits = int(np.searchsorted(np.cumsum(each) - each / 2, room, side="right"))
            room -= int(each[:fits].sum())
        if fits:
            taken.append(schedule.in_order(block, entries[np.arange(fits)]))
        if fits < len(entries):
            return Entries.joined([*taken, entries[np.arange(0)]])
    raise AssertionError("passes do not end")


def _cost(entries: Entries, keep: Kept, costs: Costs) -> int:
    return int((costs * keep)[entries.forms, entries.rows].sum())
