"""Small benchmarks to compile curricula from: drawn by the world, or written by hand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from PIL import Image

from sightline.benchmark.folder import write_benchmark
from sightline.io.jsonl import read_jsonl
from sightline.reason.curriculum.compiler import Compiled, curriculum
from sightline.reason.curriculum.plan import CurriculumPlan
from sightline.types import Benchmark, Choice, Corpus, Option, Picture, PictureRef, Step, Task

STEPS = (
    Step("summary", "Two pictures of one table are to be compared, to find what was taken away."),
    Step("caption", "A table with a red cup, a green book and a small lamp."),
    Step("caption", "The same table with a green book and nothing else on it."),
    Step("text-to-region", "The things of the first picture stand side by side on the table top."),
    Step("region-to-region", "Where the cup and the lamp stood before, the second one shows bare wood only."),
    Step("conclusion", "The cup and the lamp have gone."),
)
OPTIONS = (Option("A", ("the cup and the lamp",)), Option("B", ("the book",)))


def drawn(folder: Path, count: int = 48, seed: int = 5) -> Path:
    """Questions of all twelve subtasks, small."""
    pytest.importorskip("sightline_world", reason="needs sightline-world")
    from sightline_world.choose import choose_task
    from sightline_world.choose.benchmark import write_choose_benchmark

    write_choose_benchmark((choose_task(number, seed, size=(64, 48)) for number in range(count)), folder)
    return folder


def paint(path: Path, seed: int, size: tuple[int, int] = (64, 48)) -> Path:
    """A picture of a few coloured tiles, unlike those of other seeds."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lot = Random(seed)
    tiles = Image.new("RGB", (6, 4))
    tiles.putdata([(lot.randrange(256), lot.randrange(256), lot.randrange(256)) for _ in range(24)])
    tiles.resize(size, Image.Resampling.NEAREST).save(path, "PNG")
    return path


def question(name: str, difficulty: str | None = "hard", **changed: Any) -> Task:
    """A question over two pictures of its own."""
    prompt = ("First: ", PictureRef(f"{name}/1.png"), "\nThen: ", PictureRef(f"{name}/2.png"), "\nWhat has gone?")
    labels = {} if difficulty is None else {"difficulty": (difficulty,)}
    return Task(**{"id": name, "kind": "choose", "prompt": prompt, "options": OPTIONS, "labels": labels, **changed})


def written(
    folder: Path, tasks: Iterable[Task], steps: Sequence[Step] = STEPS, truth: dict[str, Choice] | None = None
) -> Path:
    """A benchmark of these questions, with their pictures painted; the first option is right."""
    asked = {task.id: task for task in tasks}
    pictures: dict[str, Picture] = {}
    for task in asked.values():
        for ref in task.pictures:
            if ref.id not in pictures:
                paint(folder / "pictures" / ref.id, seed=len(pictures) + 1000)
                pictures[ref.id] = Picture(ref.id, f"pictures/{ref.id}", width=64, height=48)
    truths = {name: (truth or {}).get(name, Choice("A", steps=tuple(steps))) for name in asked}
    write_benchmark(Benchmark("b", Corpus("b", pictures), asked, truths), folder, force=True)
    return folder


def compiled(folder: Path, tmp_path: Path, plan: str | CurriculumPlan = "mir", **settings: Any) -> Compiled:
    """The curriculum of a benchmark, in `out`."""
    return curriculum(folder, plan, tmp_path / "out", **settings)


def with_step(kind: str, text: str) -> list[Step]:
    """The steps, with other words in those of a kind."""
    return [replace(step, text=text) if step.kind == kind else step for step in STEPS]


def pools(count: int) -> list[Task]:
    """So many questions, hard and easy by turns."""
    return [question(f"q{number}", "easy" if number % 2 else "hard") for number in range(count)]


def asking(folder: Path, more: str, steps: Sequence[Step] = STEPS) -> Path:
    """Questions that also say this."""
    tasks = [replace(task, prompt=(*task.prompt, f" {more}")) for task in pools(6)]
    return written(folder, tasks, steps)


def lines(path: Path) -> list[dict[str, Any]]:
    return [row for _, row in read_jsonl(path)]
