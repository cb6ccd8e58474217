"""Any number of tasks of a kind from one photo history, by lot: equal arguments give equal tasks.

Over written histories they become a benchmark folder, for `sightline run`, `score` and `export`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from sightline.benchmark.files import HEADER
from sightline.benchmark.folder import write_benchmark
from sightline.errors import UserError
from sightline.io.files import PathLike
from sightline.types import Benchmark, Corpus, Json, TaskKind
from sightline_world.choose import choose_tasks
from sightline_world.choose.benchmark import write_picture
from sightline_world.histories import corpus_of, read_shots, read_world, write_world
from sightline_world.tasks.album import TaskAlbum
from sightline_world.tasks.answer import AnswerMaker
from sightline_world.tasks.describe import DescribeMaker
from sightline_world.tasks.phrases import Family
from sightline_world.tasks.rank import RankMaker
from sightline_world.tasks.select import SelectMaker
from sightline_world.tasks.task import MadeTask
from sightline_world.truth import World
from sightline_world.web.fact_base import make_facts

if TYPE_CHECKING:
    from sightline_world.web.facts import FactBase

_TRIES = 12
"""Attempts to make a task that was not made before."""
_MAKERS: Mapping[TaskKind, Callable[[TaskAlbum, FactBase | None], TaskMaker]] = MappingProxyType(
    {
        "rank": lambda album, _: RankMaker(album),
        "select": lambda album, _: SelectMaker(album),
        "answer": AnswerMaker,
        "describe": lambda album, _: DescribeMaker(album),
    }
)
KINDS: tuple[TaskKind, ...] = tuple(_MAKERS)
WORLD, CHOOSE = "world", "choose"
"""The folders beside `benchmark.json`: lives with the truth about them, and pictures of `choose` tasks."""


class TaskMaker(Protocol):
    """Makes one task by lot, or says that it can't."""

    def make(self, name: str, rng: Random, difficulty: float, family: Family | None = None) -> MadeTask | None: ...


def make_tasks(
    album: TaskAlbum,
    kind: TaskKind,
    count: int,
    seed: int | str = 0,
    difficulty: float | None = None,
    *,
    web: FactBase | None = None,
    phrasing: Family | None = None,
) -> tuple[MadeTask, ...]:
    """So many different tasks of a kind; with no difficulty (0 to 1) given, each has its own by lot.

    Without the fact base of the life's web, no `answer` question needs the web. A life that is too small for so many
    is refused. The first tasks of a longer list are those of a shorter one. Words are of the families `training` and
    `held-out` by lot, or all of the family `phrasing`.
    """
    _check(kind, count, difficulty)
    maker = _MAKERS[kind](album, web)
    made: dict[tuple[object, ...], MadeTask] = {}
    for number in range(count):
        task = _new(maker, album, kind, number, seed, difficulty, made, phrasing)
        if task is None:
            raise UserError(
                f"only {number} of {count} {kind} tasks could be made from the photo history of {album.life.owner}.",
                "ask for fewer, or draw one with more pictures",
            )
        made[task.task.prompt] = task
    return tuple(made.values())


def _new(
    maker: TaskMaker,
    album: TaskAlbum,
    kind: TaskKind,
    number: int,
    seed: int | str,
    difficulty: float | None,
    made: Mapping[tuple[object, ...], MadeTask],
    phrasing: Family | None,
) -> MadeTask | None:
    for attempt in range(_TRIES):
        rng = Random(f"{seed}/{album.life.owner}/{kind}/{number}/{attempt}")
        level = rng.random() if difficulty is None else difficulty
        task = maker.make(f"{kind}-{album.life.owner}-{number:05}", rng, level, phrasing)
        if task is not None and task.task.prompt not in made:
            return task
    return None


def _check(kind: str, count: int, difficulty: float | None) -> None:
    if kind not in _MAKERS:
        raise UserError(
            f"{kind!r} is not a kind of task that is made from photo histories.", f"choose from: {', '.join(KINDS)}"
        )
    if count < 0:
        raise UserError(f"can't make {count} tasks.", "ask for 0 or more")
    if difficulty is not None and not 0 <= difficulty <= 1:
        raise UserError(f"a difficulty of {difficulty} is out of range.", "give a number from 0 (easy) to 1 (hard)")


def world_benchmark(
    folder: PathLike,
    seed: int = 0,
    *,
    owners: int = 1,
    pictures: int = 600,
    count: int = 100,
    kinds: Sequence[TaskKind] = KINDS,
    difficulty: float | None = None,
    size: tuple[int, int] = (640, 480),
    workers: int | None = 1,
    phrasing: Family | None = None,
) -> Benchmark:
    """Write lives of so many pictures for each owner, and a benchmark with `count` tasks of each kind over them.

    Stopped at any moment, the same call goes on where it was. The folder can be moved: pictures are found from it.
    """
    root = Path(folder)
    _refuse_other_things(root)
    write_world(root / WORLD, seed, owners=owners, pictures=pictures, size=size, workers=workers)
    return benchmark_of(root / WORLD, root, seed, count=count, kinds=kinds, difficulty=difficulty, phrasing=phrasing)


def benchmark_of(
    world: PathLike,
    folder: PathLike,
    seed: int | str = 0,
    *,
    count: int = 100,
    kinds: Sequence[TaskKind] = KINDS,
    difficulty: float | None = None,
    name: str = "world",
    phrasing: Family | None = None,
) -> Benchmark:
    """A benchmark over lives that are there already; `count` tasks of each kind, spread over the owners.

    `choose` may be among the kinds, too: such tasks bring their own pictures, which belong to no owner.
    """
    root, written = Path(folder), read_world(world)
    _refuse_other_things(root)
    made = list(_made(written, [kind for kind in kinds if kind != "choose"], count, seed, difficulty, phrasing))
    chosen = choose_tasks(count, seed, difficulty) if "choose" in kinds else []
    made += [MadeTask(each.task, each.truth) for each in chosen]
    corpus = _corpus(written, root)
    others = {each.id: write_picture(each, root, CHOOSE) for task in chosen for each in task.pictures}
    benchmark = Benchmark(
        name=name,
        corpus=replace(corpus, pictures={**corpus.pictures, **others}),
        tasks={each.task.id: each.task for each in made},
        truth={each.task.id: each.truth for each in made},
        card=_card(written, made, seed),
    )
    return write_benchmark(benchmark, root, force=True)


def _refuse_other_things(root: Path) -> None:
    """Only a benchmark, or what one is about to be made from, is built upon."""
    held = {entry.name for entry in root.iterdir()} if root.is_dir() else set()
    if held - {WORLD, CHOOSE} and HEADER not in held:
        raise UserError(f"{root} holds other things; it is left as it is.", "choose a new or an empty folder")


def albums_of(world: World) -> Iterator[TaskAlbum]:
    """One album after the other, in the order of the truth."""
    lives = {life.owner: life for life in world.lives}
    for owner, shots in groupby(read_shots(world.folder), key=lambda shot: shot.owner):
        yield TaskAlbum(lives[owner], shots)


def _made(
    world: World,
    kinds: Sequence[TaskKind],
    count: int,
    seed: int | str,
    difficulty: float | None,
    phrasing: Family | None,
) -> Iterator[MadeTask]:
    web = make_facts(world.seed, world.lives)
    owners = len(world.lives)
    by_kind: dict[TaskKind, list[MadeTask]] = {kind: [] for kind in kinds}
    for place, album in enumerate(albums_of(world)):
        share = count * (place + 1) // owners - count * place // owners
        for kind in kinds:
            by_kind[kind] += make_tasks(album, kind, share, seed, difficulty, web=web, phrasing=phrasing)
    for tasks in by_kind.values():
        yield from tasks


def _corpus(world: World, folder: Path) -> Corpus:
    """Pictures by their path from the benchmark's folder where they lie within it."""
    corpus = corpus_of(world.folder)
    inside = world.folder.resolve()
    if not inside.is_relative_to(folder.resolve()):
        return corpus
    prefix = inside.relative_to(folder.resolve()) / "pictures"
    pictures = {id_: replace(each, uri=(prefix / id_).as_posix()) for id_, each in corpus.pictures.items()}
    return replace(corpus, pictures=pictures)


def _card(world: World, made: Iterable[MadeTask], seed: int | str) -> Mapping[str, Json]:
    proofs = [each.task.extra.get("proof") for each in made]
    reached = [best["f1"] for proof in proofs if isinstance(proof, dict) and isinstance(best := proof["content"], dict)]
    return {
        "description": "Tasks over drawn pictures of invented lives, true by construction.",
        "languages": ["en"],
        "license": "Apache-2.0",
        "world_seed": world.seed,
        "task_seed": seed,
        "best_single_picture_f1": max((float(value) for value in reached if isinstance(value, float)), default=None),
    }
