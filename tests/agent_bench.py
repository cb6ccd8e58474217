"""A small benchmark on disk, with select, answer and choose tasks over two owners' pictures."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from agent_stand_ins import png
from sightline.benchmark.folder import write_benchmark
from sightline.types import (
    Answer,
    Benchmark,
    Choice,
    Corpus,
    Group,
    Option,
    Picture,
    PictureRef,
    PictureSet,
    Scope,
    Task,
    Truth,
)

ANA = tuple(f"ana/{number}.png" for number in range(6))
BO = tuple(f"bo/{number}.png" for number in range(2))
OPTIONS = (Option("A", ("a dog",)), Option("B", ("a cat",)))


def small_bench(folder: Path) -> Benchmark:
    """Write it, and read it back."""
    pictures = {}
    for number, name in enumerate((*ANA, *BO)):
        path = folder / "pictures" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(png(number))
        taken = datetime(2021, 6, 1 + number, 12)
        pictures[name] = Picture(name, f"pictures/{name}", taken_at=taken, address="9 Sea Road, Marwick, Scotland")
    groups = (
        Group("ana", "owner", ANA),
        Group("bo", "owner", BO),
        Group("event/1", "event", ANA[:3]),
        Group("event/2", "event", ANA[3:]),
    )
    tasks = {
        "find": Task("find", "select", ("the photos of the boat",), scope=Scope(owner="ana")),
        "say": Task(
            "say",
            "answer",
            (PictureRef(ANA[0]), "What is this?"),
            translations={"zh": (PictureRef(ANA[0]), "这是什么？")},
        ),
        "pick": Task("pick", "choose", ("First ", PictureRef(ANA[1]), " then ", PictureRef(ANA[2])), OPTIONS),
    }
    truth: dict[str, Truth] = {"find": PictureSet(ANA[:2]), "say": Answer("a boat"), "pick": Choice("B")}
    made = Benchmark("small", Corpus("small", pictures, groups), tasks, truth, metrics=("f1", "answer", "accuracy"))
    return write_benchmark(made, folder, force=True)
