"""Taking a picture down: the published folder is made again without it, and the scores that it touches are named."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from sightline.authoring.dataset.folder import build_folder, published_pictures
from sightline.authoring.dataset.ids import FILE as IDS
from sightline.authoring.dataset.ids import read_names
from sightline.authoring.dataset.manifest import DatasetManifest, PublishOptions, read_manifest
from sightline.authoring.dataset.splits import relevant_to
from sightline.authoring.dataset.ties import missing_groups
from sightline.authoring.project import Project
from sightline.authoring.project_benchmark import ProjectBenchmark
from sightline.benchmark.grade import grade_of, label_warnings
from sightline.errors import UserError
from sightline.io.jsonl import read_jsonl, write_jsonl
from sightline.runs.folder import HEADER, SCORES, read_run
from sightline.types import Benchmark, PictureSet, Ranking, Relevance

FILE = "takedowns.jsonl"
_SHORTEST = 8


@dataclass(frozen=True, slots=True)
class TouchedRun:
    """A run on this benchmark: tasks whose score may change, and how often the picture was in its answers."""

    folder: str
    system: str
    tasks: tuple[str, ...]
    answered_with: int
    scored: bool


@dataclass(frozen=True, slots=True)
class Takedown:
    """What was taken down, what that changes, and the folder as it is now."""

    pictures: tuple[str, ...]
    tasks: tuple[str, ...]
    lost_tasks: tuple[str, ...]
    runs: tuple[TouchedRun, ...]
    manifest: DatasetManifest

    def to_json(self) -> dict[str, Any]:
        return {
            "pictures": list(self.pictures),
            "tasks": list(self.tasks),
            "lost_tasks": list(self.lost_tasks),
            "runs": [asdict(run) for run in self.runs],
            "counts": dict(self.manifest.counts),
        }


def taken_down(project: Project) -> frozenset[str]:
    """Hashes and ids that must not be published again."""
    path = project.folder / FILE
    rows = read_jsonl(path) if path.is_file() else iter(())
    return frozenset(
        str(row[key]) for _, row in rows for key in ("sha256", "published_sha256", "picture") if row.get(key)
    )


def take_down(
    name: str,
    source: ProjectBenchmark,
    folder: Path,
    project: Project,
    *,
    runs: Sequence[Path] = (),
    reason: str | None = None,
) -> Takedown:
    """Note it, make the published folder again without the picture, and say what that touches.

    `name` is the SHA-256 of the picture as it was published or as it lies here (eight digits or more), or its id,
    there or here.
    """
    before = read_manifest(folder)
    names = read_names(project.folder / IDS).pictures
    found = dict(_find(name, source.benchmark, folder, names))
    if not found:
        raise UserError(
            f'no picture of the benchmark or of {folder} is "{name}".',
            f"give the sha256 of its file, {_SHORTEST} digits or more, or its id",
        )
    touched = tuple(task for task in source.benchmark.tasks if _concerns(source.benchmark, task, found))
    known_as = {*found, *(names[id_] for id_ in found if id_ in names)}  # A run may be on what was published.
    runs_touched = tuple(_runs(runs, source.benchmark, touched, known_as))  # First: a run may be broken.
    _note(project, found, source.benchmark, reason)
    released = date.fromisoformat(before.released)
    options = publish_options(source, project, released, before.repo, agreed=True)
    manifest = build_folder(source, folder, before.terms, project.config, options)
    lost = tuple(task for task in manifest.lost_tasks if task not in before.lost_tasks)
    return Takedown(tuple(found), touched, lost, runs_touched, manifest)


def publish_options(
    source: ProjectBenchmark, project: Project, released: date, repo: str | None, *, agreed: bool
) -> PublishOptions:
    """What a folder is built with: as the benchmark's card and the project's lists say."""
    audit = source.benchmark.card.get("audit")
    aside = audit.get("set_aside") if isinstance(audit, dict) else None
    ties = missing_groups(source.benchmark, project.workspace, project.config)
    gone = aside if isinstance(aside, int) else 0
    grade = grade_of(source.benchmark)
    return PublishOptions(
        released,
        repo,
        agreed,
        taken_down(project),
        gone,
        ties,
        project.folder / IDS,
        grade,
        label_warnings(source.benchmark, grade),
    )


def _find(name: str, benchmark: Benchmark, folder: Path, names: Mapping[str, str]) -> Iterator[tuple[str, str | None]]:
    """Ids with the hash under which they were published; the same bytes under several ids are all meant."""
    shown = {row["picture"]: row["sha256"] for row in published_pictures(folder)}
    wanted = name.strip().casefold()
    by_hash = len(wanted) >= _SHORTEST and set(wanted) <= set("0123456789abcdef")
    for id_, picture in benchmark.corpus.pictures.items():
        there = names.get(id_, id_)
        digest = shown.get(there) or shown.get(id_)  # By its own id where ids were kept.
        hashes = (picture.sha256, digest)
        if name in (id_, there) or (by_hash and any(one is not None and one.startswith(wanted) for one in hashes)):
            yield id_, digest


def _note(project: Project, found: dict[str, str | None], benchmark: Benchmark, reason: str | None) -> None:
    path = project.folder / FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    earlier = [row for _, row in read_jsonl(path)] if path.is_file() else []
    when = datetime.now(UTC).isoformat(timespec="seconds")
    rows = (
        {
            "picture": id_,
            "sha256": benchmark.corpus.pictures[id_].sha256,
            "published_sha256": published,
            "when": when,
            "reason": reason,
        }
        for id_, published in found.items()
    )
    write_jsonl(path, [*earlier, *(row for row in rows if row["picture"] not in {one["picture"] for one in earlier})])


def _concerns(benchmark: Benchmark, task: str, found: Iterable[str]) -> bool:
    """Is one of the pictures shown by the task, judged for it, or in what may be searched for it by name?"""
    truth = benchmark.truth.get(task)
    near = {*relevant_to(benchmark, task), *benchmark.tasks[task].scope.pictures}
    near |= set(truth.grades) if isinstance(truth, Relevance) else set()
    return not near.isdisjoint(found)


def _runs(
    folders: Sequence[Path], benchmark: Benchmark, touched: Sequence[str], found: Iterable[str]
) -> Iterator[TouchedRun]:
    """Runs under these folders that were made on this benchmark; a score changes also where the picture was found."""
    gone = set(found)
    for header in sorted({path for folder in folders for path in folder.rglob(HEADER)}):
        run = read_run(header.parent)
        if run.benchmark != benchmark.name or not benchmark.is_version(run.benchmark_checksum):
            continue
        answered = {
            one.task_id
            for one in run.attempts
            if isinstance(one.prediction, Ranking | PictureSet) and not gone.isdisjoint(one.prediction.pictures)
        }
        tasks = tuple(task for task in benchmark.tasks if task in answered or task in touched)
        yield TouchedRun(str(header.parent), run.system, tasks, len(answered), (header.parent / SCORES).is_file())
