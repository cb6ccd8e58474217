"""The published folder: what is in it, what is not, what the card says, and how a picture is taken down."""

from __future__ import annotations

import hashlib
import io
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from make_publishing import annotation, make_project, picture_id, published_id, save_picture
from sightline import bench
from sightline.bench.formats import hf_parquet
from sightline.bench.formats.base import Options
from sightline.bench.formats.benchmaker_rows import read_flat
from sightline.bench.formats.mteb import read as read_mteb
from sightline.bench.formats.parquet import read_table
from sightline.config import load
from sightline.errors import UserError
from sightline.io import read_json, write_jsonl
from sightline.make.project import Project
from sightline.make.publish.choose import people_in, shows_people
from sightline.make.publish.folder import MANIFEST, AgreementError, Wish, build, published
from sightline.make.publish.manifest import Manifest, Terms, checksums, read_manifest
from sightline.make.publish.naming import FILE as IDS
from sightline.make.publish.naming import Names, read_names, renamed
from sightline.make.publish.stage import PublishStage, dataset_folder
from sightline.make.summary.source import Source, read_source
from sightline.make.takedown import FILE, take_down
from sightline.models.asking import Asking
from sightline.run import write_run
from sightline.types import Annotation, Attempt, Benchmark, Failure, Ranking, Relevance, Run

pytest.importorskip("pyarrow")
WISH = Wish(date(2026, 11, 15), "ada/harbour", agreed=True)
UNLICENSED = [picture_id(number) for number in range(0, 24, 6)]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path)


def publish(project: Project, terms: Terms | None = None, wish: Wish = WISH) -> tuple[Path, Manifest]:
    folder = project.folder / "dataset"
    wish = replace(wish, names=project.folder / IDS)
    return folder, build(read_source(project), folder, terms or Terms(), project.config, wish)


def rows(folder: Path, config: str) -> list[dict[str, Any]]:
    return [row for path in sorted((folder / config).glob("*.parquet")) for row in read_table(path)]


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
    benchmark, originals = read_source(project).benchmark, read_names(project.folder / IDS).originals
    for row in judged:
        truth = benchmark.truth[row["query-id"]]
        assert isinstance(truth, Relevance)
        assert truth.grades[originals[row["corpus-id"]]] == row["score"]


@pytest.mark.parametrize("layout", ["retrieval", "rows", "full"])
def test_no_published_file_tells_how_a_picture_is_called_here(project: Project, layout: str) -> None:
    """Names of files tell owners, times and cameras; also of pictures that are not published."""
    folder, _ = publish(project, Terms(layout=layout))
    tables = [read_table(path) for path in sorted(folder.rglob("*.parquet"))]
    texts = [repr(row) for table in tables for row in table]
    texts += [path.read_text() for path in folder.rglob("*") if path.suffix in (".csv", ".json", ".md", ".py", ".cff")]
    assert len(texts) > 20
    for number in range(24):
        assert not [text[:200] for text in texts if picture_id(number) in text]
    assert (project.folder / IDS).is_file()
    assert not list(folder.rglob(IDS))
    if layout == "retrieval":
        corpus = rows(folder, "corpus")
        assert all(row["id"] == row["image"]["path"] == f"{row['sha256'][:16]}.jpg" for row in corpus)
        shown = {row["id"] for row in corpus}
        assert shown == {row["picture"] for row in published(folder)}
        assert {row["picture"] for row in rows(folder, "annotations")} == shown
        assert "how the files were called is not told" in (folder / "README.md").read_text()


def test_ids_are_kept_only_when_somebody_agrees(project: Project) -> None:
    terms = Terms(keep_ids=True)
    with pytest.raises(AgreementError, match=r'ids stay as they are, such as "[ab]/00') as asked:
        publish(project, terms, replace(WISH, agreed=False))
    assert "--keep-ids" in str(asked.value) and "--yes" in str(asked.value)
    folder, _ = publish(project, terms)
    assert picture_id(1) in {row["id"] for row in rows(folder, "corpus")}
    assert "kept on purpose" in (folder / "README.md").read_text()
    assert not (project.folder / IDS).exists()


def test_a_project_inside_the_published_folder_is_refused(project: Project) -> None:
    wish = replace(WISH, names=project.folder / "dataset" / "project" / IDS)
    with pytest.raises(UserError, match="would be published"):
        build(read_source(project), project.folder / "dataset", Terms(), project.config, wish)


def test_copies_of_one_file_have_ids_of_their_own_and_keep_them(project: Project) -> None:
    root = project.config.paths.pictures
    assert root is not None
    (root / picture_id(5)).write_bytes((root / picture_id(1)).read_bytes())
    publish(project)
    first, second = published_id(project, 1), published_id(project, 5)
    assert first != second
    assert first[:16] == second[:16]
    publish(project, Terms(keep_metadata=True))
    publish(project)
    assert (published_id(project, 1), published_id(project, 5)) == (first, second)


def test_every_place_of_a_benchmark_is_renamed() -> None:
    from sightline.types import Answer, Corpus, Group, Option, Picture, PictureRef, Scope, Step, Task

    seen = PictureRef("ann/1.jpg")
    task = Task(
        "q", "answer", ("what is", seen), (Option("A", (seen,)),), Scope("ann", ("trip",), ("ann/1.jpg",)),
        {"owner": ("ann",)}, {"de": (seen,)}, {"seeds": ["ann/1.jpg", "ann/9.jpg"], "scores": {"ann/1.jpg": 1.0}},
    )  # fmt: skip
    groups = (Group("ann", "owner", ("ann/1.jpg",)), Group("trip", "event", ("ann/1.jpg",), hidden=True))
    whole = Benchmark(
        "b", Corpus("b", {"ann/1.jpg": Picture("ann/1.jpg", "x.jpg")}, groups), {"q": task},
        {"q": Answer("red", steps=(Step("think", "look", (seen,)),))}, card={"worst": ["ann/1.jpg"], "n": "ann"},
    )  # fmt: skip
    names = Names({"ann/1.jpg": "0.jpg"}, {"ann": "owner-1", "trip": "event-1"})
    found = renamed(whole, names, ("ann/1.jpg", "ann/9.jpg"))
    assert "ann/" not in repr(found)
    assert found.tasks["q"].scope == Scope("owner-1", ("event-1",), ("0.jpg",))
    assert found.tasks["q"].extra == {"seeds": ["0.jpg"], "scores": {"0.jpg": 1.0}}
    assert found.corpus.groups[1] == Group("event-1", "event", ("0.jpg",), hidden=True)
    assert found.tasks["q"].labels == {"owner": ("owner-1",)}
    assert found.card == {"worst": ["0.jpg"], "n": "ann"}


def test_metadata_stays_in_only_if_asked_for(project: Project) -> None:
    folder, _ = publish(project, Terms(keep_metadata=True))
    assert all(b"Secret Camera" in row["image"]["bytes"] for row in rows(folder, "corpus"))
    assert "kept on purpose" in (folder / "README.md").read_text()


def test_only_allowed_licences_go_out(project: Project) -> None:
    everything, _ = publish(project, Terms(licences=("CC BY 4.0", "unknown")))
    assert len(rows(everything, "corpus")) == 24
    with pytest.raises(UserError, match="--allow-licenses") as refused:
        publish(project, Terms(licences=("cc0-1.0",)))
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
    second = build(read_source(project), tmp_path / "again", Terms(), project.config, WISH)
    assert first.files == second.files == checksums(folder)


def test_the_card_is_read_by_a_yaml_reader(project: Project) -> None:
    yaml = pytest.importorskip("yaml")
    folder, _ = publish(project, Terms(splits="train=0.5,test=0.5"))
    text = (folder / "README.md").read_text()
    head = yaml.safe_load(text.split("---\n")[1])
    assert head["license"] == "cc-by-4.0"
    assert [config["config_name"] for config in head["configs"]] == ["corpus", "queries", "qrels", "annotations"]
    for config in head["configs"]:
        for files in config["data_files"]:
            assert list(folder.glob(files["path"]))
    for part in ("Intended use", "Label quality", "People and places", "| cc-by-4.0 | Right | 10.1/x |", "4 pictures"):
        assert part in text
    assert "hf_very_secret" not in text
    citation = yaml.safe_load((folder / "CITATION.cff").read_text())
    assert citation["authors"] == [
        {"family-names": "Example", "given-names": "Ada", "orcid": "https://orcid.org/0000-0002-1825-0097"}
    ]
    assert citation["license"] == "CC-BY-4.0"


def test_words_of_others_can_not_break_the_card(project: Project) -> None:
    hostile = 'x"\n---\nlicense: mit\n<script>alert(1)</script> | a'
    config = project.config.model_copy(
        update={"benchmark": project.config.benchmark.model_copy(update={"name": hostile, "description": hostile})}
    )
    folder, _ = publish(replace(project, config=config))
    yaml = pytest.importorskip("yaml")
    text = (folder / "README.md").read_text()
    assert yaml.safe_load(text.split("---\n")[1])["license"] == "cc-by-4.0"
    words = text.split("---\n", 2)[2].split("```bibtex")[0]
    assert "\\<script\\>" in words
    assert "<script>" not in words.replace("\\<script\\>", "")
    assert yaml.safe_load((folder / "CITATION.cff").read_text())["type"] == "dataset"


def test_the_authors_own_card_keeps_our_head(project: Project, tmp_path: Path) -> None:
    own = tmp_path / "card.md"
    own.write_text("---\nlicense: wrong\n---\n\n# Mine\n\nMy words.\n")
    paths = project.config.paths.model_copy(update={"card": own})
    folder, _ = publish(replace(project, config=project.config.model_copy(update={"paths": paths})))
    text = (folder / "README.md").read_text()
    assert text.endswith("# Mine\n\nMy words.\n")
    assert "license: cc-by-4.0" in text
    assert "wrong" not in text


def test_croissant_names_every_column_of_every_table(project: Project) -> None:
    import pyarrow.parquet as pq

    folder, _ = publish(project)
    document = read_json(folder / "croissant.json")
    assert document["conformsTo"] == "http://mlcommons.org/croissant/1.0"
    sets = {entry["@id"] for entry in document["distribution"]}
    for record in document["recordSet"]:
        columns = pq.read_schema(next((folder / record["name"]).glob("*.parquet"))).names
        fields = [field for field in record["field"] if field["name"] != "split"]
        assert [field["source"]["extract"]["column"] for field in fields] == columns
        assert all(field["source"]["fileSet"]["@id"] in sets for field in record["field"])


def test_splits_share_nothing(project: Project) -> None:
    save_picture(project.config.paths.pictures / picture_id(3), 1, quality=50)  # type: ignore[operator]
    folder, manifest = publish(project, Terms(splits="train=0.6,test=0.4"))
    homes = {row["picture"]: row["split"] for row in published(folder)}
    assert homes[published_id(project, 1)] == homes[published_id(project, 3)]
    for config in ("corpus", "queries"):
        train, test = (
            {row["id"] for path in (folder / config).glob(f"{split}-*") for row in read_table(path)}
            for split in ("train", "test")
        )
        assert train and test and not train & test
    assert manifest.counts["pairs left out"] > 0


def test_benchmakers_rows_come_back_the_same(project: Project) -> None:
    folder, _ = publish(project, Terms(layout="rows", licences=("cc-by-4.0", "unknown")))
    content = read_flat(folder, Options()).content
    assert isinstance(content, Benchmark)
    names = read_names(project.folder / IDS).pictures
    assert dict(content.truth) == {
        task: Relevance({names[id_]: grade for id_, grade in truth.grades.items()})  # type: ignore[union-attr]
        for task, truth in read_source(project).benchmark.truth.items()
    }
    first = rows(folder, "data")[0]
    assert first["relevance_label"] == 1
    assert b"Secret Camera" not in first["image"]["bytes"]


def test_the_full_layout_loses_no_table(project: Project) -> None:
    folder, _ = publish(project, Terms(layout="full"))
    (folder / "benchmark.json").rename(folder / "sightline.json")
    content = hf_parquet.read(folder, Options()).content
    assert isinstance(content, Benchmark)
    assert len(content.judgments) == sum(len(truth.grades) for truth in content.truth.values())  # type: ignore[union-attr]
    assert not any(str(project.folder) in picture.uri for picture in content.corpus.pictures.values())


def test_our_own_importer_reads_the_folder(project: Project) -> None:
    folder, manifest = publish(project)
    content = read_mteb(folder, Options()).content
    assert isinstance(content, Benchmark)
    assert len(content.tasks) == manifest.counts["queries"]


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
        build(read_source(project), strange, Terms(), project.config, WISH)


def test_a_dry_run_builds_the_folder_and_asks_nobody(project: Project) -> None:
    result = PublishStage(dry_run=True, agreed=True, released=date(2026, 11, 15)).run(project, Asking())
    folder = dataset_folder(project)
    assert result.counts["files"] == len([path for path in folder.rglob("*") if path.is_file()])
    assert read_manifest(folder).repo is None
    assert any("no licence is known" in line for line in result.warnings)


# --- taking down --------------------------------------------------------------------------------------------


def published_source(project: Project, terms: Terms | None = None) -> tuple[Source, Path]:
    folder, _ = publish(project, terms)
    return read_source(project), folder


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
    PublishStage(dry_run=True, agreed=True).run(project, Asking())
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


def with_hashes(source: Source) -> Source:
    pictures = {
        id_: replace(picture, sha256=hashlib.sha256(Path(picture.uri.removeprefix("file://")).read_bytes()).hexdigest())
        for id_, picture in source.benchmark.corpus.pictures.items()
    }
    corpus = replace(source.benchmark.corpus, pictures=pictures)
    return replace(source, benchmark=replace(source.benchmark, corpus=corpus))


def test_other_pictures_keep_their_split(project: Project) -> None:
    source, folder = published_source(project, Terms(splits="train=0.6,test=0.4"))
    before = {row["picture"]: row["split"] for row in published(folder)}
    take_down(picture_id(1), source, folder, project)
    after = {row["picture"]: row["split"] for row in published(folder)}
    assert after == {id_: split for id_, split in before.items() if id_ != published_id(project, 1)}


def test_pictures_keep_their_split_when_ids_are_no_longer_kept(project: Project) -> None:
    splits = "train=0.6,test=0.4"
    folder, _ = publish(project, Terms(splits=splits, keep_ids=True))
    before = {row["picture"]: row["split"] for row in published(folder)}
    publish(project, Terms(splits=splits, seed=7))
    originals = read_names(project.folder / IDS).originals
    assert {originals[row["picture"]]: row["split"] for row in published(folder)} == before


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


def test_an_assembled_benchmark_can_be_published(project: Project, tmp_path: Path) -> None:
    source = read_source(project)
    bench.write(source.benchmark, tmp_path / "bench")
    plain = Project(tmp_path / "other", load(environment={}).config)
    result = PublishStage(tmp_path / "bench", dry_run=True, agreed=True).run(plain, Asking())
    assert result.counts["pictures"] == 20


# --- the real loaders ---------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("splits", ["test", "train=0.5,test=0.5"])
def test_the_real_datasets_library_loads_the_folder(project: Project, tmp_path: Path, splits: str) -> None:
    datasets = pytest.importorskip("datasets", reason="the interop extra has the real loader")
    folder, manifest = publish(project, Terms(splits=splits))
    cache = str(tmp_path / "cache")
    loaded = {
        name: datasets.load_dataset(str(folder), name, cache_dir=cache) for name in ("corpus", "queries", "qrels")
    }
    assert sum(part.num_rows for part in loaded["corpus"].values()) == manifest.counts["pictures"]
    assert sum(part.num_rows for part in loaded["qrels"].values()) == manifest.counts["judged pairs"]
    assert loaded["corpus"]["test"][0]["image"].size == (160, 120)


@pytest.mark.slow
def test_the_real_datasets_library_loads_benchmakers_rows(project: Project, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets", reason="the interop extra has the real loader")
    folder, manifest = publish(project, Terms(layout="rows"))
    loaded = datasets.load_dataset(str(folder), split="train", cache_dir=str(tmp_path / "cache"))
    assert loaded.num_rows == manifest.counts["judged pairs"]
    assert loaded[0]["image"].size == (160, 120)


@pytest.mark.slow
def test_the_real_mteb_loads_its_task(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mteb", reason="the interop extra has the real tool")
    folder, manifest = publish(project)
    monkeypatch.syspath_prepend(str(folder))
    import importlib

    module = importlib.import_module("mteb_task")
    task = module.HarbourLightsRetrieval()
    task.load_data()
    found = task.dataset["default"]["test"]
    assert len(found["queries"]) == manifest.counts["queries"]
    assert len(found["corpus"]) == manifest.counts["pictures"]
