"""Which question is asked at which stage, in which order and how often: the same for the same seed and names.

A stage's sample depends on the seed, the stage's name and the questions' names alone: plans that arrange the same
stages differently teach exactly the same records. Stages run for their epochs, or share a budget of tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from math import ceil

import numpy as np
from numpy.typing import NDArray

from sightline.errors import UserError
from sightline.reason.curriculum.plan import CurriculumPlan, CurriculumStage, Order
from sightline.reason.curriculum.pool import QuestionPool, redrawn

Rows = NDArray[np.int64]
Kept = NDArray[np.bool_]
"""By form and row."""
Costs = NDArray[np.int64]
"""Tokens, prompt and target together, by form and row."""


@dataclass(frozen=True, slots=True)
class ScheduleEntries:
    """Records to be: the stage of the plan whose form each has, and the row of its question."""

    forms: Rows
    rows: Rows

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, which: Rows | Kept) -> ScheduleEntries:
        return ScheduleEntries(self.forms[which], self.rows[which])

    @classmethod
    def joined(cls, parts: Sequence[ScheduleEntries]) -> ScheduleEntries:
        """One after the other."""
        return cls(np.concatenate([one.forms for one in parts]), np.concatenate([one.rows for one in parts]))


@dataclass(frozen=True, slots=True)
class ScheduleBlock:
    """A stage of the training: its name, its phase and the entries of one pass."""

    name: str
    phase: str
    entries: ScheduleEntries
    order: Order = "shuffled"
    epochs: int = 1


class Schedule:
    """The stages of a plan over a pool; at most a few numbers for each record are kept."""

    def __init__(self, plan: CurriculumPlan, pool: QuestionPool, seed: int) -> None:
        self._pool, self._seed, self._stages = pool, seed, plan.stages
        self.shuffled = plan.shuffled
        self.blocks: list[ScheduleBlock] = []
        for form, stage in enumerate(plan.stages):
            own = ScheduleEntries(np.full(len(rows := self._sample(stage)), form, dtype=np.int64), rows)
            self.blocks.append(self._with_earlier(stage, own, self.blocks))

    def passes(self, block: ScheduleBlock, keep: Kept) -> Iterator[ScheduleEntries]:
        """The entries of a block that are kept, again and again, each pass in an order of its own by lot."""
        kept = block.entries[keep[block.entries.forms, block.entries.rows]]
        if not len(kept):
            raise UserError(f'stage "{block.name}" has no record left.', "none of its records passed the checks")
        for number in count():
            yield self.mixed(kept, f"{block.name}/pass {number}")

    def in_order(self, block: ScheduleBlock, entries: ScheduleEntries) -> ScheduleEntries:
        """Some entries of a block, drawn by lot, in the order of their stage."""
        return entries if block.order == "shuffled" else entries[self._order(entries.rows, block.order)]

    def mixed(self, entries: ScheduleEntries, label: str) -> ScheduleEntries:
        """By lot; an entry that is there several times has a lot each time."""
        lots = self._pool.lots[entries.rows] + _times_before(entries, len(self._pool))
        for form, stage in enumerate(self._stages):
            of_form = entries.forms == form
            lots[of_form] = redrawn(lots[of_form], f"{self._seed}/{label}/{stage.name}")
        return entries[np.argsort(lots, kind="stable")]

    def _sample(self, stage: CurriculumStage) -> Rows:
        pool = self._pool
        lots = redrawn(pool.lots, f"{self._seed}/{stage.name}/sample")
        in_pool = {"all": np.ones(len(pool), dtype=bool), "easy": pool.hard == 0, "hard": pool.hard == 1}[stage.pool]
        rows = np.flatnonzero(in_pool)
        if stage.band != (0.0, 1.0):
            by_level = rows[np.lexsort((lots[rows], pool.levels[rows]))]
            rows = by_level[round(stage.band[0] * len(rows)) : round(stage.band[1] * len(rows))]
        if not len(rows):
            raise UserError(
                f'stage "{stage.name}" has no questions: the pool "{stage.pool}" is empty there.',
                "choose another plan, or measure the difficulty with another threshold",
            )
        return rows[np.argsort(lots[rows], kind="stable")][: max(1, round(stage.fraction * len(rows)))]

    def _order(self, rows: Rows, order: Order) -> Rows:
        """Places in the order of the benchmark, or by difficulty; what is equally hard stays as it is."""
        if order == "as-is":
            return np.argsort(rows, kind="stable")
        levels = self._pool.levels[rows]
        return np.argsort(levels if order == "easy-first" else -levels, kind="stable")

    def _with_earlier(
        self, stage: CurriculumStage, own: ScheduleEntries, before: Sequence[ScheduleBlock]
    ) -> ScheduleBlock:
        """With as many earlier records as its share of them asks for, in whole passes where there are fewer."""
        if stage.mix and before:
            earlier = ScheduleEntries.joined([block.entries for block in before])
            wanted = round(stage.mix / (1 - stage.mix) * len(own))
            labels = [f"{stage.name}/mix", *(f"{stage.name}/mix {n}" for n in range(1, ceil(wanted / len(earlier))))]
            mixed = ScheduleEntries.joined([self.mixed(earlier, label) for label in labels])
            own = ScheduleEntries.joined([own, mixed[np.arange(wanted)]])
        return ScheduleBlock(stage.name, stage.phase, own, stage.order, stage.epochs)


def _times_before(entries: ScheduleEntries, rows: int) -> NDArray[np.uint64]:
    """How often each entry has been there before in this list."""
    keys = entries.forms * rows + entries.rows
    order = np.argsort(keys, kind="stable")
    _, first, inverse = np.unique(keys[order], return_index=True, return_inverse=True)
    times = np.empty(len(keys), dtype=np.uint64)
    times[order] = np.arange(len(keys)) - first[inverse]
    return times


@dataclass(frozen=True, slots=True)
class StageLayout:
    """A stage as it is trained: its records in order, and their tokens."""

    name: str
    phase: str
    entries: ScheduleEntries
    tokens: int


def lay_out(schedule: Schedule, keep: Kept, costs: Costs, budget: int | None) -> list[StageLayout]:
    """Every stage for its epochs; with a budget, each keeps its share of tokens and records are repeated or cut.

    Each stage is then within half a record of its share, whatever comes before it: plans that arrange the same stages
    differently still teach the same records. What is cut is by lot, whatever the stage's order.
    """
    natural = [int((costs * keep)[one.entries.forms, one.entries.rows].sum()) * one.epochs for one in schedule.blocks]
    rooms = [None if budget is None else budget * own / max(1, sum(natural)) for own in natural]
    laid = [
        _laid(block.name, block.phase, _taken(schedule, block, keep, costs, room), costs)
        for block, room in zip(schedule.blocks, rooms, strict=True)
    ]
    if not schedule.shuffled:
        return laid
    everything = schedule.mixed(ScheduleEntries.joined([stage.entries for stage in laid]), "shuffled")
    return [_laid("shuffled", "shuffled", everything, costs)]


def _laid(name: str, phase: str, entries: ScheduleEntries, costs: Costs) -> StageLayout:
    return StageLayout(name, phase, entries, int(costs[entries.forms, entries.rows].sum()))


def _taken(schedule: Schedule, block: ScheduleBlock, keep: Kept, costs: Costs, room: float | None) -> ScheduleEntries:
    """Whole passes, and of the last one what there is room for."""
    taken: list[ScheduleEntries] = []
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
            return ScheduleEntries.joined([*taken, entries[np.arange(0)]])
    raise AssertionError("passes do not end")
