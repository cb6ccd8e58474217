"""How far a project is: which files there are, what failed, what is older than what it was made of, what comes next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from shlex import quote
from typing import Any

from sightline.authoring import project as files
from sightline.authoring.assemble import FOLDER as ASSEMBLED
from sightline.authoring.dataset.manifest import MANIFEST
from sightline.authoring.project import Project
from sightline.authoring.publish import dataset_folder
from sightline.authoring.review import review_command
from sightline.authoring.summary import PAGE, summary_folder
from sightline.benchmark.files import HEADER
from sightline.benchmark.folder import read_benchmark
from sightline.benchmark.grade import grade_of
from sightline.calls.journal_tables import JOURNAL_FILE
from sightline.calls.ledger import Ledger, read_ledger
from sightline.io.jsonl import read_lines

_MADE_FROM: Mapping[str, tuple[str, ...]] = {
    "pictures": (),
    "annotate": ("pictures",),
    "plan": ("annotate",),
    "query": ("plan",),
    "judge": ("plan", "query"),
    "similarity": ("judge",),
    "audit": ("judge",),
    "assemble": ("pictures", "judge", "similarity", "audit"),
    "summary": ("judge", "similarity"),
    "publish": ("judge", "assemble"),
}
_NEEDED = ("pictures", "annotate", "plan", "query", "judge", "audit", "assemble", "summary", "publish")
"""Stages that a finished project has been through; similarity is a wish."""
_GROWS: Mapping[str, tuple[str, ...]] = {
    **{stage: (name,) for stage, name in files.MAIN_FILES.items()},
    "judge": (files.VERDICTS, files.JUDGMENTS),
}
"""Beside which files the lines of a run that did not end lie, and what failed."""


@dataclass(frozen=True, slots=True)
class StageStatus:
    """One stage: its file, how many lines it has, how many failed, and whether what it was made from is newer."""

    stage: str
    path: Path
    done: bool
    rows: int | None = None
    failed: int = 0
    under_way: bool = False
    stale: bool = False
    usd: float | None = None

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"path": str(self.path)}


@dataclass(frozen=True, slots=True)
class Status:
    """All stages in their order, the next one to run, and what was paid so far."""

    folder: Path
    stages: tuple[StageStatus, ...]
    next_stage: str | None
    money: str | None
    grade: str | None = None
    "Of the benchmark's labels, once it is assembled."
    review: str | None = None
    "The command that corrects labels that people found wrong, once enough are checked."

    @property
    def check(self) -> Path | None:
        """The benchmark whose labels people should check before anything is published or concluded from it."""
        waits = self.next_stage in (None, "publish") and self.grade in ("rehearsal", "draft")
        return self.folder / ASSEMBLED if waits else None

    def to_json(self) -> dict[str, Any]:
        stages = [stage.to_json() for stage in self.stages]
        check = None if self.check is None else f"sightline view {self.check}"
        return {
            "folder": str(self.folder),
            "stages": stages,
            "next": self.next_stage,
            "money": self.money,
            "grade": self.grade,
            "check": check,
            "review": self.review,
        }


def read_status(project: Project) -> Status:
    """Look at the files; nothing is changed."""
    journal = project.workspace / JOURNAL_FILE
    ledger = read_ledger(project.workspace, "stage") if journal.is_file() else None
    stages = tuple(_stages(project, ledger))
    by_name = {stage.stage: stage for stage in stages}
    # Files of others may enter anywhere: what lies before the last stage that is done is not asked for.
    last = max((at for at, name in enumerate(_NEEDED) if by_name[name].done), default=-1)
    open_ones = [name for at, name in enumerate(_NEEDED) if not by_name[name].done and at > last]
    stale = [name for name in _NEEDED if by_name[name].stale]
    unfinished = [stage.stage for stage in stages if stage.under_way]
    following = next(iter([*unfinished, *stale, *open_ones]), None)
    money = None if ledger is None else ledger.total.money
    return Status(project.folder, stages, following, money, *_grade(by_name["assemble"].path))


def _grade(header: Path) -> tuple[str | None, str | None]:
    """The grade, and the command that corrects labels, once enough are checked."""
    if not header.is_file():
        return None, None
    benchmark = read_benchmark(header.parent)
    grade = grade_of(benchmark)
    return grade.name, review_command(benchmark, quote(str(header.parent))) if grade.has_checked_labels else None


def _stages(project: Project, ledger: Ledger | None) -> Iterator[StageStatus]:
    spent = {} if ledger is None else {row.stage: row.usd for row in ledger.rows}
    places = {stage: _place(project, stage) for stage in _MADE_FROM}
    times = {stage: path.stat().st_mtime for stage, path in places.items() if path.is_file()}
    for stage, made_from in _MADE_FROM.items():
        grows, path = _GROWS.get(stage, ()), places[stage]
        done = path.is_file()
        counted = done and path.name.endswith((".jsonl", ".jsonl.gz"))
        yield StageStatus(
            stage,
            path,
            done,
            _rows(path) if counted else None,
            sum(_rows(project.failed(name)) for name in grows),
            any(project.partial(name).is_file() for name in grows),
            done and any(times.get(before, 0) > times[stage] for before in made_from),
            spent.get(stage),
        )


def _place(project: Project, stage: str) -> Path:
    if stage in files.MAIN_FILES:
        return project.path(files.MAIN_FILES[stage])
    return {
        "assemble": project.folder / ASSEMBLED / HEADER,
        "summary": summary_folder(project) / PAGE,
        "publish": dataset_folder(project) / MANIFEST,
    }[stage]


def _rows(path: Path) -> int:
    return sum(1 for _ in read_lines(path)) if path.is_file() else 0
