"""The audit of files: copies that were brightened, cropped or mirrored, what tells labels, and partial annotations."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from PIL import Image, ImageEnhance, ImageOps

from make_publishing import judged_rows, make_project, picture_id
from pictures import random_picture
from runs.test_shortcuts import PLANTED, clean
from sightline.authoring import project as files
from sightline.authoring.assemble import assemble
from sightline.authoring.audit import AuditStage, audit_benchmark
from sightline.authoring.audit_pools import find_look_alikes
from sightline.benchmark.folder import write_benchmark
from sightline.io.jsonl import write_jsonl
from sightline.runs.shortcuts.facts import read_files
from sightline.types import Benchmark, Corpus, Group, Picture, PictureRef, Relevance, Task
from sightline.types.task_table import Tasks

EDITS: dict[str, Callable[[Image.Image], Image.Image]] = {
    "brighter": lambda image: ImageEnhance.Brightness(image).enhance(1.12),
    "cropped": lambda image: image.crop((6, 5, 154, 115)),
    "mirrored": ImageOps.mirror,
}


def with_copies(folder: Path, edit: Callable[[Image.Image], Image.Image]) -> Benchmark:
    """`a` and its edited copy `b` are relevant in different splits; `c` is another picture."""
    random_picture(1).save(folder / "a.png")
    edit(random_picture(1)).save(folder / "b.png")
    random_picture(2).save(folder / "c.png")
    pictures = {name: Picture(name, f"{name}.png") for name in "abc"}
    tasks = {
        "train": Task("train", "rank", ("one",), labels={"split": ("train",)}),
        "test": Task("test", "rank", (PictureRef("a"), "two"), labels={"split": ("test",)}),
    }
    truth = {"train": Relevance({"a": 1, "c": 0}), "test": Relevance({"b": 1, "c": 0})}
    return Benchmark("b", Corpus("b", pictures), tasks, truth)


@pytest.mark.parametrize("kind", EDITS)
def test_edited_copies_across_splits_and_of_the_query_are_named(kind: str, tmp_path: Path) -> None:
    benchmark = with_copies(tmp_path, EDITS[kind])
    found = find_look_alikes(benchmark, read_files(benchmark.corpus.pictures, tmp_path))
    assert (found.pictures, found.groups, found.compared) == (2, 1, 3)
    assert found.across_splits == ("copies-a",)
    assert found.shown == (("test", "b"),)
    assert found.shared == (("test", "train"),)
    problems = audit_benchmark(benchmark, files=read_files(benchmark.corpus.pictures, tmp_path)).problems()
    assert any("relevant picture is a copy of one that the query shows: b for test" in one for one in problems)
    assert any("1 group of near-duplicates is in several splits" in one for one in problems)
    assert find_look_alikes(benchmark).compared is None


def test_copies_join_the_groups_that_a_scan_found(tmp_path: Path) -> None:
    benchmark = with_copies(tmp_path, ImageOps.mirror)
    corpus = replace(benchmark.corpus, groups=(Group("same-b", "duplicate", ("b", "c")),))
    found = find_look_alikes(replace(benchmark, corpus=corpus), read_files(corpus.pictures, tmp_path))
    assert (found.pictures, found.groups, found.across_splits) == (3, 1, ("same-b",))


def test_the_stage_says_what_gives_labels_away(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    write_benchmark(PLANTED["size"][0](clean(Random(3))), tmp_path / "bench")
    done = AuditStage(tmp_path / "bench").run(project)
    found = json.loads((tmp_path / "bench" / "audit.json").read_text())
    assert found["summary"]["shortcut"]["given_away_by"] == ["picture size"]
    assert found["summary"]["shortcut"]["auc"]["low"] > 0.5
    text = (tmp_path / "bench" / "audit.txt").read_text()
    assert "Labels told without content: AUC 0." in text
    (said,) = [line for line in done.warnings if line.startswith("Labels can be told without looking at content")]
    assert "picture size (AUC 0." in said and "width" in said


def test_a_clean_benchmark_is_measured_and_no_problem(tmp_path: Path) -> None:
    audit = audit_benchmark(clean(Random(1)))
    assert audit.shortcut is not None and audit.shortcut.auc is not None
    assert not any("without looking at content" in problem for problem in audit.problems())
    assert audit.summary()["shortcut"]["alarm"] is False
    few = clean(Random(1))
    few = replace(few, tasks=Tasks({"q0": few.tasks["q0"]}), truth={"q0": few.truth["q0"]})
    text = audit_benchmark(few).to_text()
    assert "not measured, because at least 8 queries" in text


def test_an_annotation_file_of_some_pictures_does_not_hide_the_columns_of_the_others(tmp_path: Path) -> None:
    """Judgments with captions in them that solve every query, beside a file with the annotation of one picture."""
    project = make_project(tmp_path, files=False)
    captions = {picture_id(number): f"find number {number}" for number in range(24)}
    rows = judged_rows(8, 8, 24)
    columns = {"light": "day", "subject": "forest", "people": False, "tags": [], "confidence": {}}
    write_jsonl(
        project.path(files.JUDGMENTS), ({**row, "summary": captions[row["image_id"]], **columns} for row in rows)
    )
    write_jsonl(
        project.path(files.ANNOTATIONS),
        [{"image_id": picture_id(3), **columns, "summary": "a hand-written summary", "tags": ["quay"]}],
    )
    said = {note.picture_id: note for note in assemble(project).benchmark.annotations}
    assert said[picture_id(3)].summary == "a hand-written summary"
    judged = {row["image_id"] for row in rows}
    assert {id_: note.summary for id_, note in said.items() if id_ != picture_id(3)} == {
        id_: captions[id_] for id_ in judged if id_ != picture_id(3)
    }
    found = {one.by: one for one in audit_benchmark(assemble(project).benchmark).baselines}["captions"]
    assert found.ndcg.mean > 0.2
    assert found.pictures == len(judged | {picture_id(3)})
