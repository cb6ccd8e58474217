"""The stage `assemble`: a BENCH folder from our files or benchmaker's, which validates clean and can be scored."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from judging_tools import judging, judging_config, ready
from make_tools import rows, with_calls, write_rows
from search_tools import Colours
from sightline.authoring import project as files
from sightline.authoring.assemble import AssembleStage, assemble
from sightline.authoring.audit import AuditStage
from sightline.authoring.dataset.ids import FILE as IDS
from sightline.authoring.dataset.ids import read_names
from sightline.authoring.judge import JudgeStage
from sightline.authoring.pictures import PicturesStage
from sightline.authoring.project import Project
from sightline.authoring.publish import PublishStage
from sightline.authoring.similarity import SimilarityStage
from sightline.benchmark.folder import read_benchmark, write_benchmark
from sightline.benchmark.validation import validate_benchmark
from sightline.calls.session import CallOptions
from sightline.errors import UserError
from sightline.types import Benchmark, Relevance, Review, Rights


def judged(tmp_path: Path, **judge: Any) -> Project:
    project = ready(tmp_path, judging_config(**judge))
    with judging() as server:
        JudgeStage().run(with_calls(project, CallOptions(base_url=server.base_url)))
    return project


def built(project: Project) -> Benchmark:
    AssembleStage().run(project)
    return read_benchmark(project.folder / "benchmark")


def test_a_judged_project_becomes_a_benchmark_that_validates_clean(tmp_path: Path) -> None:
    project = judged(tmp_path)
    SimilarityStage(Colours()).run(project)
    done = AssembleStage().run(project)
    folder = project.folder / "benchmark"
    assert validate_benchmark(folder, check_pictures=True) == ()
    assert (done.failures, done.counts["queries"], done.counts["pictures"]) == ({}, 4, 16)
    found = read_benchmark(folder)
    assert found.name == "colours"
    truth = found.truth["q0"]
    assert isinstance(truth, Relevance)
    assert next(iter(truth.grades.items())) == ("00_red.png", 1)
    assert {one.tier for one in found.candidates} == {"seed", "positive", "hard", "easy", "pooled", "random"}
    assert {one.judge for one in found.judgments} == {"vllm/judge"}
    assert found.judgments[0].reason
    assert found.tasks["q0"].labels["style"] == ("keyword",)
    similarity: Any = found.tasks["q0"].extra["similarity"]
    assert similarity["scores"]["00_red.png"] > 0.99
    assert found.annotations[0].tags == ("red", "plain")
    judging_of: Any = found.card["judging"]
    assert judging_of["judges"] == ["vllm/judge"]
    picture = found.corpus.pictures["00_red.png"]
    assert picture.sha256 is not None
    assert picture.phash is not None
    assert "sha256" not in picture.extra


def test_only_verdicts_that_count_become_judgments(tmp_path: Path) -> None:
    project = judged(tmp_path)
    with judging() as server:
        JudgeStage(("vllm/other",)).run(with_calls(project, CallOptions(base_url=server.base_url)))
    assert {one.judge for one in built(project).judgments} == {"vllm/other"}


def test_look_alikes_become_groups(tmp_path: Path) -> None:
    project = judged(tmp_path)
    listed = rows(project.path(files.IMAGES))
    for row in listed:
        row.pop("look_alike", None)
        row["phash"] = f"{0xABCD00000000000F ^ (0xFFFFFF << (8 * int(row['image_id'][:2]) % 40)):016x}"
    listed[0]["phash"] = "00ff00ff00ff00ff"
    listed[5]["phash"] = "00ff00ff00ff00fe"
    write_rows(project.path(files.IMAGES), listed)
    groups = built(project).corpus.groups_of("duplicate")
    assert any(set(group.pictures) == {"00_red.png", "05_green.png"} for group in groups)


def test_reviews_come_along_and_strange_ones_are_counted(tmp_path: Path) -> None:
    project = judged(tmp_path)
    now = datetime(2026, 11, 15, tzinfo=UTC).isoformat()
    line = {"task": "q0", "picture": "00_red.png", "person": "ana", "decision": "relevant", "when": now}
    write_rows(project.path(files.REVIEWS), [line, {**line, "task": "q77"}, {**line, "picture": "nowhere.png"}])
    done = AssembleStage().run(project)
    assert len(read_benchmark(project.folder / "benchmark").reviews) == 1
    assert any("2 reviews are about" in warning for warning in done.warnings)


def test_what_people_said_in_the_app_outlives_a_new_assembly(tmp_path: Path) -> None:
    project = judged(tmp_path)
    now = datetime(2026, 11, 15, tzinfo=UTC)
    folder = project.folder / "benchmark"
    AssembleStage().run(project)
    said = tuple(Review(task, "ana", "relevant", now, "00_red.png") for task in ("q0", "q1"))
    write_benchmark(replace(read_benchmark(folder), reviews=said), folder)
    assert AuditStage().run(project).counts["labels checked"] == 2
    AssembleStage().run(project)
    assert read_benchmark(folder).reviews == said
    worded = rows(project.path(files.JUDGMENTS))
    for row in worded:
        row["query_text"] = "something else" if row["query_id"] == "q1" else row["query_text"]
    write_rows(project.path(files.JUDGMENTS), worded)
    for _ in range(2):
        done = AssembleStage().run(project)
        assert read_benchmark(folder).reviews == said[:1]
        assert len(rows(folder / "reviews_of_other_queries.jsonl")) == 1
    assert done.warnings == () and validate_benchmark(folder) == ()


def reworded(project: Project) -> None:
    said = [{**row, "query_text": f"{row['query_text']}, or else"} for row in rows(project.path(files.JUDGMENTS))]
    write_rows(project.path(files.JUDGMENTS), said)


def test_a_given_place_may_hold_another_project_of_that_name(tmp_path: Path) -> None:
    """Its queries have the same ids, and its pictures the same names."""
    mine, place = judged(tmp_path), tmp_path / "shared"
    AssembleStage(place).run(mine)
    theirs = read_benchmark(place)
    listed = rows(mine.path(files.IMAGES))
    reworded(mine)
    write_rows(mine.path(files.IMAGES), [{**row, "sha256": f"{number:064x}"} for number, row in enumerate(listed)])
    with pytest.raises(UserError, match='holds another benchmark "colours": 4 tasks of it, such as "q0" with other'):
        AssembleStage(place).run(mine)
    assert read_benchmark(place) == theirs
    write_rows(mine.path(files.IMAGES), listed)  # The same pictures: its own queries, worded anew.
    for _ in range(2):
        AssembleStage(place).run(mine)
        assert "or else" in read_benchmark(place).tasks["q0"].text


def test_a_projects_own_benchmark_follows_its_queries(tmp_path: Path) -> None:
    project = judged(tmp_path)
    built(project)
    reworded(project)
    listed = rows(project.path(files.IMAGES))
    write_rows(project.path(files.IMAGES), [{**row, "sha256": f"{number:064x}"} for number, row in enumerate(listed)])
    assert "or else" in built(project).tasks["q0"].text


# --- benchmaker's files ------------------------------------------------------------------------------------------


def theirs(tmp_path: Path, grades: list[tuple[str, int]], **files_: Any) -> Project:
    """Judgments as benchmaker writes them, in the order in which its model gave them."""
    project = ready(tmp_path, judging_config())
    names = {"license": "CC0", "doi": "10.1/x", "tags": ["t"], "summary": "s", "confidence": {}}
    lines = [
        {"query_id": "q0", "query_text": "red", "image_id": picture, "relevance_label": grade, **names}
        for picture, grade in grades
    ]
    write_rows(project.path(files.JUDGMENTS), lines)
    return project


ALL = [("04_green.png", 0), ("00_red.png", 1), ("05_green.png", 0), ("01_red.png", 1)]


def test_benchmakers_judgments_enter_as_they_are_and_the_seed_comes_first(tmp_path: Path) -> None:
    project = theirs(tmp_path, ALL)
    found = built(project)
    truth = found.truth["q0"]
    assert isinstance(truth, Relevance)
    assert next(iter(truth.grades)) == "00_red.png"
    assert {one.judge for one in found.judgments} == {"benchmaker"}
    assert validate_benchmark(project.folder / "benchmark") == ()


@pytest.mark.parametrize(
    ("grades", "reason"),
    [
        ([*ALL, ("09_blue.png", 1)], '"09_blue.png" was judged, but is not in the pool'),
        (ALL[:-1], '"01_red.png" is in the pool, but was not judged'),
        ([("00_red.png", 0), *ALL[2:], ALL[0]], 'the seed "00_red.png" was not judged relevant'),
    ],
)
def test_judgments_that_do_not_fit_their_pool_are_left_out(
    tmp_path: Path, grades: list[tuple[str, int]], reason: str
) -> None:
    with pytest.raises(UserError, match=reason.replace("(", r"\(")):
        assemble(theirs(tmp_path, grades))


def test_given_seeds_come_first_where_there_is_no_plan(tmp_path: Path) -> None:
    project = theirs(tmp_path, ALL)
    project.path(files.PLAN).unlink()
    write_rows(project.path(files.SEEDS), [{"query_id": "q0", "seed_image_ids": ["01_red.png"]}])
    found = assemble(project).benchmark
    truth = found.truth["q0"]
    assert isinstance(truth, Relevance)
    assert next(iter(truth.grades)) == "01_red.png"
    assert found.tasks["q0"].extra["seeds"] == ["01_red.png"]
    write_rows(project.path(files.SEEDS), [{"query_id": "q0", "seed_image_ids": ["04_green.png"]}])
    with pytest.raises(UserError, match=r'the seed "04_green\.png" was not judged relevant'):
        assemble(project)


RIGHTS = {
    "default": {"license": "CC-BY-4.0", "doi": "UNKNOWN", "dataset_name": "Mine"},
    "files": {"00_red.png": {"license": "CC0-1.0", "creator": "Ada Byron"}},
    "prefixes": [{"prefix": "01", "license": "MIT", "dataset_name": "Theirs"}],
}


def test_pictures_are_taken_from_the_folder_and_rights_from_the_map(tmp_path: Path) -> None:
    project = theirs(tmp_path, ALL)
    ids = [row["image_id"] for row in rows(project.path(files.IMAGES))]
    write_rows(project.path(files.IMAGES), [{"image_id": id_, "image_url": f"https://x.org/{id_}"} for id_ in ids])
    (tmp_path / "rights_map.json").write_text(json.dumps(RIGHTS))
    paths = {"pictures": tmp_path / "pictures", "rights": tmp_path / "rights_map.json"}
    config = project.config.model_copy(update={"paths": project.config.paths.model_copy(update=paths)})
    pictures = built(project.with_config(config)).corpus.pictures
    assert pictures["00_red.png"].uri == (tmp_path / "pictures" / "00_red.png").as_uri()
    assert pictures["00_red.png"].rights == Rights("CC0-1.0", None, "Mine", "Ada Byron")
    assert (pictures["01_red.png"].rights.license, pictures["01_red.png"].rights.source) == ("MIT", "Theirs")
    assert pictures["12_yellow.png"].rights.license == "CC-BY-4.0"


def test_a_rights_map_that_is_gone_is_said(tmp_path: Path) -> None:
    project = theirs(tmp_path, ALL)
    paths = project.config.paths.model_copy(update={"rights": tmp_path / "gone.json"})
    found = assemble(project.with_config(project.config.model_copy(update={"paths": paths})))
    assert any("gone.json is not there" in warning for warning in found.warnings)


def test_licence_and_creator_go_from_the_map_to_the_published_record(tmp_path: Path) -> None:
    """Through the list of pictures, the benchmark and the data set, as a user goes."""
    project = ready(tmp_path)
    (tmp_path / "rights_map.json").write_text(json.dumps(RIGHTS))
    paths = project.config.paths.model_copy(update={"rights": tmp_path / "rights_map.json"})
    project = project.with_config(project.config.model_copy(update={"paths": paths}))
    PicturesStage(tmp_path / "pictures").run(project)
    assert rows(project.path(files.IMAGES))[0]["attribution"] == "Ada Byron"
    with judging() as server:
        JudgeStage().run(with_calls(project, CallOptions(base_url=server.base_url)))
    AssembleStage().run(project)
    PublishStage(dry_run=True, agreed=True).run(project)
    (table,) = (project.folder / "dataset").rglob("rights.csv")
    originals = read_names(project.folder / IDS).originals
    records = {originals[row["picture"]]: row for row in csv.DictReader(table.read_text().splitlines())}
    assert (records["00_red.png"]["license"], records["00_red.png"]["attribution"]) == ("CC0-1.0", "Ada Byron")
    assert records["12_yellow.png"]["attribution"] == ""


def test_a_repeated_row_counts_once(tmp_path: Path) -> None:
    found = assemble(theirs(tmp_path, [*ALL, ALL[0]]))
    assert len(found.benchmark.judgments) == 4
    assert any("there twice" in warning for warning in found.warnings)


def test_without_judgments_there_is_nothing_to_assemble(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="make it first: sightline make judge"):
        assemble(ready(tmp_path))


def test_the_audit_is_in_the_card(tmp_path: Path) -> None:
    project = judged(tmp_path)
    project.path(files.AUDIT).write_text(json.dumps({"summary": {"problems": 2}}))
    assert built(project).card["audit"] == {"problems": 2}
