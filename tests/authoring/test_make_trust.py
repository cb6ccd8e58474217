"""What `make` says of its labels: who gave them, which grade that is, and that people check them before publishing."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from make_publishing import make_project
from sightline.authoring import pipeline
from sightline.authoring.assemble import AssembleStage
from sightline.authoring.project import Project
from sightline.authoring.publish import PublishStage, dataset_folder
from sightline.authoring.status import read_status
from sightline.benchmark.files import REVIEWS
from sightline.benchmark.folder import read_benchmark, write_benchmark
from sightline.benchmark.grade import grade_of
from sightline.benchmark.review_decisions import labels_of
from sightline.benchmark.review_sample import sample_of
from sightline.cli import main
from sightline.cli.make_publish import _status_text
from sightline.errors import UserError
from sightline.runs.kept_baselines import BASELINES_FILE
from sightline.types import Review
from trust_samples import benchmark_in


def done(stage: Any, project: Project) -> Any:
    return stage.run(project)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path)


def test_an_assembled_benchmark_says_who_made_what(project: Project) -> None:
    done(AssembleStage(), project)
    folder = project.folder / "benchmark"
    header = json.loads((folder / "benchmark.json").read_text())
    assert header["grade"] == "draft" and "100 are needed" in header["grade_basis"]["why"]
    assert header["card"]["provenance"] == {
        "origin": "made",
        "annotated_by": ["benchmaker"],
        "worded_by": [],
        "judged_by": ["benchmaker"],
    }
    kept = json.loads((folder / BASELINES_FILE).read_text())
    assert {"captions", "tags", "majority", "random"} <= set(kept["baselines"])
    assert BASELINES_FILE not in header["checksums"]


def test_status_leads_through_checking(project: Project) -> None:
    for stage in read_status(project).stages:
        if stage.stage in ("audit", "summary"):
            stage.path.parent.mkdir(parents=True, exist_ok=True)
            stage.path.write_text("{}")
    done(AssembleStage(), project)
    found = read_status(project)
    assert found.grade == "draft"
    assert found.next_stage == "publish" and found.to_json()["check"] == f"sightline view {found.check}"
    assert _status_text(found).splitlines()[-1].startswith("  next: sightline view ")


def test_a_card_has_the_grade_on_top(project: Project) -> None:
    done(PublishStage(dry_run=True, agreed=True, repo="ada/harbour"), project)
    text = (dataset_folder(project) / "README.md").read_text().split("---\n", 2)[2].lstrip()
    assert text.startswith("> **Label grade: draft.**") and "> labels-unchecked: " in text.split("\n# ")[0]


def test_a_rehearsal_is_not_published(project: Project, tmp_path: Path) -> None:
    benchmark_in(tmp_path / "bench", "builtin/photos")
    with pytest.raises(UserError, match="a rehearsal is not published") as refused:
        done(PublishStage(tmp_path / "bench", dry_run=True, agreed=True), project)
    assert "sightline view" in str(refused.value.fix)


def test_decisions_by_people_raise_the_grade(tmp_path: Path) -> None:
    from datetime import UTC, datetime

    made = benchmark_in(tmp_path / "bench", "builtin/photos")
    labels = labels_of(made)
    reviews = [
        Review(task, "me", str(labels.now[task, picture]), datetime(2026, 1, 1, tzinfo=UTC), picture)
        for task, picture in sample_of(made, labels, 120)
    ]
    (tmp_path / "bench" / REVIEWS.name).write_text("".join(REVIEWS.line(one).decode() for one in reviews))
    again = read_benchmark(tmp_path / "bench")
    assert grade_of(again).has_checked_labels
    write_benchmark(again, tmp_path / "bench")
    header = json.loads((tmp_path / "bench" / "benchmark.json").read_text())
    assert header["grade"] == "checked" and header["grade_basis"]["decisions"] >= 100


def test_status_names_the_command_that_corrects_what_people_found_wrong(tmp_path: Path, project: Project) -> None:
    from datetime import UTC, datetime

    folder = project.folder / "benchmark"
    made = benchmark_in(folder, "builtin/photos")
    labels, at = labels_of(made), datetime(2026, 1, 1, tzinfo=UTC)
    right = tuple(Review(*pair[:1], "me", str(labels.now[pair]), at, pair[1]) for pair in sample_of(made, labels, 120))
    write_benchmark(replace(made, reviews=right), folder, force=True)
    assert read_status(project).review is None  # Nothing to correct.
    wrong = replace(right[0], decision=str(1 - int(right[0].decision)))
    write_benchmark(replace(made, reviews=(wrong, *right[1:])), folder, force=True)
    found = read_status(project)
    assert found.grade == "checked" and found.review == f"sightline make review {folder} --people 1"
    assert found.review in _status_text(found) and found.to_json()["review"] == found.review


def test_make_ends_with_the_next_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bench = tmp_path / "project" / "benchmark"
    benchmark_in(bench, "builtin/photos")
    monkeypatch.setattr(pipeline, "make", lambda *_, **__: pipeline.Made(bench.parent, ()))
    main(["make", str(tmp_path)])
    assert capsys.readouterr().out == f"  next: sightline view {bench} (check labels)\n"
    main(["make", str(tmp_path), "--json"])
    assert json.loads(capsys.readouterr().out) == {"stages": []}
