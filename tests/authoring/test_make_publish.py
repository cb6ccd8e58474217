"""The published folder: what is in it, what is not, and what is only there when somebody agrees."""

from __future__ import annotations

import hashlib
import io
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from PIL import Image

from make_publishing import WISH, annotation, make_project, picture_id, publish, published_id, rows, save_picture
from sightline.authoring.dataset.folder import AgreementError, build_folder, published_pictures
from sightline.authoring.dataset.ids import FILE as IDS
from sightline.authoring.dataset.ids import read_names
from sightline.authoring.dataset.manifest import MANIFEST, PublishTerms, checksums, read_manifest
from sightline.authoring.dataset.selection import people_in, shows_people
from sightline.authoring.project import Project
from sightline.authoring.project_benchmark import read_project_benchmark
from sightline.authoring.publish import PublishStage, dataset_folder
from sightline.benchmark.folder import write_benchmark
from sightline.benchmark.formats.parquet import read_table
from sightline.calls.session import Session
from sightline.config import load
from sightline.errors import UserError
from sightline.io.jsonl import write_jsonl
from sightline.types import Annotation, Benchmark, Relevance

pytest.importorskip("pyarrow")
UNLICENSED = [picture_id(number) for number in range(0, 24, 6)]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path)


def test_each_picture_is_there_once_and_tells_nothing_of_its_place(project: Project) -> None:
    folder, manifest = publish(project)
    corpus = rows(folder, "corpus")
    originals = read_names(project.folder / IDS).originals
    assert sorted(originals[row["id"]] for row in corpus) == sorted(
        {picture_id(number) for number in range(24)} - set(UNLICENSED)
    )
    for row in corpus:
        data = row["image"]["bytes"]
        assert row["sha256"] == hashlib.sha256(data).hexdigest()
        assert b"Secret Camera" not in data
        assert not dict(Image.open(io.BytesIO(data)).getexif().get_ifd(0x8825))
    assert manifest.left_out == {"no licence is known": 4}
    assert set(corpus[0]) == {"id", "image", "width", "height", "sha256", "license", "doi", "source", "attribution"}


def test_judgments_are_of_pictures_and_queries_that_are_there(project: Project) -> None:
    folder, _ = publish(project)
    ids, queries = {row["id"] for row in rows(folder, "corpus")}, {row["id"] for row in rows(folder, "queries")}
    judged = rows(folder, "qrels")
    assert judged
    assert {row["corpus-id"] for row in judged} <= ids
    assert {row["query-id"] for row in judged} == queries
    benchmark, originals = read_project_benchmark(project).benchmark, read_names(project.folder / IDS).originals
    for row in judged:
        truth = benchmark.truth[row["query-id"]]
        assert isinstance(truth, Relevance)
        assert truth.grades[originals[row["corpus-id"]]] == row["score"]


def test_metadata_stays_in_only_if_asked_for(project: Project) -> None:
    folder, _ = publish(project, PublishTerms(keep_metadata=True))
    assert all(b"Secret Camera" in row["image"]["bytes"] for row in rows(folder, "corpus"))
    assert "kept on purpose" in (folder / "README.md").read_text()


def test_only_allowed_licences_go_out(project: Project) -> None:
    everything, _ = publish(project, PublishTerms(licences=("CC BY 4.0", "unknown")))
    assert len(rows(everything, "corpus")) == 24
    with pytest.raises(UserError, match="--allow-licenses") as refused:
        publish(project, PublishTerms(licences=("cc0-1.0",)))
    assert "cc-by-4.0" in str(refused.value)


def test_people_are_published_only_when_somebody_agrees(project: Project) -> None:
    with pytest.raises(AgreementError, match="2 pictures show people") as asked:
        publish(project, wish=replace(WISH, agreed=False))
    assert "--yes" in str(asked.value)
    assert not (project.folder / "dataset").exists()


def test_pictures_of_which_nothing_is_said_may_show_people(project: Project) -> None:
    write_jsonl(project.folder / "annotations.jsonl", [annotation(number) for number in range(1, 9)])
    with pytest.raises(AgreementError, match="not known"):
        publish(project, wish=replace(WISH, agreed=False))


@pytest.mark.parametrize(
    ("note", "shown"),
    [
        (Annotation("a", flags={"people": True}), True),
        (Annotation("a", flags={"people": False}), False),
        (Annotation("a", facets={"crowd": "none"}), False),
        (Annotation("a", facets={"subject": "portrait"}), True),
        (Annotation("a", tags=("street", "woman")), True),
        (Annotation("a", tags=("manhole", "mango")), False),
        (Annotation("a", summary="Two children on a beach"), True),
        (Annotation("a", flags={"contains_person": True}), True),
    ],
)
def test_who_is_seen(note: Annotation, shown: bool) -> None:
    assert shows_people(note) is shown


def test_counting_people_counts_pictures() -> None:
    benchmark = bench_of(("a", "b"), (Annotation("a", tags=("man",)), Annotation("a", tags=("man", "boy"))))
    assert people_in(benchmark) == (1, 1)
    unasked = bench_of(("a", "b"), (Annotation("a", tags=("tree",)), Annotation("b", flags={"people": False})))
    assert people_in(unasked) == (0, 1)


def bench_of(ids: tuple[str, ...], notes: tuple[Annotation, ...]) -> Benchmark:
    from sightline.types import Corpus, Picture

    return Benchmark("b", Corpus("b", {id_: Picture(id_, id_) for id_ in ids}), {}, {}, annotations=notes)


def test_the_same_input_gives_the_same_folder(project: Project, tmp_path: Path) -> None:
    folder, first = publish(project)
    second = build_folder(read_project_benchmark(project), tmp_path / "again", PublishTerms(), project.config, WISH)
    assert first.files == second.files == checksums(folder)


def test_splits_share_nothing(project: Project) -> None:
    save_picture(project.config.paths.pictures / picture_id(3), 1, quality=50)  # type: ignore[operator]
    folder, manifest = publish(project, PublishTerms(splits="train=0.6,test=0.4"))
    homes = {row["picture"]: row["split"] for row in published_pictures(folder)}
    assert homes[published_id(project, 1)] == homes[published_id(project, 3)]
    for config in ("corpus", "queries"):
        train, test = (
            {row["id"] for path in (folder / config).glob(f"{split}-*") for row in read_table(path)}
            for split in ("train", "test")
        )
        assert train and test and not train & test
    assert manifest.counts["pairs left out"] > 0


def test_a_picture_that_can_not_be_read_stays_here_with_its_reason(project: Project) -> None:
    (project.config.paths.pictures / picture_id(1)).write_bytes(b"\xff\xd8\xff nothing")  # type: ignore[operator]
    (project.config.paths.pictures / picture_id(2)).unlink()  # type: ignore[operator]
    _, manifest = publish(project)
    assert manifest.left_out["its file is not here"] == 1
    assert sum(manifest.left_out.values()) == 6


def test_other_things_in_the_folder_are_carried_over(project: Project) -> None:
    folder, _ = publish(project)
    (folder / "mine.txt").write_text("mine")
    publish(project)
    assert (folder / "mine.txt").read_text() == "mine"
    strange = project.folder / "strange"
    strange.mkdir()
    (strange / "x").write_text("x")
    with pytest.raises(UserError, match=MANIFEST):
        build_folder(read_project_benchmark(project), strange, PublishTerms(), project.config, WISH)


def test_a_dry_run_builds_the_folder_and_asks_nobody(project: Project) -> None:
    result = PublishStage(dry_run=True, agreed=True, released=date(2026, 11, 15)).run(project)
    folder = dataset_folder(project)
    assert result.counts["files"] == len([path for path in folder.rglob("*") if path.is_file()])
    assert read_manifest(folder).repo is None
    assert any("no licence is known" in line for line in result.warnings)


def test_pictures_keep_their_split_when_ids_are_no_longer_kept(project: Project) -> None:
    splits = "train=0.6,test=0.4"
    folder, _ = publish(project, PublishTerms(splits=splits, keep_ids=True))
    before = {row["picture"]: row["split"] for row in published_pictures(folder)}
    publish(project, PublishTerms(splits=splits, seed=7))
    originals = read_names(project.folder / IDS).originals
    assert {originals[row["picture"]]: row["split"] for row in published_pictures(folder)} == before


def test_an_assembled_benchmark_can_be_published(project: Project, tmp_path: Path) -> None:
    source = read_project_benchmark(project)
    write_benchmark(source.benchmark, tmp_path / "bench")
    plain = Project(tmp_path / "other", Session(config=load(environment={}).config))
    result = PublishStage(tmp_path / "bench", dry_run=True, agreed=True).run(plain)
    assert result.counts["pictures"] == 20


def test_another_data_set_is_left_as_it_is(tmp_path: Path) -> None:
    """As where two projects name one folder, or one project publishes two benchmarks."""
    project = make_project(tmp_path / "one")
    folder, before = publish(project)
    other = make_project(tmp_path / "two", pictures=6, queries=2, pool=4, files=False)
    for number in range(6):
        save_picture(tmp_path / "two" / "pictures" / picture_id(number), 100 + number)
    source = read_project_benchmark(other)
    with pytest.raises(UserError, match='holds the data set "Harbour Lights", not "Two"'):
        build_folder(
            replace(source, benchmark=replace(source.benchmark, name="Two")), folder, PublishTerms(), other.config, WISH
        )
    assert checksums(folder) == before.files
    mine = read_project_benchmark(project)
    build_folder(
        replace(mine, benchmark=replace(mine.benchmark, name="By Night")), folder, PublishTerms(), project.config, WISH
    )
    assert read_manifest(folder).name == "By Night"
