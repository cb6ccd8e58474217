"""Any number of tasks of a kind from one life, by lot: equal arguments give equal tasks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from sightline.errors import UserError
from sightline.types import TaskKind
from sightline_world.tasks.album import Album
from sightline_world.tasks.answer import AnswerMaker
from sightline_world.tasks.describe import DescribeMaker
from sightline_world.tasks.made import MadeTask
from sightline_world.tasks.rank import RankMaker
from sightline_world.tasks.select import SelectMaker

if TYPE_CHECKING:
    from sightline_world.web.facts import FactBase

_TRIES = 12
"""Attempts to make a task that was not made before."""


class Maker(Protocol):
    """Makes one task by lot, or says that it can't."""

    def make(self, name: str, rng: Random, difficulty: float) -> MadeTask | None: ...


_MAKERS: Mapping[TaskKind, Callable[[Album, FactBase | None], Maker]] = MappingProxyType(
    {
        "rank": lambda album, _: RankMaker(album),
        "select": lambda album, _: SelectMaker(album),
        "answer": AnswerMaker,
        "describe": lambda album, _: DescribeMaker(album),
    }
)
KINDS: tuple[TaskKind, ...] = tuple(_MAKERS)


def make_tasks(
    album: Album,
    kind: TaskKind,
    count: int,
    seed: int | str = 0,
    difficulty: float | None = None,
    *,
    web: FactBase | None = None,
) -> tuple[MadeTask, ...]:
    """So many different tasks of a kind; with no difficulty (0 to 1) given, each has its own by lot.

    Without the fact base of the life's web, no `answer` question needs the web. A life that is too small for so many
    is refused. The first tasks of a longer list are those of a shorter one.
    """
    _check(kind, count, difficulty)
    maker = _MAKERS[kind](album, web)
    made: dict[tuple[object, ...], MadeTask] = {}
    for number in range(count):
        task = _new(maker, album, kind, number, seed, difficulty, made)
        if task is None:
            raise UserError(
                f"only {number} of {count} {kind} tasks could be made from the life of {album.life.owner}.",
                "ask for fewer, or make a life with more pictures",
            )
        made[task.task.prompt] = task
    return tuple(made.values())


def _new(
    maker: Maker,
    album: Album,
    kind: TaskKind,
    number: int,
    seed: int | str,
    difficulty: float | None,
    made: Mapping[tuple[object, ...], MadeTask],
) -> MadeTask | None:
    for attempt in range(_TRIES):
        rng = Random(f"{seed}/{album.life.owner}/{kind}/{number}/{attempt}")
        level = rng.random() if difficulty is None else difficulty
        task = maker.make(f"{kind}-{album.life.owner}-{number:05}", rng, level)
        if task is not None and task.task.prompt not in made:
            return task
    return None


def _check(kind: str, count: int, difficulty: float | None) -> None:
    if kind not in _MAKERS:
        raise UserError(f"{kind!r} is not a kind of task that is made from lives.", f"choose from: {', '.join(KINDS)}")
    if count < 0:
        raise UserError(f"can't make {count} tasks.", "ask for 0 or more")
    if difficulty is not None and not 0 <= difficulty <= 1:
        raise UserError(f"a difficulty of {difficulty} is out of range.", "give a number from 0 (easy) to 1 (hard)")
