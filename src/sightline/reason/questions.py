"""Tasks with what is true of them and where their pictures are: all that is needed to ask about one anywhere."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from sightline.errors import UserError
from sightline.score.choices.right import right_option
from sightline.search.index.content import absolute
from sightline.types import Benchmark, Picture, PictureRef, Task, TaskKind, Truth


@dataclass(frozen=True, slots=True)
class Question:
    """A task, what is true of it, and its pictures with addresses that hold anywhere on this machine."""

    task: Task
    truth: Truth
    pictures: Mapping[str, Picture]


def questions_of(
    benchmark: Benchmark, base: Path | None, kinds: Collection[TaskKind], limit: int | None = None
) -> Iterator[Question]:
    """The tasks of these kinds whose truth is known, in their order."""
    known = benchmark.corpus.pictures
    asked = (task for task in benchmark.tasks.values() if task.kind in kinds and task.id in benchmark.truth)
    for task in islice(asked, limit):
        own = {ref.id: absolute(known[ref.id], base) for ref in shown_in(task) if ref.id in known}
        yield Question(task, benchmark.truth[task.id], own)


def shown_in(task: Task) -> tuple[PictureRef, ...]:
    """The pictures of the prompt and then of the options, each once."""
    inside = (part for option in task.options for part in option.content if isinstance(part, PictureRef))
    return tuple(dict.fromkeys((*task.pictures, *inside)))


def has_right_option(task: Task, truth: Truth) -> bool:
    """Is one of the options right? Yes where there is none to choose."""
    return task.kind != "choose" or right_option(task, truth) is not None


def require_tasks(questions: Collection[object], benchmark: Benchmark, kinds: Collection[TaskKind]) -> None:
    """Refuse a benchmark that has nothing to ask about."""
    if not questions:
        listed = " or ".join(sorted(kinds))
        raise UserError(f'"{benchmark.name}" has no {listed} tasks with a truth.', "give a benchmark that has some")
