"""What the retrieval formats share: judgments and results as they are read and written; captions as tasks."""

from __future__ import annotations

import logging
import math
import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from sightline.benchmark.formats.base import Complaints, FormatOptions
from sightline.corpus.names import file_uri
from sightline.english import counted
from sightline.errors import UserError, did_you_mean
from sightline.io.files import picture_path
from sightline.types import Attempt, Benchmark, Corpus, Failure, Picture, PictureSet, Ranking, Relevance, Run, Task
from sightline.types.truth import grades_of

log = logging.getLogger(__name__)

Scored: TypeAlias = Sequence[tuple[str, float]]
"""Pictures of one query with their scores, best first."""

_SHOWN = 3


class JudgedTask(NamedTuple):
    """A task and the grades of its judged pictures."""

    task: Task
    grades: Mapping[str, int]


class Judgments:
    """Grades by query in the order of a file: a repeated line counts once, a contradiction is refused.

    A negative grade says that a picture was not judged: it is left out, and the picture is kept.
    """

    def __init__(self, file: Path, complaints: Complaints) -> None:
        self._file = file
        self._complaints = complaints
        self.grades: dict[str, dict[str, int]] = {}
        self.pictures: dict[str, None] = {}
        self._repeated = 0
        self._negative = 0

    def add(self, line: int | None, query: str, picture: str, grade: int) -> None:
        """Take in what one line says."""
        grades = self.grades.setdefault(query, {})
        self.pictures[picture] = None
        if grade < 0:
            self._negative += 1
        elif picture not in grades:
            grades[picture] = grade
        elif grades[picture] == grade:
            self._repeated += 1
        else:
            message = (
                f'"{picture}" has grade {grades[picture]} for query "{query}" in an earlier line, and {grade} here'
            )
            self._complaints.add(self._file, line, "grade", message)

    def warnings(self) -> tuple[str, ...]:
        """What the user should know of the file."""
        found = []
        if self._repeated:
            found.append(f"{counted(self._repeated, 'judgment is', 'judgments are')} there twice; each counts once")
        if self._negative:
            found.append(f"{counted(self._negative, 'grade is', 'grades are')} negative, taken as not judged")
        return tuple(found)


class RetrievalResults:
    """Scores by query in the order of a file: a picture that comes twice counts once, with its better score."""

    def __init__(self) -> None:
        self.scores: dict[str, dict[str, float]] = {}
        self._repeated = 0

    def add(self, query: str, picture: str, score: float) -> None:
        """Take in what one line says."""
        scores = self.scores.setdefault(query, {})
        if picture in scores:
            self._repeated += 1
            score = max(score, scores[picture])
        scores[picture] = score

    def to_run(self, system: str, options: FormatOptions) -> Run:
        """A run of that system, each ranking by score and, where scores tie, by id as trec_eval orders them."""
        attempts = (Attempt(query, _ranking(scores)) for query, scores in islice(self.scores.items(), options.limit))
        benchmark = options.benchmark
        return Run(
            benchmark="unknown" if benchmark is None else benchmark.name,
            system=options.name or system,
            attempts=tuple(attempts),
            benchmark_checksum=None if benchmark is None else benchmark.checksum,
        )

    def warnings(self, options: FormatOptions) -> tuple[str, ...]:
        """What the user should know of the file, and of how it fits the benchmark that it was made on."""
        found = []
        if self._repeated:
            found.append(f"{counted(self._repeated, 'result is', 'results are')} there twice; the better score counts")
        if options.benchmark is not None:
            unknown = [query for query in self.scores if query not in options.benchmark.tasks]
            if unknown:
                found.append(
                    f"{counted(len(unknown), 'query is', 'queries are')} not in the benchmark: {some(unknown)}"
                )
        return tuple(found)


def _ranking(scores: Mapping[str, float]) -> Ranking:
    ordered = sorted(scores.items(), key=lambda item: (item[1], item[0]), reverse=True)
    return Ranking(tuple(picture for picture, _ in ordered), tuple(score for _, score in ordered))


def judged(benchmark: Benchmark, options: FormatOptions) -> list[JudgedTask]:
    """The tasks that look for pictures and have judged ones, with their grades (1 for each picture of an exact set)."""
    found: list[JudgedTask] = []
    others: Counter[str] = Counter()
    for task in benchmark.tasks.values():
        truth = benchmark.truth.get(task.id)
        if grades := grades_of(truth):
            found.append(JudgedTask(task, grades))
        else:
            nothing = " with nothing judged" if isinstance(truth, Relevance | PictureSet) else ""
            others[f"{task.kind} tasks{nothing}"] += 1
    if not found:
        raise UserError(
            f'"{benchmark.name}" has no task that looks for pictures.',
            "this format holds rank and select tasks with judged pictures only",
        )
    if others:
        log.warning("left out: %s", _listed(others))
    return found[: options.limit]


def rankings(run: Run, options: FormatOptions) -> dict[str, Scored]:
    """The results of each query with falling scores; of repeated runs, the attempt that the option names (0)."""
    wanted = whole_option(options, "attempt", 0)
    found: dict[str, Scored] = {}
    left_out: Counter[str] = Counter()
    for attempt in run.attempts:
        match attempt.prediction:
            case _ if attempt.number != wanted:
                left_out["other attempts"] += 1
            case Ranking(pictures, scores):
                found[attempt.task_id] = falling(pictures, scores)
            case PictureSet(pictures):
                found[attempt.task_id] = falling(pictures, None)
            case Failure():
                left_out["failures"] += 1
            case _:
                left_out["predictions without a ranking"] += 1
    if not found:
        raise UserError(f'the run of "{run.system}" has no ranking.', "this format holds rankings only")
    if left_out:
        log.warning("left out: %s", _listed(left_out))
    return dict(islice(found.items(), options.limit))


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{what} ({number:,})" for what, number in counts.items())


def whole_option(options: FormatOptions, name: str, usual: int, least: int = 0) -> int:
    """An `--option` that is a whole number."""
    given = options.extra.get(name, str(usual))
    if not (given.isascii() and given.isdecimal()) or int(given) < least:
        raise UserError(
            f'--option {name}="{given}" is not a whole number from {least} on.', f"for example {name}={usual}"
        )
    return int(given)


def falling(pictures: Sequence[str], scores: Sequence[float] | None) -> Scored:
    """Pictures with scores that fall in the order given, because readers sort by them; ties stay ties.

    Rising scores are distances and change their sign; scores in no order, or none, give way to n, n − 1, … 1.
    """
    if scores is None or len(scores) != len(pictures) or not all(map(math.isfinite, scores)):
        scores = ()
    if scores and all(a >= b for a, b in pairwise(scores)):
        values: Iterable[float] = scores
    elif scores and all(a <= b for a, b in pairwise(scores)):
        values = (-score for score in scores)
    else:
        values = range(len(pictures), 0, -1)
    best: dict[str, float] = {}
    for picture, value in zip(pictures, values, strict=True):
        best.setdefault(picture, float(value))
    return list(best.items())


def picture_uri(name: str, folder: Path) -> str:
    """Where a picture would lie: an address as it is, a path from `folder`."""
    if "://" in name:
        return name
    return file_uri(os.fsencode(folder.absolute() / name))


def local_file(picture: Picture, options: FormatOptions) -> Path | None:
    """The file of a picture, if it is on this machine."""
    path = picture_path(picture.uri, options.pictures or Path())
    return path if path is not None and path.is_file() else None


def bare_pictures(ids: Iterable[str], options: FormatOptions, folder: Path) -> dict[str, Picture]:
    """Pictures of which only the id is known: their path under the pictures' folder, or beside the file."""
    root = options.pictures or folder
    return {name: Picture(name, picture_uri(name, root)) for name in ids}


def rank_benchmark(
    name: str, pictures: Mapping[str, Picture], tasks: Iterable[JudgedTask], options: FormatOptions
) -> Benchmark:
    """A benchmark of rank tasks."""
    posed = list(islice(tasks, options.limit))
    called = options.name or name
    return Benchmark(
        name=called,
        corpus=Corpus(called, pictures),
        tasks={task.id: task for task, _ in posed},
        truth={task.id: Relevance(grades) for task, grades in posed},
    )


def check_options(options: FormatOptions, *known: str) -> None:
    """Refuse an `--option` that the format does not have."""
    for key in options.extra:
        if key not in known:
            has = f"It has {', '.join(known)}." if known else "It has none."
            raise UserError(f'this format has no option "{key}".', did_you_mean(key, known, has))


def whole_number(value: object) -> int | None:
    """An integer, also one that came as text or as a float; None if it is not one."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        try:
            value = float(value) if not value.strip().lstrip("+-").isdecimal() else int(value)
        except ValueError:
            return None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    return value if isinstance(value, int) else None


def finite_number(value: object) -> float | None:
    """A finite number, also one that came as text; None if it is not one."""
    if isinstance(value, bool) or not isinstance(value, int | float | str) or "_" in str(value):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def some(names: Sequence[str]) -> str:
    """The first few names of a list."""
    shown = ", ".join(f'"{name}"' for name in names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown}, …"


@dataclass(frozen=True, slots=True)
class PictureCaption:
    """One caption of one picture; `task` names the task that it becomes."""

    task: str
    picture: str
    text: str
    grade: int = 1
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def caption_tasks(captions: Iterable[PictureCaption]) -> list[JudgedTask]:
    """A rank task for each caption; captions with one task's name belong together, each adding its picture."""
    tasks: dict[str, Task] = {}
    grades: dict[str, dict[str, int]] = defaultdict(dict)
    for caption in captions:
        tasks.setdefault(caption.task, Task(caption.task, "rank", (caption.text,), labels=caption.labels))
        grades[caption.task][caption.picture] = caption.grade
    return [JudgedTask(task, grades[name]) for name, task in tasks.items()]


def shared_captions(tasks: Iterable[JudgedTask]) -> tuple[str, ...]:
    """A warning where a caption was written for more than one picture, because only its own counts as right."""
    same: dict[str, list[frozenset[str]]] = defaultdict(list)
    for task, grades in tasks:
        same[task.text.strip().casefold()].append(frozenset(grades))
    shared = sum(len(set(pictures)) > 1 for pictures in same.values())
    if not shared:
        return ()
    said = counted(shared, "caption is said of several pictures", "captions are said of several pictures")
    return (f"{said}; for each of its tasks only the picture that it was written for counts as right",)


def captions_of(benchmark: Benchmark) -> Iterator[PictureCaption]:
    """The captions in a benchmark: rank tasks of text alone, one for each relevant picture."""
    for task in benchmark.tasks.values():
        truth = benchmark.truth.get(task.id)
        if task.kind == "rank" and not task.pictures and task.text and isinstance(truth, Relevance):
            for picture, grade in truth.grades.items():
                if grade > 0:
                    yield PictureCaption(task.id, picture, task.text, grade, task.labels)


def qrels_rows(tasks: Iterable[JudgedTask]) -> Iterator[dict[str, Any]]:
    """Judgments as mteb has them: a row for each task and picture."""
    for task, grades in tasks:
        for picture, grade in grades.items():
            yield {"query-id": task.id, "corpus-id": picture, "score": grade}
