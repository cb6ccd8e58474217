"""A small benchmark of plain-coloured pictures of two owners, and systems that do as they are told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PIL import Image

from sightline.benchmark.folder import write_benchmark
from sightline.runs.systems.base import SystemReply
from sightline.types import (
    Annotation,
    Answer,
    Benchmark,
    Choice,
    Corpus,
    Group,
    Option,
    Picture,
    PictureRef,
    PictureSet,
    Ranking,
    Relevance,
    Scope,
    Task,
)
from tiny_clip import COLOURS

NAMES = tuple(COLOURS)


def coloured(folder: Path, *, tasks: int = 0) -> Path:
    """A benchmark on disk: six colours for each of two owners, tasks of four kinds, one group hidden.

    With `tasks` there are so many rank tasks instead, one colour after the other.
    """
    pictures, owned = {}, {}
    for owner in ("ana", "ben"):
        owned[owner] = tuple(f"{owner}/{name}.png" for name in NAMES)
        for name, id_ in zip(NAMES, owned[owner], strict=True):
            (folder / id_).parent.mkdir(parents=True, exist_ok=True)
            Image.new("RGB", (16, 16), COLOURS[name]).save(folder / id_)
            pictures[id_] = Picture(id_, id_)
    groups = [Group(owner, "owner", ids) for owner, ids in owned.items()]
    groups.append(Group("secret party", "event", ("ana/red.png", "ana/blue.png"), hidden=True))
    posed = _many(tasks) if tasks else _posed()
    benchmark = Benchmark(
        name="colours",
        corpus=Corpus("colours", pictures, tuple(groups)),
        tasks={task.id: task for task, _ in posed},
        truth={task.id: truth for task, truth in posed},
        annotations=tuple(Annotation(id_, summary=f"a wall painted {Path(id_).stem}") for id_ in pictures),
    )
    write_benchmark(benchmark, folder, force=True)
    return folder


def _many(count: int) -> list[tuple[Task, Relevance]]:
    return [
        (
            Task(f"t{number:03}", "rank", (f"a picture of {NAMES[number % 6]}",)),
            Relevance({f"ana/{NAMES[number % 6]}.png": 1}),
        )
        for number in range(count)
    ]


def _posed() -> list[tuple[Task, Relevance | PictureSet | Answer | Choice]]:
    options = (Option("A", ("red",)), Option("B", ("blue",)))
    return [
        (
            Task("red", "rank", ("a picture of red",), labels={"a": ("b",)}, extra={"answer": "red"}),
            Relevance({"ana/red.png": 1, "ben/red.png": 2}),
        ),
        (Task("blue of ben", "rank", ("blue",), scope=Scope(owner="ben")), Relevance({"ben/blue.png": 1})),
        (
            Task("like it", "rank", (PictureRef("ana/green.png"),), translations={"fr": ("a green",)}),
            Relevance({"ben/green.png": 1}),
        ),
        (
            Task("both", "rank", ("a picture of red, not ", PictureRef("ana/green.png"))),
            Relevance({"ana/yellow.png": 1}),
        ),
        (
            Task("at the party", "select", ("blue",), scope=Scope(groups=("secret party",))),
            PictureSet(("ana/blue.png",)),
        ),
        (Task("of a stranger", "select", ("blue",), scope=Scope(owner="zoe")), PictureSet(())),
        (Task("which", "choose", ("which colour?",), options=options), Choice("B")),
        (Task("which again", "choose", ("which colour?",), options=options), Choice("B")),
        (Task("which now", "choose", ("which colour?",), options=options), Choice("A")),
        (Task("say", "answer", ("what colour?",)), Answer("red")),
    ]


class Scripted:
    """Does what a function says, and remembers what it was asked and shown."""

    name = "scripted"

    def __init__(self, said: Callable[[Task], SystemReply] | None = None) -> None:
        self._said = said or (lambda task: Ranking(("ana/red.png",)))
        self.asked: list[str] = []
        self.shown: list[Benchmark] = []

    async def attempt(self, task: Task, bench: Benchmark) -> SystemReply:
        self.asked.append(task.id)
        self.shown.append(bench)
        return self._said(task)
