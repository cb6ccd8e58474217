"""Taking away what stages wrote, and nothing else: what was written is noted, with its content."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sightline.authoring import project as files
from sightline.authoring.dataset.manifest import MANIFEST
from sightline.authoring.project import Project
from sightline.authoring.stage import AuthoringStage, StageResult
from sightline.benchmark.files import HEADER
from sightline.io.files import sha256_of
from sightline.io.jsonl import LineError, read_json, write_json
from sightline.io.temporary_files import remove_temporary_files
from sightline.runs.kept_baselines import BASELINES_FILE

NOTES = ".written.json"
_FINAL = (files.JUDGMENTS, files.SIMILARITY)
_HOLDS = (HEADER, MANIFEST)
"""A folder with one of these is one that a stage wrote as a whole; it lists its own files."""


@dataclass(frozen=True, slots=True)
class CleanupPlan:
    """What can go, and what stays although it is noted: it was changed since, or lies outside the project."""

    remove: tuple[Path, ...]
    keep: Mapping[Path, str]

    @property
    def bytes(self) -> int:
        return sum(path.stat().st_size for path in self.remove if path.is_file())


def run_recorded(stage: AuthoringStage, project: Project) -> StageResult:
    """Run a stage and time it, and note what it wrote into the project's folder.

    A file that was there before, made or changed by somebody else, stays theirs, also if the stage adds to it.
    """
    noted = _noted(project)
    targets = [path for name in stage.writes if (path := project.found(name)) is not None]
    theirs = {path for path in targets if noted.get(_key(path, project), {}).get("sha256") != sha256_of(path)}
    started = time.monotonic()
    result = stage.run(project)
    if result.price is None:
        result = replace(result, seconds=time.monotonic() - started)
    written = [path for path in result.wrote if _inside(path, project.folder) and path not in theirs]
    for path in _files(written):
        noted[_key(path, project)] = {"stage": result.stage, "sha256": sha256_of(path)}
    for path in theirs:
        noted.pop(_key(path, project), None)
    if noted or theirs:
        _remember(project, noted)
    return result


def plan_cleanup(project: Project, *, finals: bool = False) -> CleanupPlan:
    """What `clean` would take away: intermediate files; with `finals` judgments, benchmark and data set too."""
    remove: list[Path] = []
    keep: dict[Path, str] = {}
    for name, about in _noted(project).items():
        one = project.folder / name
        if not one.is_file():
            continue
        if not finals and _is_final(one, project):
            keep[one] = "a result; add --finals to remove it too"
        elif sha256_of(one) != about["sha256"]:
            keep[one] = "it was changed after it was written"
        else:
            remove.append(one)
    remove += _leftovers(project)
    return CleanupPlan(tuple(remove), keep)


def clean(project: Project, found: CleanupPlan) -> int:
    """Take these files away, what killed writers left, and folders that are empty then; how many files went."""
    if project.folder.is_dir():
        remove_temporary_files(project.folder)
    for path in found.remove:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    for folder in sorted({path.parent for path in found.remove}, key=lambda one: -len(one.parts)):
        if folder != project.folder and folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
    _remember(project, {name: about for name, about in _noted(project).items() if (project.folder / name).is_file()})
    return len(found.remove)


def _noted(project: Project) -> dict[str, Any]:
    path = project.folder / NOTES
    try:
        found = read_json(path) if path.is_file() else {}
    except LineError as error:
        fix = "remove it; what stages wrote until now can then no longer be told from files of yours"
        raise LineError(path, error.line, error.reason, fix) from None
    return found if isinstance(found, dict) else {}


def _remember(project: Project, noted: Mapping[str, Any]) -> None:
    if noted:
        write_json(project.folder / NOTES, noted)
    else:
        (project.folder / NOTES).unlink(missing_ok=True)


def _key(path: Path, project: Project) -> str:
    """How a file is called in the notes; the same however the folder is written."""
    return os.path.relpath(path.resolve(), project.folder.resolve()).replace(os.sep, "/")


def _leftovers(project: Project) -> Iterator[Path]:
    """Lines of runs that did not end, by their own names; a run that goes on makes them again."""
    for name in files.FILES:
        path = project.partial(name)
        if path.is_file() and _inside(path, project.folder):
            yield path


def _is_final(path: Path, project: Project) -> bool:
    judged = {project.path(name) for name in _FINAL}
    parents = [parent for parent in path.parents if _inside(parent, project.folder)]
    return path in judged or any((parent / mark).is_file() for parent in parents for mark in _HOLDS)


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    """Files, and those inside folders that a stage wrote as a whole."""
    for path in paths:
        if path.is_dir() and any((path / mark).is_file() for mark in _HOLDS):
            yield from _named(path)
        elif path.is_file():
            yield path


def _named(folder: Path) -> Sequence[Path]:
    """The files that a benchmark or a published folder lists, the list itself, and what is kept beside a benchmark."""
    mark = next(mark for mark in _HOLDS if (folder / mark).is_file())
    about = read_json(folder / mark)
    listed = about.get("files") or about.get("checksums") or {}
    names = (mark, *listed, *((BASELINES_FILE,) if mark == HEADER else ()))
    return [path for name in names if (path := folder / name).is_file()]


def _inside(path: Path, folder: Path) -> bool:
    return folder.resolve() in path.resolve().parents
