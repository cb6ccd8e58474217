"""benchmaker's files and rows: read as they are, defects reported, written back in their exact fields."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmark.formats.retrieval_samples import other_tasks, rank_benchmark
from sightline.benchmark.formats import FormatOptions, Imported, find_format
from sightline.benchmark.problems import ProblemsError
from sightline.corpus.rights import RightsMap
from sightline.errors import UserError
from sightline.io.files import picture_path, sha256_of
from sightline.types import Annotation, Benchmark, Candidate, Judgment, Relevance, Rights, Task

NO_OPTIONS = FormatOptions()
BASE = "https://pictures.example.org/coast"
FILES: dict[str, list[dict[str, Any]]] = {
    "images": [
        {
            "image_id": name,
            "image_url": f"{BASE}/{name}",
            "mime_type": "image/jpeg",
            "license": licence,
            "doi": "10.1/x",
            "original_dataset_name": name.split("/")[0],
            "vsn": "W01",
        }
        for name, licence in (("sage/a.jpg", "UNKNOWN"), ("sage/b c.jpg", "CC BY 4.0"), ("fig/d.jpg", "CC BY 4.0"))
    ],
    "annotations": [
        {
            "image_id": name,
            "summary": f"A view of {name}.",
            "lighting": "day",
            "boat_visible": visible,
            "tags": ["sea", "calm"],
            "confidence": {"lighting": 0.9, "boat_visible": 0.5},
            "license": "CC BY 4.0",
            "doi": "10.1/x",
            "vsn": "W01",
        }
        for name, visible in (("sage/a.jpg", False), ("sage/b c.jpg", True), ("fig/d.jpg", False))
    ],
    "seeds": [
        {"query_id": "query_001", "seed_image_ids": ["sage/b c.jpg"]},
        {"query_id": "query_002", "seed_image_ids": ["fig/d.jpg"]},
    ],
    "query_plan": [
        {
            "query_id": "query_001",
            "seed_image_ids": ["sage/b c.jpg"],
            "candidate_image_ids": ["sage/b c.jpg", "sage/a.jpg", "fig/d.jpg"],
        },
        {
            "query_id": "query_002",
            "seed_image_ids": ["fig/d.jpg"],
            "candidate_image_ids": ["fig/d.jpg", "sage/a.jpg"],
        },
    ],
    "qrels": [
        {"query_id": query, "query_text": text, "image_id": name, "relevance_label": label}
        for query, text, name, label in (
            ("query_001", "a boat by day", "sage/b c.jpg", 1),
            ("query_001", "a boat by day", "sage/a.jpg", 0),
            ("query_001", "a boat by day", "fig/d.jpg", 0),
            ("query_002", "calm sea", "fig/d.jpg", 1),
            ("query_002", "calm sea", "sage/a.jpg", 1),
        )
    ],
}


def make(folder: Path, only: tuple[str, ...] = tuple(FILES), **changed: Any) -> Path:
    """benchmaker's files; `changed` replaces the rows of one of them."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in {**{name: FILES[name] for name in only}, **changed}.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return folder


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def read(path: Path, options: FormatOptions = NO_OPTIONS, name: str = "benchmaker") -> Imported:
    reader = find_format(name).read
    assert reader is not None
    return reader(path, options)


def content(path: Path, options: FormatOptions = NO_OPTIONS, name: str = "benchmaker") -> Benchmark:
    found = read(path, options, name).content
    assert isinstance(found, Benchmark)
    return found


def write(benchmark: Benchmark, path: Path, options: FormatOptions = NO_OPTIONS, name: str = "benchmaker") -> Path:
    writer = find_format(name).write
    assert writer is not None
    writer(benchmark, path, options)
    return path


# --- all files ---------------------------------------------------------------------------------------------


def test_all_files_together(tmp_path: Path) -> None:
    imported = read(make(tmp_path / "Coast"))
    found = imported.content
    assert isinstance(found, Benchmark) and imported.warnings == () and imported.problems == ()
    assert found.name == "Coast"
    first = found.corpus.pictures["sage/a.jpg"]
    assert first.uri == f"{BASE}/sage/a.jpg" and first.mime == "image/jpeg"
    assert first.rights == Rights(None, "10.1/x", "sage")
    assert first.extra == {"vsn": "W01", "image_url": f"{BASE}/sage/a.jpg"}
    assert found.annotations[1] == Annotation(
        "sage/b c.jpg",
        summary="A view of sage/b c.jpg.",
        facets={"lighting": "day"},
        flags={"boat_visible": True},
        tags=("sea", "calm"),
        confidence={"lighting": 0.9, "boat_visible": 0.5},
        by="benchmaker",
        extra={"vsn": "W01"},
    )
    assert found.tasks["query_001"] == Task(
        "query_001", "rank", ("a boat by day",), labels={"original_dataset_name": ("sage",)}
    )
    assert found.truth["query_001"] == Relevance({"sage/b c.jpg": 1, "sage/a.jpg": 0, "fig/d.jpg": 0})
    assert found.candidates[:3] == (
        Candidate("query_001", "sage/b c.jpg", "seed"),
        Candidate("query_001", "sage/a.jpg", "pooled"),
        Candidate("query_001", "fig/d.jpg", "pooled"),
    )
    assert found.judgments[0] == Judgment("query_001", "sage/b c.jpg", "benchmaker", 1)
    assert len(found.judgments) == 5


def test_the_folder_that_benchmaker_makes(tmp_path: Path) -> None:
    make(tmp_path / "inputs", ("images", "seeds"))
    make(tmp_path / "outputs", ("annotations", "query_plan", "qrels"))
    scored = [{**row, "clip_score": 4.5 if row["relevance_label"] else None} for row in FILES["qrels"]]
    (tmp_path / "outputs" / "qrels_with_similarity_score.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in scored)
    )
    found = content(tmp_path)
    assert len(found.corpus.pictures) == 3 and len(found.annotations) == 3 and len(found.candidates) == 5
    assert found.tasks["query_002"].extra == {
        "similarity": {"column": "clip_score", "scores": {"fig/d.jpg": 4.5, "sage/a.jpg": 4.5}}
    }


def test_our_plan_records_tiers(tmp_path: Path) -> None:
    plan = [
        {
            "query_id": "query_001",
            "seed_image_ids": ["sage/b c.jpg"],
            "candidate_image_ids": ["sage/b c.jpg", "sage/a.jpg", "fig/d.jpg"],
            "candidates": [
                {"image_id": "sage/b c.jpg", "tier": "seed", "score": None},
                {"image_id": "sage/a.jpg", "tier": "hard", "score": 0.75},
                {"image_id": "fig/d.jpg", "tier": "easy"},
            ],
        }
    ]
    found = content(make(tmp_path, query_plan=plan))
    assert [(c.tier, c.score) for c in found.candidates if c.task == "query_001"] == [
        ("seed", None),
        ("hard", 0.75),
        ("easy", None),
    ]


# --- some files --------------------------------------------------------------------------------------------


def test_judgments_alone(tmp_path: Path) -> None:
    full = [
        {**note, **row}
        for row in FILES["qrels"]
        for note in FILES["annotations"]
        if note["image_id"] == row["image_id"]
    ]
    for path in (make(tmp_path, ("qrels",), qrels=full), tmp_path / "qrels.jsonl"):
        found = content(path)
        assert len(found.tasks) == 2 and len(found.corpus.pictures) == 3 and found.candidates == ()
        assert found.corpus.pictures["sage/a.jpg"].uri == (tmp_path / "sage" / "a.jpg").as_uri()
        assert found.corpus.pictures["sage/a.jpg"].rights == Rights("CC BY 4.0", "10.1/x")
        assert {note.picture_id: note.flags for note in found.annotations}["sage/b c.jpg"] == {"boat_visible": True}
        assert found.tasks["query_001"].labels == {}


def test_a_row_tells_more_than_the_plan(tmp_path: Path) -> None:
    qrels = [{**row, "license": "CC0", "doi": "UNKNOWN"} for row in FILES["qrels"]]
    found = content(make(tmp_path, ("query_plan",), qrels=qrels))
    assert {picture.rights for picture in found.corpus.pictures.values()} == {Rights("CC0")}


def test_seeds_without_a_plan(tmp_path: Path) -> None:
    found = content(make(tmp_path, ("seeds", "qrels")))
    assert [(c.picture, c.tier) for c in found.candidates if c.task == "query_002"] == [
        ("fig/d.jpg", "seed"),
        ("sage/a.jpg", "pooled"),
    ]


def test_pictures_without_queries(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"has images\.jsonl, annotations\.jsonl, but no qrels\.jsonl") as raised:
        read(make(tmp_path, ("images", "annotations")))
    assert raised.value.fix is not None and "sightline make" in raised.value.fix
    with pytest.raises(UserError, match="none of benchmaker's files"):
        read(make(tmp_path / "empty", ()))


def test_a_rights_map_fills_what_is_open(tmp_path: Path) -> None:
    rights = {
        "default": {"license": "UNKNOWN", "doi": "UNKNOWN"},
        "prefixes": [{"prefix": "sage/", "license": "CC0", "dataset_name": "Sage"}],
    }
    (make(tmp_path, ("images", "seeds", "qrels")) / "rights_map.json").write_text(json.dumps(rights))
    found = content(tmp_path)
    assert found.corpus.pictures["sage/a.jpg"].rights == Rights("CC0", "10.1/x", "sage")
    for name in ("images", "seeds"):
        (tmp_path / f"{name}.jsonl").unlink()
    found = content(tmp_path)
    assert found.corpus.pictures["sage/a.jpg"].rights == Rights("CC0", None, "Sage")
    assert found.corpus.pictures["fig/d.jpg"].rights == Rights(None, None, "fig")
    assert found.tasks["query_002"].labels == {"original_dataset_name": ("fig", "Sage")}


def test_what_has_no_label(tmp_path: Path) -> None:
    images = [
        {key: row[key] for key in row if row["image_id"] != "fig/d.jpg" or key != "original_dataset_name"}
        for row in FILES["images"]
    ]
    found = content(make(tmp_path, images=images))
    assert found.tasks["query_001"].labels == {"original_dataset_name": ("sage",)}
    assert found.tasks["query_002"].labels == {"original_dataset_name": ("unlabelled",)}


def test_the_pictures_folder(tmp_path: Path) -> None:
    found = content(make(tmp_path / "files"), FormatOptions(pictures=tmp_path / "pictures"))
    assert found.corpus.pictures["sage/b c.jpg"].uri == (tmp_path / "pictures" / "sage" / "b c.jpg").as_uri()


# --- names of columns --------------------------------------------------------------------------------------


def renamed(rows: list[dict[str, Any]], **names: str) -> list[dict[str, Any]]:
    return [{names.get(key, key): value for key, value in row.items()} for row in rows]


def test_columns_by_map(tmp_path: Path) -> None:
    names = {"query_text": "question", "relevance_label": "label", "image_id": "picture"}
    changed: dict[str, Any] = {name: renamed(rows, **names) for name, rows in FILES.items()}
    found = content(make(tmp_path, **changed), FormatOptions(columns=names))
    usual = content(make(tmp_path / "usual"))
    assert found.truth == usual.truth and found.annotations == usual.annotations
    with pytest.raises(UserError, match='benchmaker has no column "query_txt"') as raised:
        read(tmp_path, FormatOptions(columns={"query_txt": "question"}))
    assert str(raised.value.fix).startswith('Did you mean "query_text"? Known: ')


CONFIG = """
benchmark_name = "Coast Watch"
benchmark_author = "Ada Shore"
column_query = "question"
column_query_id = "qid"
images_jsonl = "lists/pictures.jsonl"
qrels_jsonl = "lists/firebench_qrels.jsonl"
annotations_jsonl = "/nowhere/annotations.jsonl"
seeds_jsonl = "seeds.jsonl"
columns_boolean = ["boat_visible"]
_hf_token = "hf_secret"

[columns_taxonomy]
vsn = ["W01"]
"""


def test_a_configuration(tmp_path: Path) -> None:
    changed = {"qrels": renamed(FILES["qrels"], query_text="question", query_id="qid")}
    make(tmp_path, ("annotations", "seeds"))  # Its seeds keep the usual names: benchmaker ignores the setting there.
    make(tmp_path / "lists", ("images",), **changed)
    (tmp_path / "lists" / "images.jsonl").rename(tmp_path / "lists" / "pictures.jsonl")
    (tmp_path / "lists" / "qrels.jsonl").rename(tmp_path / "lists" / "firebench_qrels.jsonl")
    config = tmp_path / "config.toml"
    config.write_text(CONFIG)
    for path, options in ((config, NO_OPTIONS), (tmp_path, FormatOptions(extra={"config": str(config)}))):
        imported = read(path, options)
        found = imported.content
        assert isinstance(found, Benchmark) and found.name == "Coast Watch" and found.card == {"author": "Ada Shore"}
        assert found.tasks["query_001"].text == "a boat by day" and len(found.candidates) == 5
        assert found.annotations[0].facets == {"vsn": "W01"} and found.annotations[0].extra == {"lighting": "day"}
        assert "hf_secret" not in "".join(imported.warnings) and "secret" in "".join(imported.warnings)


def test_facets_that_are_told(tmp_path: Path) -> None:
    notes = [{"image_id": "sage/a.jpg", "sky": "blue", "vsn": "W01", "sharp": True}]
    folder = make(tmp_path, ("qrels",), annotations=notes)
    (note,) = content(folder).annotations
    assert note.facets == {} and note.flags == {"sharp": True} and note.extra == {"sky": "blue", "vsn": "W01"}
    (note,) = content(folder, FormatOptions(extra={"facets": "sky, sea", "flags": ""})).annotations
    assert note.facets == {"sky": "blue"} and note.flags == {} and note.extra == {"vsn": "W01", "sharp": True}


# --- defects -----------------------------------------------------------------------------------------------


def test_rows_that_are_there_twice(tmp_path: Path) -> None:
    later = {**FILES["annotations"][0], "summary": "Another view."}
    again = [{**row, "query_text": "a boat at noon", "relevance_label": 1} for row in FILES["qrels"][:2]]
    folder = make(
        tmp_path,
        annotations=[*FILES["annotations"], FILES["annotations"][1], later],
        qrels=[*FILES["qrels"], FILES["qrels"][3], {**FILES["qrels"][4], "relevance_label": 0}, *again],
    )
    imported = read(folder)
    found = imported.content
    assert isinstance(found, Benchmark)
    assert found.annotations[0].summary == "Another view." and len(found.annotations) == 3
    assert found.truth["query_002"] == Relevance({"fig/d.jpg": 1, "sage/a.jpg": 0})
    # The grades of one wording are never mixed with those of another.
    assert found.tasks["query_001"].text == "a boat at noon"
    assert found.truth["query_001"] == Relevance({"sage/b c.jpg": 1, "sage/a.jpg": 1})
    assert imported.warnings == (
        "annotations.jsonl: 1 row is there twice; each counts once",
        "annotations.jsonl: 1 row was replaced by a later one for the same id",
        "qrels.jsonl: 1 judgment is there twice; each counts once",
        "qrels.jsonl: 1 judgment was replaced by a later one with another grade",
        'qrels.jsonl: 1 query was worded and judged again, for example "query_001"; the last wording counts',
        "1 candidate was never judged, for example fig/d.jpg for query_001",
    )


def test_judgments_that_do_not_fit_the_plan(tmp_path: Path) -> None:
    qrels = [
        {**FILES["qrels"][0], "relevance_label": 0},
        FILES["qrels"][1],
        {**FILES["qrels"][2], "image_id": "strange.jpg"},
    ]
    imported = read(make(tmp_path, qrels=qrels))
    assert imported.warnings == (
        '1 picture is mentioned but not in images.jsonl, for example "strange.jpg"',
        '1 planned query was never judged, and is left out: "query_002"',
        "1 judged picture is not among the candidates, for example strange.jpg for query_001",
        "1 candidate was never judged, for example fig/d.jpg for query_001",
        "1 seed is judged not relevant to the query made from it, for example sage/b c.jpg for query_001",
    )
    assert isinstance(imported.content, Benchmark) and set(imported.content.tasks) == {"query_001"}


@pytest.mark.parametrize(
    ("file", "row", "message"),
    [
        ("images", {"image_url": "x"}, "images.jsonl, line 1, image_id: expected an id, but it is not there"),
        ("annotations", {"image_id": "a", "tags": "sea"}, "line 1, tags: expected a list of texts, got 'sea'"),
        ("seeds", {"query_id": "q"}, "line 1, seed_image_ids: expected a list of ids"),
        ("query_plan", {"query_id": "q", "seed_image_ids": [3]}, "line 1, seed_image_ids.0: expected an id, got 3"),
        (
            "query_plan",
            {"query_id": "q", "seed_image_ids": ["a"], "candidates": [{"image_id": "a", "tier": "difficult"}]},
            "line 1, candidates.0.tier: expected one of seed, positive, neutral, hard",
        ),
        ("qrels", {**FILES["qrels"][0], "relevance_label": "yes"}, "line 1, relevance_label: expected a whole number"),
        ("qrels", {**FILES["qrels"][0], "relevance_label": -1}, "line 1, relevance_label: expected 0 or more, got -1"),
        ("qrels", {**FILES["qrels"][0], "query_text": " "}, "line 1, query_text: expected the words of the query"),
    ],
)
def test_wrong_rows(tmp_path: Path, file: str, row: dict[str, Any], message: str) -> None:
    changed: dict[str, Any] = {file: [row, *FILES[file]]}
    folder = make(tmp_path, **changed)
    with pytest.raises(ProblemsError) as raised:
        read(folder)
    assert message in str(raised.value) and str(tmp_path) in str(raised.value)
    imported = read(folder, FormatOptions(keep_going=True))
    assert len(imported.problems) == 1
    assert isinstance(imported.content, Benchmark) and len(imported.content.tasks) == 2


# --- written back ------------------------------------------------------------------------------------------


def test_exact_fields(tmp_path: Path) -> None:
    scored = [{**row, "clip_score": 4.5} for row in FILES["qrels"]]
    made = content(make(tmp_path / "in", qrels_with_score=scored))
    folder = write(made, tmp_path / "out")
    assert {path.name for path in folder.iterdir()} == {
        "images.jsonl",
        "annotations.jsonl",
        "seeds.jsonl",
        "query_plan.jsonl",
        "qrels.jsonl",
        "qrels_with_score.jsonl",
        "rights_map.json",
    }
    assert rows_of(folder / "images.jsonl") == FILES["images"]
    assert list(rows_of(folder / "images.jsonl")[0])[:6] == list(FILES["images"][0])[:6]
    assert rows_of(folder / "seeds.jsonl") == FILES["seeds"]
    plan = rows_of(folder / "query_plan.jsonl")
    assert [{key: row[key] for key in row if key != "candidates"} for row in plan] == FILES["query_plan"]
    assert plan[0]["candidates"][0] == {"image_id": "sage/b c.jpg", "tier": "seed", "score": None}
    qrels = rows_of(folder / "qrels.jsonl")
    assert [{key: row[key] for key in FILES["qrels"][0]} for row in qrels] == FILES["qrels"]
    assert list(qrels[0]) == [
        "query_id", "query_text", "image_id", "relevance_label", "confidence", "doi", "license", "summary", "tags",
        "boat_visible", "lighting", "vsn",
    ]  # fmt: skip
    assert [row["clip_score"] for row in rows_of(folder / "qrels_with_score.jsonl")] == [4.5] * 5
    for row, note in zip(rows_of(folder / "annotations.jsonl"), FILES["annotations"], strict=True):
        licence = "UNKNOWN" if row["image_id"] == "sage/a.jpg" else "CC BY 4.0"  # As images.jsonl has it.
        assert row == {**note, "license": licence}


def test_everything_comes_back(tmp_path: Path) -> None:
    scored = [{**row, "clip_score": 4.5} for row in FILES["qrels"]]
    made = content(make(tmp_path / "in", qrels_with_score=scored))
    candidates = tuple(
        replace(found, tier="hard", score=0.5) if found.tier == "pooled" else found for found in made.candidates
    )
    made = replace(made, candidates=candidates)
    imported = read(write(made, tmp_path / "out"), FormatOptions(name=made.name))
    assert imported.warnings == () and imported.content == made


def test_the_rights_map_says_the_same(tmp_path: Path) -> None:
    made = content(make(tmp_path / "in"))
    rights = RightsMap.read(write(made, tmp_path / "out") / "rights_map.json")
    assert {name: rights.of(name) for name in made.corpus.pictures} == {
        name: picture.rights for name, picture in made.corpus.pictures.items()
    }


def test_columns_and_addresses_as_asked(tmp_path: Path) -> None:
    made = rank_benchmark(tmp_path, files=False)
    options = FormatOptions(columns={"query_text": "question"}, extra={"base_url": "https://example.org/p/"})
    folder = write(made, tmp_path / "out", options)
    assert {path.name for path in folder.iterdir()} == {"images.jsonl", "qrels.jsonl", "rights_map.json"}
    assert rows_of(folder / "qrels.jsonl")[0]["question"] == "a red car"
    assert rows_of(folder / "images.jsonl")[1]["image_url"] == "https://example.org/p/plain.jpg"
    found = content(folder, FormatOptions(columns={"query_text": "question"}))
    assert found.truth == made.truth


def test_nothing_to_write(tmp_path: Path) -> None:
    for name in ("benchmaker", "benchmaker-rows"):
        with pytest.raises(UserError, match="no task that looks for pictures"):
            write(other_tasks(rank_benchmark(tmp_path, files=False)), tmp_path / "out", name=name)
    assert list(tmp_path.iterdir()) == []


# --- rows --------------------------------------------------------------------------------------------------


def with_pictures(folder: Path) -> Benchmark:
    """The files' benchmark over pictures that are there."""
    made = content(make(folder / "files"), FormatOptions(pictures=folder / "pictures"))
    drawn = rank_benchmark(folder / "drawn")
    for place, picture in zip(made.corpus.pictures.values(), drawn.corpus.pictures.values(), strict=False):
        target, source = (picture_path(found.uri, folder) for found in (place, picture))
        assert target is not None and source is not None
        target.parent.mkdir(parents=True, exist_ok=True)
        source.rename(target)
    return made


@pytest.mark.parametrize("name", ["rows.parquet", "rows.jsonl.gz", "folder"])
def test_rows_come_back(tmp_path: Path, name: str) -> None:
    if "jsonl" not in name:
        pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    made = with_pictures(tmp_path)
    path = write(made, tmp_path / name, name="benchmaker-rows")
    options = FormatOptions(extra={"extract": str(tmp_path / "extracted")})
    imported = read(path, options, "benchmaker-rows")
    found = imported.content
    assert isinstance(found, Benchmark) and imported.warnings == ()
    assert found.truth == made.truth and found.candidates == made.candidates and found.judgments == made.judgments
    assert {note.picture_id: note for note in found.annotations} == {n.picture_id: n for n in made.annotations}
    assert {task.id: task.text for task in found.tasks.values()} == {t.id: t.text for t in made.tasks.values()}
    for picture in found.corpus.pictures.values():
        place = picture_path(picture.uri, tmp_path)
        original = picture_path(made.corpus.pictures[picture.id].uri, tmp_path)
        assert place is not None and original is not None
        assert sha256_of(place) == sha256_of(original)
        assert picture.rights == replace(made.corpus.pictures[picture.id].rights, source=None)


def test_the_seed_comes_first(tmp_path: Path) -> None:
    made = with_pictures(tmp_path)
    turned = {
        query: Relevance(dict(reversed(list(found.grades.items()))))
        for query, found in made.truth.items()
        if isinstance(found, Relevance)
    }
    path = write(replace(made, truth=turned), tmp_path / "rows.jsonl", name="benchmaker-rows")
    rows = rows_of(path)
    assert rows[0]["query_id"] == "query_001" and rows[0]["image_id"] == "sage/b c.jpg"
    rows[0]["relevance_label"] = 0
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    imported = read(path, name="benchmaker-rows")
    assert imported.warnings == (
        '1 query has a first row that is not relevant, and so no seed, for example "query_001"',
    )
    assert isinstance(imported.content, Benchmark)
    assert {c.tier for c in imported.content.candidates if c.task == "query_001"} == {"pooled"}


def test_missing_pictures_and_odd_columns(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    made = content(make(tmp_path / "files"))
    odd = [replace(made.annotations[0], extra={"when": {"year": 2020}, "n": 3}), *made.annotations[1:]]
    with caplog.at_level(logging.WARNING):
        folder = write(replace(made, annotations=tuple(odd)), tmp_path / "out", name="benchmaker-rows")
    assert "3 pictures are not here" in caplog.text
    metadata = json.loads((folder / "dataset_metadata.json").read_text())
    assert metadata["missing_images"] == 3 and metadata["total_rows"] == 5 and metadata["columns"][-1] == "image"
    notes = {note.picture_id: note for note in content(folder, name="benchmaker-rows").annotations}
    assert notes["sage/a.jpg"].extra == {"when": '{"year":2020}', "n": 3}


def test_no_rows(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no Parquet, Arrow or JSONL file"):
        read(tmp_path, name="benchmaker-rows")


@pytest.mark.slow
def test_the_real_datasets_library_reads_the_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets", reason="the real loader is not installed")
    made = with_pictures(tmp_path)
    folder = write(made, tmp_path / "out", name="benchmaker-rows")
    found = datasets.load_dataset(str(folder), split="train", cache_dir=str(tmp_path / "cache"))
    assert len(found) == 5 and isinstance(found.features["image"], datasets.Image)
    assert found[0]["image"].size == (48, 32) and found[0]["image_id"] == "sage/b c.jpg"
    assert found[0]["confidence"] == {"lighting": 0.9, "boat_visible": 0.5} and found[0]["tags"] == ["sea", "calm"]
    # And back: what `save_to_disk` lays down, as benchmaker does.
    found.save_to_disk(str(tmp_path / "hf" / "dataset"))
    again = content(tmp_path / "hf", name="benchmaker-rows")
    assert again.truth == made.truth and again.candidates == made.candidates
