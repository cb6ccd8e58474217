"""ImageNet-Think's rows as describe tasks, from Parquet and JSON lines, and LLaVA conversations."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.formats.format_tools import exporting, importing
from pictures import random_picture
from sightline.benchmark.folder import read_benchmark, write_benchmark
from sightline.benchmark.formats import FormatOptions
from sightline.benchmark.formats.imagenet_think import PROMPT
from sightline.benchmark.formats.parquet import IMAGE, write_file
from sightline.benchmark.problems import ProblemsError
from sightline.benchmark.validation import validate_benchmark
from sightline.errors import UserError
from sightline.exchange import import_files
from sightline.io.files import picture_path
from sightline.types import Benchmark, Corpus, Picture, PictureRef, Task, Trace, Traces

FORMAT = "imagenet-think"
LLAVA = "llava"
NAME = "n00005787_n00005787_11054.JPEG"


def row(**changes: Any) -> dict[str, Any]:
    made = {
        "id": "n00005787_11054",
        "image": NAME,
        "prompt": "Describe it.",
        "think_1": "I see water.",
        "answer_1": "A diver.",
        "model_1": "GLM",
        "think_2": "Blue.",
        "answer_2": "Someone dives.",
        "model_2": "Kimi",
    } | changes
    return {key: value for key, value in made.items() if value is not ...}


def save(folder: Path, *rows: Any) -> Path:
    (folder / "rows.jsonl").write_bytes(b"".join(orjson.dumps(one) + b"\n" for one in rows))
    return folder / "rows.jsonl"


def read(path: Path, **options: Any) -> Benchmark:
    content = importing(FORMAT, path, FormatOptions(**options)).content
    assert isinstance(content, Benchmark)
    return content


def test_what_a_row_becomes(tmp_path: Path) -> None:
    found = read(save(tmp_path, row(score=0.5)))
    assert found.tasks == {
        "n00005787_11054": Task(
            "n00005787_11054",
            "describe",
            ("Describe it.", PictureRef(NAME)),
            labels={"synset": ("n00005787",)},
            extra={"score": 0.5},
        )
    }
    assert found.truth["n00005787_11054"] == Traces(
        (Trace("I see water.", "A diver.", "GLM"), Trace("Blue.", "Someone dives.", "Kimi"))
    )
    assert picture_path(found.corpus.pictures[NAME].uri, tmp_path) == tmp_path / NAME


@pytest.mark.parametrize("spelt", ["think_{}", "thinking_{}", "think{}", "thinking{}"])
def test_thinking_columns_have_several_usual_names(tmp_path: Path, spelt: str) -> None:
    given_ = row(**{"think_1": ..., "think_2": ...} | {spelt.format(1): "one", spelt.format(2): "two"})
    found = read(save(tmp_path, given_))
    (truth,) = found.truth.values()
    assert isinstance(truth, Traces)
    assert [trace.thinking for trace in truth.references] == ["one", "two"]
    assert next(iter(found.tasks.values())).extra == {}


def test_columns_can_be_mapped(tmp_path: Path) -> None:
    given_ = {"key": 5, "glm_thoughts": "one", "glm": "first", "answer_3": "third", "file": NAME}
    columns = {"id": "key", "image": "file", "think_1": "glm_thoughts", "answer_1": "glm"}
    found = read(save(tmp_path, given_), columns=columns)
    assert found.truth["5"] == Traces((Trace("one", "first"), Trace("", "third")))
    assert found.tasks["5"] == Task(
        "5", "describe", (PROMPT, PictureRef(NAME)), labels={"synset": ("n00005787",)}, extra={}
    )


@pytest.mark.parametrize(
    ("image", "synset"),
    [("n01440764_18.JPEG", "n01440764"), ("data/n01440764/x.jpg", "unlabelled"), ("x.jpg", "unlabelled")],
)
def test_the_synset_comes_from_the_name(tmp_path: Path, image: str, synset: str) -> None:
    found = read(save(tmp_path, row(id="plain", image=image)))
    assert found.tasks["plain"].labels == {"synset": (synset,)}


def test_ids_and_pictures_stand_in_for_each_other(tmp_path: Path) -> None:
    found = read(save(tmp_path, row(id=...), row(id="n01440764_7", image=...)))
    assert list(found.tasks) == ["n00005787_n00005787_11054", "n01440764_7"]
    assert list(found.corpus.pictures) == [NAME, "n01440764_7"]
    assert found.tasks["n01440764_7"].labels == {"synset": ("n01440764",)}


@pytest.mark.parametrize(
    ("changes", "field", "message"),
    [
        ({"id": ..., "image": ...}, "id", "expected an id, or the path of a picture"),
        ({}, "id", "is there twice"),
        ({"id": "x", "think_1": 5}, "think_1", "expected text, got 5"),
        ({"id": "x", "prompt": ["x"]}, "prompt", "expected text"),
        (
            {"id": "x", "think_1": None, "answer_1": None, "think_2": None, "answer_2": None},
            "answer_1",
            "expected think_n and answer_n for at least one n",
        ),
    ],
)
def test_a_wrong_line_is_refused_with_its_place(
    tmp_path: Path, changes: dict[str, Any], field: str, message: str
) -> None:
    path = save(tmp_path, row(), row(**changes))
    with pytest.raises(ProblemsError) as refused:
        read(path)
    (problem,) = refused.value.problems
    assert (problem.file, problem.line, problem.field) == (str(path), 2, field)
    assert message in problem.message
    assert len(importing(FORMAT, path, FormatOptions(keep_going=True)).problems) == 1


def test_a_pair_that_is_missing_is_passed_over(tmp_path: Path) -> None:
    found = read(save(tmp_path, row(think_1=None, answer_1=None, answer_2=None)))
    assert list(found.truth.values()) == [Traces((Trace("Blue.", "", "Kimi"),))]


def test_a_folder_of_lines_and_a_limit(tmp_path: Path) -> None:
    save(tmp_path, *(row(id=str(number)) for number in range(5)))
    assert list(read(tmp_path, limit=2).tasks) == ["0", "1"]


# --- Parquet -----------------------------------------------------------------------------------------------


def test_pictures_inside_parquet_stay_there_unless_asked_for(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="reading Parquet needs pyarrow")
    columns: dict[str, Any] = dict.fromkeys(row(), "string") | {"image": IMAGE}
    rows = [
        row(image={"bytes": b"\xff\xd8\xffone", "path": NAME}),
        row(id="plain", image={"bytes": b"\x89PNG\r\n\x1a\n", "path": None}),
    ]
    write_file(tmp_path / "train-00000.parquet", columns, rows)
    summary = import_files("imagenet-think", tmp_path, tmp_path / "bench")
    assert (summary.tasks, summary.pictures, summary.missing_pictures) == (2, 2, 2)
    assert summary.labels == {"synset": {"n00005787": 1, "unlabelled": 1}}
    assert summary.warnings == ("2 pictures are inside the table; add --option extract=DIR to have them as files",)
    options = {"extract": str(tmp_path / "out")}
    assert import_files("imagenet-think", tmp_path, tmp_path / "other", options=options).missing_pictures == 0
    assert validate_benchmark(tmp_path / "other", check_pictures=True) == ()
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [NAME, "plain.png"]
    assert b"\xff\xd8\xffone" not in b"".join(path.read_bytes() for path in (tmp_path / "bench").iterdir())


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.parquet", "folder"])
def test_rows_come_back(tmp_path: Path, name: str) -> None:
    if name != "rows.jsonl":
        pytest.importorskip("pyarrow", reason="writing Parquet needs pyarrow")
    first = read(save(tmp_path, row(score=0.5), row(id="x", think_2=None, answer_2=None, model_2=None, model_1=None)))
    exporting(FORMAT, first, tmp_path / "again" / name if name == "folder" else tmp_path / name, FormatOptions())
    found = read(tmp_path / "again" / name if name == "folder" else tmp_path / name)
    assert found.truth == first.truth
    assert [task.prompt for task in found.tasks.values()] == [task.prompt for task in first.tasks.values()]
    assert found.tasks["n00005787_11054"].extra == {"score": 0.5}


@pytest.mark.parametrize("boxes", [[[0.1, 0.2]], {"dog": 1}, [1, "two"]])
def test_values_without_a_type_of_parquet_are_json_text(tmp_path: Path, boxes: object) -> None:
    pq = pytest.importorskip("pyarrow.parquet", reason="reading Parquet needs pyarrow")
    exporting(FORMAT, read(save(tmp_path, row(boxes=boxes))), tmp_path / "out.parquet", FormatOptions())
    (found,) = pq.read_table(tmp_path / "out.parquet").to_pylist()
    assert orjson.loads(found["boxes"]) == boxes


def test_columns_are_those_of_the_data_set(tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet", reason="reading Parquet needs pyarrow")
    exporting(FORMAT, read(save(tmp_path, row())), tmp_path / "out.parquet", FormatOptions())
    table = pq.read_table(tmp_path / "out.parquet")
    assert table.column_names == list(row()) and table.to_pylist() == [row()]
    exporting(
        FORMAT, read(save(tmp_path, row())), tmp_path / "out.parquet", FormatOptions(columns={"think_1": "thinking_1"})
    )
    assert "thinking_1" in pq.read_schema(tmp_path / "out.parquet").names


def test_the_samples_come_back(sampled: Benchmark, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="writing Parquet needs pyarrow")
    exporting(FORMAT, sampled, tmp_path / "out.parquet", FormatOptions(extra={"pictures": "embed"}))
    found = read(tmp_path / "out.parquet", extra={"extract": str(tmp_path / "pictures")})
    describe = {name: task for name, task in sampled.tasks.items() if task.kind == "describe"}
    assert {name: task.prompt for name, task in found.tasks.items()} == {n: t.prompt for n, t in describe.items()}
    assert found.truth == {name: sampled.truth[name] for name in describe}
    for name, picture in found.corpus.pictures.items():
        assert picture.sha256 == sampled.corpus.pictures[name].sha256


@pytest.mark.slow
def test_the_real_loader_reads_parts_and_pictures(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets", reason="the datasets library is not installed")
    (tmp_path / "pictures").mkdir()
    random_picture(0).save(tmp_path / "pictures" / NAME)
    first = read(save(tmp_path / "pictures", row(), row(id="x")))
    exporting(FORMAT, first, tmp_path / "out", FormatOptions(extra={"pictures": "embed"}))
    loaded = datasets.load_dataset(str(tmp_path / "out"), split="train", cache_dir=str(tmp_path / "cache"))
    assert loaded.column_names == list(row()) and loaded["answer_2"] == ["Someone dives."] * 2
    assert loaded[0]["image"].size == random_picture(0).size


words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
traces = st.builds(Trace, words | st.just(""), words | st.just(""), st.none() | words)


@settings(deadline=None, max_examples=40)
@given(st.dictionaries(words, st.lists(traces, min_size=1, max_size=3), min_size=1, max_size=3))
def test_any_traces_come_back_equal(given_: dict[str, list[Trace]]) -> None:
    tasks = {name: Task(name, "describe", (PROMPT, PictureRef("x.jpg"))) for name in given_}
    with TemporaryDirectory() as temporary:
        path = save(Path(temporary), row(image="x.jpg"))
        corpus = read(path).corpus
        truth = {name: Traces(tuple(found)) for name, found in given_.items()}
        exporting(FORMAT, Benchmark("any", corpus, tasks, truth), path, FormatOptions())
        assert read(path).truth == truth


# --- LLaVA -------------------------------------------------------------------------------------------------


def conversations(path: Path, benchmark: Benchmark, **extra: str) -> list[Any]:
    exporting(LLAVA, benchmark, path, FormatOptions(extra=extra))
    content = path.read_bytes()
    found = [orjson.loads(line) for line in content.splitlines()] if path.suffix == ".jsonl" else orjson.loads(content)
    assert isinstance(found, list)
    return found


def test_llava_conversations(tmp_path: Path) -> None:
    found = read(save(tmp_path, row()))
    expected = {
        "id": "n00005787_11054",
        "image": NAME,
        "conversations": [
            {"from": "human", "value": "Describe it.\n<image>"},
            {"from": "gpt", "value": "Someone dives."},
        ],
    }
    assert conversations(tmp_path / "chat.json", found, answer="2") == [expected]
    assert conversations(tmp_path / "chat.jsonl", found, answer="2") == [expected]
    (first,) = conversations(tmp_path / "chat.json", found, think="true")
    assert first["conversations"][1]["value"] == "<think>I see water.</think>\nA diver."


def test_what_llava_can_not_have_is_refused(tmp_path: Path) -> None:
    found = read(save(tmp_path, row()))
    for extra, message in (
        ({"answer": "3"}, "has 2 references, not 3"),
        ({"answer": "0"}, "is not the number of a reference"),
        ({"think": "maybe"}, "choose from false, true"),
        ({"thinking": "true"}, 'Did you mean "think"'),
    ):
        with pytest.raises(UserError, match=message):
            conversations(tmp_path / "chat.json", found, **extra)
    assert not (tmp_path / "chat.json").exists()


def test_pictures_of_a_benchmark_lie_where_it_has_them(tmp_path: Path) -> None:
    (tmp_path / "b/pics").mkdir(parents=True)
    file = tmp_path / "b/pics/bild 1 ü.jpg"
    random_picture(1).save(file)
    pictures = {
        "q/1": Picture("q/1", "pics/bild 1 ü.jpg"),
        "q/2": Picture("q/2", "https://example.org/2.jpg"),
    }
    write_benchmark(Benchmark("b", Corpus("b", pictures), {}, {}), tmp_path / "b", force=True)
    rows = save(tmp_path, *(row(id=name, image=name) for name in ("q/1", "q/2", "q/3")))
    found = import_files("imagenet-think", rows, tmp_path / "out", pictures=tmp_path / "b")
    assert found.missing_pictures == 1
    addresses = {name: one.uri for name, one in read_benchmark(tmp_path / "out").corpus.pictures.items()}
    assert picture_path(addresses["q/1"], tmp_path / "out") == file
    assert addresses["q/2"] == "https://example.org/2.jpg"
    (tmp_path / "b/pictures.jsonl").write_text('{"id": "q/1"}\n')
    with pytest.raises(ProblemsError, match="uri"):
        import_files("imagenet-think", rows, tmp_path / "again", pictures=tmp_path / "b")
