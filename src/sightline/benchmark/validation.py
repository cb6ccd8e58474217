"""What `validate` finds: errors of single lines, files that disagree with each other or with the disk, and oddities.

An oddity is a warning: the benchmark can be read and run, but its author hardly meant it so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from sightline.benchmark.files import (
    ANNOTATIONS,
    CANDIDATES,
    GROUPS,
    HEADER,
    JUDGMENTS,
    PICTURES,
    REVIEWS,
    TASKS,
    TRUTH,
    checksums,
    review_checksums,
)
from sightline.benchmark.folder import CHECKSUMS_WAY, open_benchmark
from sightline.benchmark.problems import Problem, ProblemsError
from sightline.benchmark.records import BenchmarkRecord
from sightline.benchmark.table import OpenFolder, RecordTable, TableSource
from sightline.io.files import PathLike, picture_path, sha256_of
from sightline.types import (
    Answer,
    Candidate,
    Choice,
    Judgment,
    Part,
    Picture,
    PictureRef,
    PictureSet,
    Relevance,
    Review,
    Scope,
    Step,
    Task,
    TaskKind,
    Traces,
    Truth,
)

_FORM_OF_KIND: dict[TaskKind, tuple[str, type[Truth]]] = {
    "rank": ("relevance", Relevance),
    "select": ("pictures", PictureSet),
    "answer": ("answer", Answer),
    "choose": ("choice", Choice),
    "describe": ("traces", Traces),
}


def validate_benchmark(folder: PathLike, *, check_pictures: bool = False) -> tuple[Problem, ...]:
    """Everything that is wrong with a BENCH folder; `check_pictures` also compares each picture's SHA-256."""
    problems: list[Problem] = []
    try:
        opened = open_benchmark(folder, problems.extend)
    except ProblemsError as error:
        return error.problems
    problems.extend(_compare_checksums(opened))
    _Check(opened.source, check_pictures).run()
    return tuple(problems)


def _compare_checksums(opened: OpenFolder[BenchmarkRecord]) -> Iterator[Problem]:
    stated = opened.header.checksums
    found = checksums(opened.source.folder)
    for name in sorted({*stated, *found}):
        if name == REVIEWS.name and _has_only_grown(stated.get(name), opened.source.folder):
            continue
        if name not in found:
            yield Problem(HEADER, None, f"checksums.{name}", "there is no such file")
        elif name not in stated:
            yield Problem(HEADER, None, "checksums", f"expected one for {name} too; {CHECKSUMS_WAY}")
        elif stated[name] != found[name]:
            message = f"the file has changed since it was written: expected {stated[name]}, got {found[name]}"
            yield Problem(name, None, None, message)


def _has_only_grown(stated: str | None, folder: Path) -> bool:
    """Reviews may be ahead of what benchmark.json says of them: whoever reviewed was stopped between the two."""
    return stated is None or any(digest == stated for digest in review_checksums(folder))


class _Check:
    """The files in their order, each against the ids of those before it."""

    def __init__(self, source: TableSource, check_pictures: bool) -> None:
        self.source = source
        self.check_pictures = check_pictures
        self.pictures: set[str] = set()
        self.groups: set[str] = set()
        self.owners: set[str] = set()
        self.tasks: dict[str, tuple[int, Task]] = {}

    def run(self) -> None:
        self._pictures()
        self._groups()
        self._tasks()
        self._truth()
        for line, annotation in self.source.rows(ANNOTATIONS):
            self._known_picture(annotation.picture_id, ANNOTATIONS.name, line, "picture")
        for table in (CANDIDATES, JUDGMENTS, REVIEWS):
            self._about_tasks(table)

    def _pictures(self) -> None:
        for line, picture in self.source.unique(PICTURES, lambda row: row.id, "id"):
            self.pictures.add(picture.id)
            wrong = self._on_disk(picture)
            if wrong is not None:
                field, message = wrong
                self._add(PICTURES.name, line, field, message)

    def _on_disk(self, picture: Picture) -> tuple[str, str] | None:
        path = picture_path(picture.uri, self.source.folder)
        if path is None:
            return None
        try:
            if not path.is_file():
                return "uri", f"there is no picture at {path}"
            if self.check_pictures and picture.sha256 is not None:
                found = sha256_of(path)
                if found != picture.sha256:
                    return "sha256", f"{path} has different content: its SHA-256 is {found}"
        except OSError as error:
            return "uri", f"{path} can't be read: {error.strerror}"
        return None

    def _groups(self) -> None:
        for line, group in self.source.unique(GROUPS, lambda row: (row.kind, row.id), "id"):
            self.groups.add(group.id)
            if group.kind == "owner":
                self.owners.add(group.id)
            self._known_pictures(group.pictures, GROUPS.name, line, "pictures")

    def _tasks(self) -> None:
        for line, task in self.source.unique(TASKS, lambda row: row.id, "id"):
            self.tasks[task.id] = line, task
            self._parts(task.prompt, line, "prompt")
            for language, parts in task.translations.items():
                self._parts(parts, line, f"translations.{language}")
            self._options(task, line)
            self._scope(task.scope, line)

    def _options(self, task: Task, line: int) -> None:
        if task.kind == "choose" and not task.options:
            self._add(TASKS.name, line, "options", "expected options, because the kind is choose")
        seen: set[str] = set()
        for place, option in enumerate(task.options):
            if option.key in seen:
                self._add(TASKS.name, line, f"options.{place}.key", f"{option.key!r} is there twice")
            seen.add(option.key)
            self._parts(option.content, line, f"options.{place}.content")

    def _scope(self, scope: Scope, line: int) -> None:
        if scope.owner is not None and scope.owner not in self.owners:
            message = f"{scope.owner!r} is not an owner in {GROUPS.name}"
            self._add(TASKS.name, line, "scope.owner", message)
        for place, group in enumerate(scope.groups):
            if group not in self.groups:
                self._add(TASKS.name, line, f"scope.groups.{place}", f"{group!r} is not in {GROUPS.name}")
        self._known_pictures(scope.pictures, TASKS.name, line, "scope.pictures")

    def _truth(self) -> None:
        found: set[str] = set()
        for line, row in self.source.unique(TRUTH, lambda row: row.task, "task"):
            found.add(row.task)
            if self._known_task(row.task, TRUTH.name, line):
                self._fits(self.tasks[row.task][1], row.truth, line)
            self._ids_of_truth(row.truth, line)
        for task_id, (line, _) in self.tasks.items():
            if task_id not in found:
                self._add(TASKS.name, line, "id", f"{task_id!r} has no line in {TRUTH.name}")

    def _fits(self, task: Task, truth: Truth, line: int) -> None:
        name, form = _FORM_OF_KIND[task.kind]
        if not isinstance(truth, form):
            self._add(TRUTH.name, line, "form", f"expected {name}, because the task's kind is {task.kind}")
        elif isinstance(truth, Choice) and truth.option not in {option.key for option in task.options}:
            keys = ", ".join(option.key for option in task.options)
            self._add(TRUTH.name, line, "option", f"expected one of {keys}, got {truth.option!r}")

    def _ids_of_truth(self, truth: Truth, line: int) -> None:
        match truth:
            case Relevance(grades):
                for picture in grades:
                    self._known_picture(picture, TRUTH.name, line, f"grades.{picture}")
            case PictureSet(pictures):
                self._known_pictures(pictures, TRUTH.name, line, "pictures")
            case Answer(steps=steps) | Choice(steps=steps):
                self._steps(steps, line)

    def _steps(self, steps: Iterable[Step], line: int) -> None:
        for place, step in enumerate(steps):
            pictures = [ref.id for ref in step.pictures]
            self._known_pictures(pictures, TRUTH.name, line, f"steps.{place}.pictures")

    def _about_tasks(self, table: RecordTable[Any, Any]) -> None:
        rows: Iterator[tuple[int, Candidate | Judgment | Review]] = self.source.rows(table)
        for line, row in rows:
            self._known_task(row.task, table.name, line)
            if row.picture is not None:
                self._known_picture(row.picture, table.name, line, "picture")

    def _parts(self, parts: Iterable[Part], line: int, field: str) -> None:
        for place, part in enumerate(parts):
            if isinstance(part, PictureRef):
                self._known_picture(part.id, TASKS.name, line, f"{field}.{place}.picture")

    def _known_task(self, task: str, file: str, line: int) -> bool:
        if task in self.tasks:
            return True
        self._add(file, line, "task", f"{task!r} is not in {TASKS.name}")
        return False

    def _known_pictures(self, pictures: Iterable[str], file: str, line: int, field: str) -> None:
        for place, picture in enumerate(pictures):
            self._known_picture(picture, file, line, f"{field}.{place}")

    def _known_picture(self, picture: str, file: str, line: int, field: str) -> None:
        if picture not in self.pictures:
            self._add(file, line, field, f"{picture!r} is not in {PICTURES.name}")

    def _add(self, file: str, line: int, field: str, message: str) -> None:
        self.source.report([Problem(file, line, field, message)])


def oddities(folder: PathLike) -> tuple[Problem, ...]:
    """No tasks at all, empty prompts, options that can't be told apart; lines that can't be read are left out."""
    unreadable: list[Problem] = []
    try:
        source = open_benchmark(folder, unreadable.extend).source
    except ProblemsError:
        return ()
    count, found = 0, list[Problem]()
    for line, task in source.rows(TASKS):
        count += 1
        found += _of_task(task, line)
    if not count and not unreadable:
        found.append(Problem(TASKS.name, None, None, "there are no tasks: nothing can be asked or scored"))
    return tuple(found)


def odd_options(task: Task) -> str | None:
    """Why nobody can tell the right option of a task from others; None where they are in order."""
    said = [_said(option.content) for option in task.options]
    if len(said) < 2:
        return "fewer than two options"
    if not all(any(content) for content in said):
        return "an option without text"
    return "two options with the same text" if len({*said}) < len(said) else None


def _of_task(task: Task, line: int) -> Iterator[Problem]:
    if not any(_said(task.prompt)):
        yield Problem(TASKS.name, line, "prompt", f"{task.id!r} has an empty prompt")
    # Without any, `validate` has it as a problem.
    if task.kind == "choose" and task.options and (odd := odd_options(task)) is not None:
        yield Problem(TASKS.name, line, "options", f"{task.id!r} has {odd}")


def _said(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """Parts but for white space."""
    return tuple(" ".join(part.split()) if isinstance(part, str) else part for part in parts)
