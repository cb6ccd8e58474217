"""A picture is taken down: by any name that others know it by, for good, and touched runs are named."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from make_publishing import make_project, picture_id, publish, published_id, rows
from sightline.authoring.dataset.folder import published_pictures
from sightline.authoring.dataset.manifest import PublishTerms
from sightline.authoring.dataset.takedown import FILE, take_down
from sightline.authoring.project import Project
from sightline.authoring.project_benchmark import ProjectBenchmark, read_project_benchmark
from sightline.authoring.publish import PublishStage
from sightline.errors import UserError
from sightline.runs.folder import write_run
from sightline.types import Attempt, Failure, Ranking, Run

pytest.importorskip("pyarrow")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path)


def published_source(project: Project, terms: PublishTerms | None = None) -> tuple[ProjectBenchmark, Path]:
    folder, _ = publish(project, terms)
    return read_project_benchmark(project), folder


def test_a_picture_goes_by_the_hash_that_others_have_and_stays_gone(project: Project) -> None:
    source, folder = published_source(project)
    there = published_id(project, 1)
    row = next(row for row in rows(folder, "corpus") if row["id"] == there)
    found = take_down(row["sha256"][:12], source, folder, project, reason="asked to")
    assert found.pictures == (picture_id(1),)
    assert there not in {row["id"] for row in rows(folder, "corpus")}
    assert there not in {row["corpus-id"] for row in rows(folder, "qrels")}
    judged = [task for task, truth in source.benchmark.truth.items() if picture_id(1) in truth.grades]  # type: ignore[union-attr]
    assert list(found.tasks) == judged
    assert (project.folder / FILE).is_file()
    PublishStage(dry_run=True, agreed=True).run(project)
    assert there not in {row["id"] for row in rows(folder, "corpus")}


def test_a_picture_goes_by_the_id_that_others_have(project: Project) -> None:
    source, folder = published_source(project)
    there = published_id(project, 1)
    assert take_down(there, source, folder, project).pictures == (picture_id(1),)
    assert there not in {row["id"] for row in rows(folder, "corpus")}


def test_copies_of_the_same_file_go_too(project: Project) -> None:
    root = project.config.paths.pictures
    assert root is not None
    (root / picture_id(5)).write_bytes((root / picture_id(1)).read_bytes())
    source, folder = published_source(project)
    take_down(hashlib.sha256((root / picture_id(1)).read_bytes()).hexdigest(), with_hashes(source), folder, project)
    gone = {published_id(project, 1), published_id(project, 5)}
    assert gone.isdisjoint(row["id"] for row in rows(folder, "corpus"))


def with_hashes(source: ProjectBenchmark) -> ProjectBenchmark:
    pictures = {
        id_: replace(picture, sha256=hashlib.sha256(Path(picture.uri.removeprefix("file://")).read_bytes()).hexdigest())
        for id_, picture in source.benchmark.corpus.pictures.items()
    }
    corpus = replace(source.benchmark.corpus, pictures=pictures)
    return replace(source, benchmark=replace(source.benchmark, corpus=corpus))


def test_other_pictures_keep_their_split(project: Project) -> None:
    source, folder = published_source(project, PublishTerms(splits="train=0.6,test=0.4"))
    before = {row["picture"]: row["split"] for row in published_pictures(folder)}
    take_down(picture_id(1), source, folder, project)
    after = {row["picture"]: row["split"] for row in published_pictures(folder)}
    assert after == {id_: split for id_, split in before.items() if id_ != published_id(project, 1)}


def test_runs_whose_scores_are_touched_are_named(project: Project, tmp_path: Path) -> None:
    source, folder = published_source(project)
    tasks = list(source.benchmark.tasks)
    untouched = [task for task in tasks if picture_id(1) not in source.benchmark.truth[task].grades]  # type: ignore[union-attr]
    attempts = (
        Attempt(untouched[0], Ranking((picture_id(2), picture_id(1)))),
        Attempt(untouched[1], Ranking((picture_id(2),))),
        Attempt(untouched[2], Failure("timeout", "late")),
    )
    write_run(Run(source.benchmark.name, "clip", attempts), tmp_path / "runs" / "one")
    write_run(Run("another benchmark", "clip", attempts), tmp_path / "runs" / "two")
    found = take_down(picture_id(1), source, folder, project, runs=(tmp_path / "runs",))
    (run,) = found.runs
    assert run.folder.endswith("one")
    assert run.answered_with == 1
    assert set(run.tasks) == {*found.tasks, untouched[0]}
    assert not run.scored


def test_runs_on_what_was_published_are_touched_too(project: Project, tmp_path: Path) -> None:
    source, folder = published_source(project)
    graded = source.benchmark.truth
    task = next(task for task in graded if picture_id(1) not in graded[task].grades)  # type: ignore[union-attr]
    attempts = (Attempt(task, Ranking((published_id(project, 1),))),)
    write_run(Run(source.benchmark.name, "clip", attempts), tmp_path / "runs" / "one")
    found = take_down(picture_id(1), source, folder, project, runs=(tmp_path / "runs",))
    assert found.runs[0].answered_with == 1 and task in found.runs[0].tasks


def test_a_hash_of_nothing_is_refused(project: Project) -> None:
    source, folder = published_source(project)
    with pytest.raises(UserError, match="no picture"):
        take_down("0" * 64, source, folder, project)
    with pytest.raises(UserError, match="no picture"):
        take_down("a", source, folder, project)
    assert not (project.folder / FILE).exists()
