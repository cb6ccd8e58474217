"""The benchmark that a project has come to: an assembled folder, or whatever files there are, also benchmaker's."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from sightline.authoring import project as files
from sightline.authoring.assemble import FOLDER, assemble
from sightline.authoring.pictures import completed
from sightline.authoring.project import Project
from sightline.benchmark.files import HEADER
from sightline.benchmark.folder import read_benchmark
from sightline.errors import UserError
from sightline.types import Benchmark


@dataclass(frozen=True, slots=True)
class ProjectBenchmark:
    """A benchmark, where relative addresses of its pictures start, and what there is to say about its files."""

    benchmark: Benchmark
    folder: Path
    warnings: tuple[str, ...] = ()


def read_project_benchmark(project: Project, given: Path | None = None) -> ProjectBenchmark:
    """The benchmark in the given folder, else the project's own, else one put together from the project's files.

    A folder that is not a benchmark may hold files of a project, or benchmaker's.
    """
    if given is not None and not given.is_dir():
        raise UserError(f"there is no folder {given}.", "give a benchmark, or a folder with benchmaker's files")
    folder = given or _finished(project)
    if folder is not None and (folder / HEADER).is_file():
        return ProjectBenchmark(_completed(read_benchmark(folder), project), folder)
    here = project if folder is None else replace(project, folder=folder, given={})
    found = assemble(_judged(here))
    return ProjectBenchmark(found.benchmark, here.folder, found.warnings)


def _finished(project: Project) -> Path | None:
    """The assembled benchmark, unless judgments were given or are newer than it."""
    if files.JUDGMENTS in project.given:
        return None
    folder = next((place for place in (project.folder / FOLDER, project.folder) if (place / HEADER).is_file()), None)
    judged = project.path(files.JUDGMENTS)
    if folder is None or (judged.is_file() and judged.stat().st_mtime > (folder / HEADER).stat().st_mtime):
        return None
    return folder


def _judged(project: Project) -> Project:
    """Judgments with similarities are judgments too, where there are no others."""
    scored = project.path(files.SIMILARITY)
    if project.path(files.JUDGMENTS).is_file() or not scored.is_file():
        return project
    return replace(project, given={**project.given, files.JUDGMENTS: scored})


def _completed(benchmark: Benchmark, project: Project) -> Benchmark:
    """With pictures and rights as the configuration knows them, for a benchmark that was put together without it."""
    pictures = completed(benchmark.corpus.pictures, project.config)
    return replace(benchmark, corpus=replace(benchmark.corpus, pictures=pictures))
