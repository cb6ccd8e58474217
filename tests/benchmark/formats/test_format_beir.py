"""BEIR folders: ours come back and are read by the real loader; theirs are read, and what is wrong is named."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.formats.retrieval_samples import PICTURES, other_tasks, rank_benchmark
from sightline.benchmark.formats import FormatOptions, Imported, find_format
from sightline.benchmark.formats.pictures import FIELDS, from_fields, to_fields
from sightline.benchmark.problems import ProblemsError
from sightline.errors import UserError
from sightline.types import Annotation, Benchmark, Group, Picture, PictureRef, Relevance, Scope, Task
from sightline.types.task_table import Tasks
from strategies import pictures

BEIR = find_format("beir")
NO_OPTIONS = FormatOptions()


def read(folder: Path, options: FormatOptions = NO_OPTIONS) -> Imported:
    assert BEIR.read is not None
    return BEIR.read(folder, options)


def content(folder: Path, options: FormatOptions = NO_OPTIONS) -> Benchmark:
    found = read(folder, options).content
    assert isinstance(found, Benchmark)
    return found


def write(benchmark: Benchmark, folder: Path, options: FormatOptions = NO_OPTIONS) -> Path:
    assert BEIR.write is not None
    BEIR.write(benchmark, folder, options)
    return folder


def hand_made(folder: Path, **files: str) -> Path:
    """A small BEIR folder; `files` replace its content."""
    usual = {
        "corpus": '{"_id": "d1", "title": "Cat", "text": "A cat.", "metadata": {}}\n'
        '{"_id": "d2", "title": "", "text": "", "image": "pictures/d2.jpg", "lat": 52.5, "width": "wide"}\n',
        "queries": '{"_id": 1, "text": "a cat", "metadata": {"year": 2020}}\n{"_id": "q2", "text": "never asked"}\n',
        "test": "query-id\tcorpus-id\tscore\n1\td1\t1\n1\td2\t0\n",
    }
    (folder / "qrels").mkdir(parents=True, exist_ok=True)
    for name, text in (usual | files).items():
        place = folder / "qrels" / f"{name}.tsv" if name in ("test", "dev") else folder / f"{name}.jsonl"
        place.write_text(text, "utf-8")
    return folder


# --- theirs ------------------------------------------------------------------------------------------------


def test_a_folder_of_theirs(tmp_path: Path) -> None:
    imported = read(hand_made(tmp_path / "scifact"))
    found = imported.content
    assert isinstance(found, Benchmark) and found.name == "scifact"
    assert found.tasks == {"1": Task("1", "rank", ("a cat",), extra={"metadata": {"year": 2020}})}
    assert found.truth == {"1": Relevance({"d1": 1, "d2": 0})}
    assert found.corpus.pictures["d1"].extra == {"title": "Cat", "text": "A cat.", "metadata": {}}
    second = found.corpus.pictures["d2"]
    assert second.uri == (tmp_path / "scifact" / "pictures" / "d2.jpg").as_uri()
    assert second.lat == 52.5 and second.width is None and second.extra == {"width": "wide"}
    assert imported.warnings == ("1 query has no judgment in test.tsv; left out",)


def test_splits(tmp_path: Path) -> None:
    folder = hand_made(tmp_path, dev="query-id\tcorpus-id\tscore\nq2\td1\t1\n")
    assert set(content(folder).tasks) == {"1"}
    assert set(content(folder, FormatOptions(split="dev")).tasks) == {"q2"}
    with pytest.raises(UserError, match='has no split "train"') as raised:
        read(folder, FormatOptions(split="train"))
    assert raised.value.fix == "choose with --split: dev, test"


def test_what_is_judged_but_not_in_the_corpus(tmp_path: Path) -> None:
    imported = read(hand_made(tmp_path, test="query-id\tcorpus-id\tscore\n1\td9\t1\n"))
    assert isinstance(imported.content, Benchmark) and "d9" in imported.content.corpus.pictures
    assert imported.warnings[0] == '1 judged picture is not in corpus.jsonl: "d9"; taken in by id'


def test_columns_with_other_names(tmp_path: Path) -> None:
    folder = hand_made(tmp_path, corpus='{"id": "d1", "file": "a.jpg"}\n', queries='{"id": "1", "text": "x"}\n')
    found = content(folder, FormatOptions(columns={"_id": "id", "image": "file"}))
    assert found.corpus.pictures["d1"].uri.endswith("/a.jpg")


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"corpus": '{"_id": ""}\n'}, "corpus.jsonl, line 1, _id: expected an id, got ''"),
        ({"corpus": '{"_id": "a"}\n{"_id": "a"}\n'}, 'corpus.jsonl, line 2, _id: "a" is there twice'),
        ({"corpus": '{"_id": "a", "image": 5}\n'}, "corpus.jsonl, line 1, image: expected text, got 5"),
        ({"corpus": "[]\n"}, "corpus.jsonl, line 1: expected an object, got []"),
        ({"corpus": '{"_id": \n'}, "corpus.jsonl, line 1: expected one JSON value"),
        ({"queries": '{"_id": "1"}\n'}, "queries.jsonl, line 1, text: expected text, but it is not there"),
        ({"queries": '{"_id": "1", "image": [7]}\n'}, "queries.jsonl, line 1, image.0: expected an id, got 7"),
        ({"test": "h\th\th\n1\td1\n"}, "test.tsv, line 2: expected query-id, corpus-id and score with tabs"),
        ({"test": "h\th\th\n1\td1\tx\n"}, 'test.tsv, line 2, score: expected a whole number, got "x"'),
        ({"test": "h\th\th\n1\td1\t1\n1\td1\t2\n"}, 'test.tsv, line 3, grade: "d1" has grade 1 for query "1"'),
        ({"test": "h\th\th\nq7\td1\t1\n"}, 'test.tsv, query-id: "q7" is not in queries.jsonl'),
    ],
)
def test_wrong_lines(tmp_path: Path, files: dict[str, str], message: str) -> None:
    folder = hand_made(tmp_path, **files)
    with pytest.raises(ProblemsError) as raised:
        read(folder)
    assert message in str(raised.value)
    assert message in "\n".join(map(str, read(folder, FormatOptions(keep_going=True)).problems))


def test_what_is_not_a_beir_folder(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has no qrels/"):
        read(tmp_path)
    (hand_made(tmp_path) / "corpus.jsonl").unlink()
    with pytest.raises(UserError, match=r"has no corpus\.jsonl"):
        read(tmp_path)


# --- ours --------------------------------------------------------------------------------------------------


def test_what_the_format_holds_comes_back(tmp_path: Path) -> None:
    made = rank_benchmark(tmp_path / "pictures")
    imported = read(write(made, tmp_path / "small"))
    found = imported.content
    assert isinstance(found, Benchmark) and imported.warnings == ()
    assert found.corpus.pictures == made.corpus.pictures
    assert found.tasks == made.tasks and found.truth == made.truth and found.name == made.name


def test_prompts_with_pictures_and_scopes(tmp_path: Path) -> None:
    made = rank_benchmark(tmp_path / "pictures")
    scope = Scope(pictures=("Straße/日本.png", "plain.jpg"))
    tasks = {
        "q 1": Task("q 1", "rank", ("like this", PictureRef("plain.jpg"))),
        "q2": Task("q2", "rank", (PictureRef("plain.jpg"), PictureRef("unjudged.jpg")), scope=scope),
        "q%3": made.tasks["q%3"],
    }
    found = content(write(replace(made, tasks=Tasks(tasks)), tmp_path / "out"))
    assert {name: task.prompt for name, task in found.tasks.items()} == {n: t.prompt for n, t in tasks.items()}
    assert set(found.tasks["q2"].scope.pictures) == set(scope.pictures) and found.tasks["q 1"].scope == Scope()
    assert found.corpus.groups == ()


def test_a_query_picture_that_is_not_in_the_corpus(tmp_path: Path) -> None:
    folder = hand_made(tmp_path, queries='{"_id": "1", "text": "like this", "image": "asked.jpg"}\n')
    found = content(folder)
    assert found.tasks["1"].prompt == ("like this", PictureRef("asked.jpg"))
    assert found.tasks["1"].scope == Scope(groups=("corpus",))
    assert found.corpus.groups == (Group("corpus", "dataset", ("d1", "d2")),)


def test_pictures_in_the_folder_have_relative_paths(tmp_path: Path) -> None:
    folder = hand_made(tmp_path / "beir")
    made = rank_benchmark(folder / "pictures")
    write(made, folder)
    rows = [json.loads(line) for line in (folder / "corpus.jsonl").read_text().splitlines()]
    assert rows[1]["image"] == "pictures/plain.jpg"
    assert (folder / "pictures" / "plain.jpg").is_file()
    outside = replace(made.corpus.pictures["plain.jpg"], uri="https://example.org/x.jpg")
    moved = replace(made, corpus=replace(made.corpus, pictures={**made.corpus.pictures, "plain.jpg": outside}))
    assert content(write(moved, tmp_path / "other")).corpus.pictures["plain.jpg"] == outside


def test_a_summary_stands_for_missing_text(tmp_path: Path) -> None:
    made = replace(rank_benchmark(tmp_path, files=False), annotations=(Annotation("plain.jpg", summary="A plain."),))
    folder = write(made, tmp_path / "out")
    rows = {row["_id"]: row for row in map(json.loads, (folder / "corpus.jsonl").read_text().splitlines())}
    assert rows["plain.jpg"]["text"] == "A plain." and rows["unjudged.jpg"]["text"] == ""


def test_nothing_is_partly_written(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no task that looks for pictures"):
        write(other_tasks(rank_benchmark(tmp_path, files=False)), tmp_path / "out")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("keep")
    with pytest.raises(UserError, match="holds other things"):
        write(rank_benchmark(tmp_path, files=False), tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine.txt"]


def test_ids_with_line_breaks_are_refused(tmp_path: Path) -> None:
    made = rank_benchmark(tmp_path, files=False)
    with pytest.raises(UserError, match="has a line break"):
        write(replace(made, truth={"q2": Relevance({"a\nb": 1})}), tmp_path / "out")
    assert not (tmp_path / "out").exists()


@settings(max_examples=60, deadline=None)
@given(pictures())
def test_the_fields_of_a_picture_come_back(picture: Picture) -> None:
    extra = {key: value for key, value in picture.extra.items() if key not in FIELDS and value is not None}
    made = replace(picture, extra=extra)
    found = from_fields(made.id, made.uri, json.loads(json.dumps(to_fields(made))))
    assert found == made


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.sampled_from(FIELDS), st.integers() | st.text(max_size=5) | st.lists(st.none()), max_size=4))
def test_fields_of_another_kind_are_kept(fields: dict[str, Any]) -> None:
    found = from_fields("x", "u", fields)
    assert to_fields(found).keys() >= fields.keys()


# --- the real loader ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_real_beir_reads_it(tmp_path: Path) -> None:
    loader = pytest.importorskip("beir.datasets.data_loader", reason="the real loader is not installed")
    made = rank_benchmark(tmp_path / "pictures", files=False)
    corpus, queries, qrels = loader.GenericDataLoader(str(write(made, tmp_path / "out"))).load(split="test")
    assert list(corpus) == list(PICTURES) and corpus["a b/100%.jpg"]["title"] == "A car"
    assert queries == {name: task.text for name, task in made.tasks.items()}
    assert qrels == {name: truth.grades for name, truth in made.truth.items() if isinstance(truth, Relevance)}
