"""Captions as tasks: find the picture that a caption was written for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from sightline.bench.formats.retrieval import Judged
from sightline.english import counted
from sightline.types import Benchmark, Relevance, Task


@dataclass(frozen=True, slots=True)
class Caption:
    """One caption of one picture; `task` names the task that it becomes."""

    task: str
    picture: str
    text: str
    grade: int = 1
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def caption_tasks(captions: Iterable[Caption]) -> list[Judged]:
    """A rank task for each caption; captions with one task's name belong together, each adding its picture."""
    tasks: dict[str, Task] = {}
    grades: dict[str, dict[str, int]] = defaultdict(dict)
    for caption in captions:
        tasks.setdefault(caption.task, Task(caption.task, "rank", (caption.text,), labels=caption.labels))
        grades[caption.task][caption.picture] = caption.grade
    return [Judged(task, grades[name]) for name, task in tasks.items()]


def shared_captions(tasks: Iterable[Judged]) -> tuple[str, ...]:
    """A warning where a caption was written for more than one picture, because only its own counts as right."""
    same: dict[str, list[frozenset[str]]] = defaultdict(list)
    for task, grades in tasks:
        same[task.text.strip().casefold()].append(frozenset(grades))
    shared = sum(len(set(pictures)) > 1 for pictures in same.values())
    if not shared:
        return ()
    said = counted(shared, "caption is said of several pictures", "captions are said of several pictures")
    return (f"{said}; for each of its tasks only the picture that it was written for counts as right",)


def captions_of(benchmark: Benchmark) -> Iterator[Caption]:
    """The captions in a benchmark: rank tasks of text alone, one for each relevant picture."""
    for task in benchmark.tasks.values():
        truth = benchmark.truth.get(task.id)
        if task.kind == "rank" and not task.pictures and task.text and isinstance(truth, Relevance):
            for picture, grade in truth.grades.items():
                if grade > 0:
                    yield Caption(task.id, picture, task.text, grade, task.labels)
