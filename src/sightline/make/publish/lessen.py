"""A benchmark with fewer pictures: every table stays true, and tasks that can't do without are named."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from sightline.types import (
    Answer,
    Benchmark,
    Choice,
    Corpus,
    PictureSet,
    Relevance,
    Scope,
    Task,
    Truth,
)


@dataclass(frozen=True, slots=True)
class Lessened:
    """What is left, which tasks went with their pictures and why, and how many judged pairs went."""

    benchmark: Benchmark
    lost_tasks: Mapping[str, str]
    lost_pairs: int = 0
    lost_relevant: int = 0


def lessen(benchmark: Benchmark, pictures: Collection[str], tasks: Collection[str] | None = None) -> Lessened:
    """Keep these pictures, and of these tasks (all when not given) those that still have a truth."""
    kept = pictures if isinstance(pictures, frozenset | set | dict) else frozenset(pictures)
    lost: dict[str, str] = {}
    truth: dict[str, Truth] = {}
    posed: dict[str, Task] = {}
    pairs = relevant = 0
    for task in benchmark.tasks.values():
        if tasks is not None and task.id not in tasks:
            continue
        whole = benchmark.truth.get(task.id)
        why, part = _of_task(task, whole, kept)
        if why is not None:
            lost[task.id] = why
            continue
        posed[task.id] = _narrowed(task, kept)
        if part is not None:
            truth[task.id] = part
        if isinstance(whole, Relevance):
            gone = [grade for picture, grade in whole.grades.items() if picture not in kept]
            pairs, relevant = pairs + len(gone), relevant + sum(grade > 0 for grade in gone)
    return Lessened(_rest(benchmark, kept, posed, truth), lost, pairs, relevant)


def _of_task(task: Task, truth: Truth | None, kept: Collection[str]) -> tuple[str | None, Truth | None]:
    """Why the task can't stay, or what is true of it then."""
    shown = {ref.id for ref in task.pictures}
    shown.update(part.id for option in task.options for part in option.content if not isinstance(part, str))
    if any(picture not in kept for picture in shown):
        return "a picture that it shows is gone", None
    if task.scope.pictures and not any(picture in kept for picture in task.scope.pictures):
        return "nothing is left to search in", None
    match truth:
        case Relevance(grades):
            left = {picture: grade for picture, grade in grades.items() if picture in kept}
            if any(grade > 0 for grade in grades.values()) and not any(grade > 0 for grade in left.values()):
                return "no relevant picture is left", None
            return (None, Relevance(left)) if left else ("no judged picture is left", None)
        case PictureSet(pictures):
            members = tuple(picture for picture in pictures if picture in kept)
            return (None, PictureSet(members)) if members else ("no picture of its answer is left", None)
        case Answer(steps=steps) | Choice(steps=steps):
            if any(ref.id not in kept for step in steps for ref in step.pictures):
                return "a picture of its reference steps is gone", None
    return None, truth


def _narrowed(task: Task, kept: Collection[str]) -> Task:
    scope = task.scope
    if scope.pictures:
        scope = Scope(scope.owner, scope.groups, tuple(picture for picture in scope.pictures if picture in kept))
    similarity = task.extra.get("similarity")
    scores = similarity.get("scores") if isinstance(similarity, dict) else None
    if not isinstance(similarity, dict) or not isinstance(scores, dict):
        return replace(task, scope=scope)
    left = {picture: score for picture, score in scores.items() if picture in kept}
    return replace(task, scope=scope, extra={**task.extra, "similarity": {**similarity, "scores": left}})


def _rest(
    benchmark: Benchmark, kept: Collection[str], tasks: Mapping[str, Task], truth: Mapping[str, Truth]
) -> Benchmark:
    corpus = benchmark.corpus
    groups = (replace(group, pictures=tuple(_in(group.pictures, kept))) for group in corpus.groups)
    return replace(
        benchmark,
        corpus=Corpus(
            corpus.name,
            {id_: picture for id_, picture in corpus.pictures.items() if id_ in kept},
            tuple(group for group in groups if group.pictures),
        ),
        tasks=tasks,
        truth=truth,
        annotations=tuple(note for note in benchmark.annotations if note.picture_id in kept),
        candidates=tuple(row for row in benchmark.candidates if row.picture in kept and row.task in tasks),
        judgments=tuple(row for row in benchmark.judgments if row.picture in kept and row.task in tasks),
        reviews=tuple(
            row for row in benchmark.reviews if row.task in tasks and (row.picture is None or row.picture in kept)
        ),
        checksum=None,
    )


def _in(names: tuple[str, ...], kept: Collection[str]) -> Iterator[str]:
    return (name for name in names if name in kept)
