"""Every sentence of a card that states a fact is true of the folder that it comes with."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from PIL import Image, ImageOps

from make_publishing import WISH, make_project, publish, published_id, rows, save_picture
from pictures import random_picture
from sightline.authoring import project as files
from sightline.authoring.dataset import card
from sightline.authoring.dataset.card_checks import check_files, check_splits
from sightline.authoring.dataset.folder import published_pictures
from sightline.authoring.dataset.manifest import PublishOptions, PublishTerms
from sightline.authoring.dataset.splits import BenchmarkSplits, split_benchmark
from sightline.authoring.dataset.ties import missing_groups
from sightline.authoring.project import Project
from sightline.authoring.project_benchmark import read_project_benchmark
from sightline.authoring.publish import PublishStage, dataset_folder
from sightline.benchmark.copy_detection import LookPair
from sightline.calls.session import Session
from sightline.config import Config
from sightline.io.jsonl import read_json, read_jsonl, write_jsonl
from sightline.pictures import scan
from sightline.runs.shortcuts.facts import CorpusFiles
from sightline.types import Benchmark, Corpus, Group, Picture, Relevance, Task

pytest.importorskip("pyarrow")
HALVES = "train=0.5,test=0.5"


def with_events(folder: Path, days: int = 12) -> Project:
    """Pictures of twelve days, two each."""
    project = make_project(folder)
    path = project.path(files.IMAGES)
    first = datetime(2024, 6, 1, 12)
    listed = [row for _, row in read_jsonl(path)]
    times = [(first + timedelta(days=number % days, minutes=number)).isoformat() for number in range(len(listed))]
    write_jsonl(path, ({**row, "taken_at": time} for row, time in zip(listed, times, strict=True)))
    return project


def events_apart(project: Project, folder: Path, days: int = 12) -> tuple[int, int]:
    """Counted anew, from the published rights table: events, and those in more than one split."""
    homes = {row["picture"]: row["split"] for row in published_pictures(folder)}
    splits: dict[int, set[str]] = defaultdict(set)
    for number in range(24):
        id_ = published_id(project, number) if number % 6 else None  # Every sixth has no licence.
        if id_ is not None:
            splits[number % days].add(homes[id_])
    return len(splits), sum(len(found) > 1 for found in splits.values())


def wish(project: Project) -> PublishOptions:
    benchmark = read_project_benchmark(project).benchmark
    return replace(WISH, ties=missing_groups(benchmark, project.workspace, project.config))


def test_events_that_the_benchmark_does_not_name_are_kept_together(tmp_path: Path) -> None:
    project = with_events(tmp_path)
    folder, _ = publish(project, PublishTerms(splits=HALVES), wish(project))
    count, apart = events_apart(project, folder)
    assert apart == 0
    text = (folder / "README.md").read_text()
    assert f"Of {count} events, none has pictures in more than one split." in text
    assert "Owners are not known; pictures of one owner may be in different splits." in text


def test_the_stage_finds_events_by_itself(tmp_path: Path) -> None:
    project = with_events(tmp_path)
    stage = PublishStage(terms=PublishTerms(splits=HALVES), dry_run=True, agreed=True)
    stage.run(project)
    folder = dataset_folder(project)
    count, apart = events_apart(project, folder)
    assert apart == 0
    assert f"Of {count} events, none has pictures in more than one split." in (folder / "README.md").read_text()


def test_events_that_are_split_are_counted(tmp_path: Path) -> None:
    project = with_events(tmp_path)
    terms = PublishTerms(splits=HALVES, together=("duplicate",))
    folder, _ = publish(project, terms, wish(project))
    count, apart = events_apart(project, folder)
    assert apart > 0
    text = (folder / "README.md").read_text()
    assert f"Of {count} events, {apart} ha" in text
    assert "of one event" not in text


def test_33_of_36_events_in_two_splits_are_stated_as_such() -> None:
    pictures = {f"{event}-{number}": Picture(f"{event}-{number}", "x") for event in range(36) for number in range(2)}
    groups = tuple(Group(str(event), "event", (f"{event}-0", f"{event}-1")) for event in range(36))
    parts = {
        "train": {id_: one for id_, one in pictures.items() if id_.endswith("-0") or int(id_[:-2]) < 3},
        "test": {id_: one for id_, one in pictures.items() if id_.endswith("-1") and int(id_[:-2]) >= 3},
    }
    splits = {name: Benchmark("b", Corpus("b", part), {}, {}) for name, part in parts.items()}
    found = check_splits(BenchmarkSplits(splits, {}), groups, CorpusFiles())
    (event,) = (tie for tie in found.ties if tie.kind == "event")
    assert (event.groups, event.apart, found.pictures, found.twice) == (36, 33, 72, 0)
    assert "- Of 36 events, 33 have pictures in more than one split." in card._splits(found)


def test_copies_and_files_in_two_splits_are_counted() -> None:
    same = {"a": Picture("a", "a", sha256="1"), "b": Picture("b", "b", sha256="2")}
    other = {"c": Picture("c", "c", sha256="1"), "d": Picture("d", "d", sha256="3")}
    splits = {name: Benchmark("b", Corpus("b", part), {}, {}) for name, part in (("train", same), ("test", other))}
    pairs = (LookPair("a", "c", True), LookPair("b", "d", False), LookPair("a", "b", False))
    found = check_splits(BenchmarkSplits(splits, {}), (), CorpusFiles({}, pairs))
    assert (found.twice, found.copies) == (1, 2)
    text = card._splits(found)
    assert "1 file is in more than one split." in text and "2 pairs of copies are in different splits" in text


def test_a_scan_tells_owners_and_events(tmp_path: Path) -> None:
    for number in range(4):
        path = tmp_path / "pictures" / ("ana" if number < 2 else "ben") / f"{number}.jpg"
        save_picture(path, number)
    config = Config.model_validate({"scan": {"owner_pattern": "{owner}/*"}})
    scan(tmp_path / "pictures", session=Session(tmp_path / "ws", config))
    ids = [f"{owner}/{number}.jpg" for owner, number in (("ana", 0), ("ana", 1), ("ben", 2), ("ben", 3))]
    benchmark = Benchmark("b", Corpus("b", {id_: Picture(id_, id_) for id_ in ids[:3]}), {}, {})
    found = missing_groups(benchmark, tmp_path / "ws", config)
    assert {group.id: group.pictures for group in found if group.kind == "owner"} == {
        "owner/ana": ("ana/0.jpg", "ana/1.jpg"), "owner/ben": ("ben/2.jpg",),
    }  # fmt: skip
    other = replace(benchmark, corpus=Corpus("b", {ids[0]: Picture(ids[0], ids[0], sha256="0" * 64)}))
    assert missing_groups(other, tmp_path / "ws", config) == ()
    named = replace(benchmark, corpus=replace(benchmark.corpus, groups=(Group("o", "owner", (ids[0],)),)))
    assert not any(group.kind == "owner" for group in missing_groups(named, tmp_path / "ws", config))


def test_mirrored_copies_stay_in_one_split(tmp_path: Path) -> None:
    pictures, tasks, truth = {}, {}, {}
    for number in range(12):
        random_picture(number).save(tmp_path / f"{number}.png")
        ImageOps.mirror(random_picture(number)).save(tmp_path / f"{number}m.png")
        for name in (f"{number}", f"{number}m"):
            pictures[name] = Picture(name, f"{name}.png")
            tasks[name] = Task(name, "rank", (name,))
            truth[name] = Relevance({name: 1})
    benchmark = Benchmark("b", Corpus("b", pictures), tasks, truth)
    found = split_benchmark(benchmark, {"train": 0.5, "test": 0.5}, tmp_path)
    for part in found.splits.values():
        assert all(f"{name.rstrip('m')}m" in part.corpus.pictures for name in part.corpus.pictures)


def test_what_was_published_stays_where_it_was_when_a_tie_is_found_later(tmp_path: Path) -> None:
    pictures = {str(number): Picture(str(number), "x") for number in range(8)}
    tasks = {id_: Task(id_, "rank", (id_,)) for id_ in pictures}
    truth = {id_: Relevance({id_: 1}) for id_ in pictures}
    before = {id_: "train" if int(id_) % 2 else "test" for id_ in pictures}
    corpus = Corpus("b", pictures, (Group("e", "event", ("0", "1", "3")),))
    found = split_benchmark(Benchmark("b", corpus, tasks, truth), {"train": 0.5, "test": 0.5}, tmp_path, before=before)
    assert {id_: split for split, part in found.splits.items() for id_ in part.corpus.pictures} == before


def test_metadata_are_counted_in_the_files(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    folder, _ = publish(project)
    text = (folder / "README.md").read_text()
    assert "None of the 20 files has EXIF, GPS, XMP or comments: they were removed." in text
    folder, _ = publish(project, PublishTerms(keep_metadata=True))
    text = (folder / "README.md").read_text()
    assert "20 of 20 have EXIF, XMP or comments, 20 a place (GPS)." in text
    turned = sum(number % 5 == 0 for number in range(24) if number % 6)
    assert f"How a picture is turned is kept in {turned}." in text
    assert "a place in 20" in read_json(folder / "croissant.json")["rai:personalSensitiveInformation"]


def test_a_file_that_was_not_cleaned_is_found(tmp_path: Path) -> None:
    save_picture(tmp_path / "told.jpg", 1)
    random_picture(2).save(tmp_path / "clean.png")
    note = Image.open(tmp_path / "clean.png")
    note.save(tmp_path / "comment.jpg", comment=b"by Ana")
    pictures = {name: Picture(name, name) for name in ("told.jpg", "clean.png", "comment.jpg", "gone.jpg")}
    found = check_files(Benchmark("b", Corpus("b", pictures), {}, {}), tmp_path)
    assert (found.files, found.told, found.placed) == (4, 2, 1)


def test_judges_pairs_licences_and_tables_are_those_of_the_folder(tmp_path: Path) -> None:
    folder, manifest = publish(make_project(tmp_path))
    text = (folder / "README.md").read_text()
    judged = len(rows(folder, "qrels"))
    possible = len(rows(folder, "queries")) * len(rows(folder, "corpus"))
    assert manifest.counts["judged pairs"] == judged
    assert f"{judged:,} of {possible:,} pairs of query and picture were judged" in text
    assert f"{judged:,} pairs of query and picture have a label; judgments by benchmaker" in text.replace("\\", "")
    assert "The licence of 20 of 20 pictures is known" in text
    assert "## Splits" not in text and "language:" not in text
    protocol = read_json(folder / "croissant.json")["rai:dataAnnotationProtocol"]
    assert protocol.startswith(f"{judged:,} pairs of query and picture have a label")
    folder, _ = publish(make_project(tmp_path / "rows"), PublishTerms(layout="rows"))
    assert "`corpus`" not in (folder / "README.md").read_text()


def test_the_audit_is_that_of_what_is_published(tmp_path: Path) -> None:
    """Queries whose pictures stay here are not among the audited ones."""
    project = make_project(tmp_path)
    folder, manifest = publish(project)
    text = (folder / "README.md").read_text()
    assert "As measured on what is published here:" in text
    assert f"| queries | {manifest.counts['queries']} |" in text
    assert "| shortcut: auc |" in text
