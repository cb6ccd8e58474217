"""MIR's records: interleaved prompts, options and captions in each form, labels, and the way back."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.formats.format_tools import exporting, importing
from sightline.benchmark.folder import read_benchmark, write_benchmark
from sightline.benchmark.formats import FormatOptions
from sightline.benchmark.formats.mir import SUBTASKS
from sightline.benchmark.problems import ProblemsError
from sightline.benchmark.validation import validate_benchmark
from sightline.errors import UserError
from sightline.exchange import import_files
from sightline.io.files import picture_path
from sightline.types import Benchmark, Choice, Option, PictureRef, Step, Task

FORMAT = "mir"


def record(**changes: Any) -> dict[str, Any]:
    return {
        "images": ["images/a.jpg", "images/b.jpg"],
        "question": "First <image> then <image>. Which way does it go?",
        "options": ["left", "right"],
        "summary": "Two frames.",
        "caption": ["A boat.", "The boat again."],
        "text2img": "The boat is here.",
        "img2img": "It is farther to the right.",
        "conclusion": "B",
    } | changes


def save(folder: Path, records: Any) -> Path:
    (folder / "all_data_rel.json").write_bytes(orjson.dumps(records))
    return folder


def read(path: Path, **options: Any) -> Benchmark:
    content = importing(FORMAT, path, FormatOptions(**options)).content
    assert isinstance(content, Benchmark)
    return content


def test_what_a_record_becomes(tmp_path: Path) -> None:
    found = read(save(tmp_path, [record(source="own")]))
    first, second = PictureRef("images/a.jpg"), PictureRef("images/b.jpg")
    assert found.tasks == {
        "1": Task(
            "1",
            "choose",
            ("First ", first, " then ", second, ". Which way does it go?"),
            options=(Option("A", ("left",)), Option("B", ("right",))),
            labels={"category": ("unlabelled",), "subtask": ("unlabelled",)},
            extra={"source": "own", "mir": {"options": "list", "caption": "list"}},
        )
    }
    assert found.truth["1"] == Choice(
        "B",
        steps=(
            Step("summary", "Two frames."),
            Step("caption", "A boat.", (first,)),
            Step("caption", "The boat again.", (second,)),
            Step("text-to-region", "The boat is here."),
            Step("region-to-region", "It is farther to the right."),
            Step("conclusion", "B"),
        ),
    )
    place = picture_path(found.corpus.pictures["images/a.jpg"].uri, tmp_path)
    assert place == tmp_path / "images" / "a.jpg"
    assert write_benchmark(found, tmp_path / "bench") and {
        problem.field for problem in validate_benchmark(tmp_path / "bench")
    } == {"uri"}


@pytest.mark.parametrize(
    ("given_", "keys", "texts"),
    [
        (["left", "right"], "AB", ["left", "right"]),
        (["A. left", "B. right"], "AB", ["left", "right"]),
        (["(A) left", "(B) right"], "AB", ["left", "right"]),
        (["A: left", "B: right"], "AB", ["left", "right"]),
        (["A、左", "B、右"], "AB", ["左", "右"]),
        (["A cat", "B flat"], "AB", ["A cat", "B flat"]),
        (["A. left", "right"], "AB", ["A. left", "right"]),
        ({"A": "left", "B": "right"}, "AB", ["left", "right"]),
        ({"1": "left", "2": "right"}, "12", ["left", "right"]),
        ([3, 4.5], "AB", ["3", "4.5"]),
    ],
)
def test_options_in_each_form(tmp_path: Path, given_: Any, keys: str, texts: list[str]) -> None:
    records = [record(options=given_, conclusion=keys[1])]
    task = read(save(tmp_path, records)).tasks["1"]
    assert [(option.key, option.text) for option in task.options] == list(zip(keys, texts, strict=True))
    exporting(FORMAT, read(tmp_path), tmp_path / "again.json", FormatOptions())
    (again,) = orjson.loads((tmp_path / "again.json").read_bytes())
    assert again["options"] == (given_ if isinstance(given_, dict) else [str(text) for text in given_])


@pytest.mark.parametrize(
    ("said", "key"),
    [
        ("B", "B"),
        ("b", "B"),
        (" B ", "B"),
        ("B.", "B"),
        ("(B)", "B"),
        ("right", "B"),
        ("Right", "B"),
        ("B. right", "B"),
        ("The answer is B.", "B"),
        ("<conclusion>B</conclusion>", "B"),
    ],
)
def test_a_conclusion_is_a_key_or_a_text(tmp_path: Path, said: str, key: str) -> None:
    truth = read(save(tmp_path, [record(conclusion=said)])).truth["1"]
    assert isinstance(truth, Choice)
    assert truth.option == key and truth.steps[-1] == Step("conclusion", said)


@pytest.mark.parametrize(
    ("caption", "steps"),
    [
        ("Both show a boat.", [Step("caption", "Both show a boat.")]),
        (["Both show a boat."], [Step("caption", "Both show a boat.")]),
        ([], []),
        ("", []),
        (None, []),
    ],
)
def test_captions_in_each_form(tmp_path: Path, caption: Any, steps: list[Step]) -> None:
    truth = read(save(tmp_path, [record(caption=caption)])).truth["1"]
    assert isinstance(truth, Choice)
    assert [step for step in truth.steps if step.kind == "caption"] == steps


def test_pictures_as_options_and_a_reasoning(tmp_path: Path) -> None:
    options = ["<image>", "the other <image>"]
    found = read(save(tmp_path, [record(question="Which?", options=options, reasoning="Compare.", conclusion="A")]))
    assert found.tasks["1"].prompt == ("Which?",)
    assert [option.content for option in found.tasks["1"].options] == [
        (PictureRef("images/a.jpg"),),
        ("the other ", PictureRef("images/b.jpg")),
    ]
    truth = found.truth["1"]
    assert isinstance(truth, Choice) and truth.steps[0] == Step("think", "Compare.")


def test_a_known_subtask_implies_its_category(tmp_path: Path) -> None:
    names = [(category, name) for category, names in SUBTASKS.items() for name in names]
    records = [record(task_type=name) for _, name in names]
    records += [record(task_type="yes but satire"), record(task_type="Juggling"), record(task_type=None)]
    tasks = read(save(tmp_path, records), columns={"subtask": "task_type"}).tasks.values()
    labels = [(task.labels["category"][0], task.labels["subtask"][0]) for task in tasks]
    assert labels[:12] == names
    assert labels[12:] == [("Analytical", "yes but satire"), ("unlabelled", "Juggling"), ("unlabelled",) * 2]


def test_a_category_can_be_mapped(tmp_path: Path) -> None:
    found = read(save(tmp_path, [record(kind="Temporal", subtask="3D View")]), columns={"category": "kind"})
    assert found.tasks["1"].labels == {"category": ("Temporal",), "subtask": ("3D View",)}


def test_import_counts_labels_and_pictures_once(tmp_path: Path) -> None:
    save(tmp_path, [record(id="x", subtask="3D View"), record(id="y"), record(id=5)])
    (tmp_path / "images.zip").write_bytes(b"PK")
    summary = import_files("mir", tmp_path, tmp_path / "bench")
    assert (summary.tasks, summary.pictures, summary.missing_pictures) == (3, 2, 2)
    assert summary.labels["category"] == {"unlabelled": 2, "Spatial": 1}
    assert "still packed" in summary.warnings[0]
    assert list(read_benchmark(tmp_path / "bench").tasks) == ["x", "y", "5"]


WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"question": "One <image> only"}, "question", "expected as many <image> as there are images (2), got 1"),
    ({"images": ["a", "b", "c"]}, "question", "expected as many <image> as there are images (3), got 2"),
    ({"images": "a.jpg"}, "images", "expected a list of paths, got 'a.jpg'"),
    ({"images": ["a", None]}, "images", "expected a list of paths"),
    ({"question": None}, "question", "expected text, but it is not there"),
    ({"options": None}, "options", "expected a list of up to 26 options, or a mapping"),
    ({"options": []}, "options", "expected a list of up to 26 options, or a mapping"),
    ({"options": ["x", ["y"]]}, "options.1", "expected text, got ['y']"),
    ({"conclusion": "D"}, "conclusion", "expected one of A, B or an option's text, got 'D'"),
    ({"conclusion": None}, "conclusion", "expected text, but it is not there"),
    ({"caption": [1]}, "caption", "expected text or a list of texts"),
    ({"summary": 5}, "summary", "expected text, got 5"),
    ({"id": "1"}, "id", '"1" is there twice'),
]


@pytest.mark.parametrize(("changes", "field", "message"), WRONG)
def test_a_wrong_record_is_refused_with_its_number(
    tmp_path: Path, changes: dict[str, Any], field: str, message: str
) -> None:
    records = [record(), record(**changes), record(options=5)]
    with pytest.raises(ProblemsError) as refused:
        read(save(tmp_path, records))
    (problem,) = refused.value.problems
    assert str(problem).startswith(f"{tmp_path / 'all_data_rel.json'}, record 2, {field}: ")
    assert message in problem.message
    imported = importing(FORMAT, tmp_path, FormatOptions(keep_going=True))
    assert isinstance(imported.content, Benchmark)
    assert list(imported.content.tasks) == ["1"] and len(imported.problems) == 2


@pytest.mark.parametrize(("changes", "field", "message"), WRONG[:2])
def test_in_json_lines_it_is_the_line(tmp_path: Path, changes: dict[str, Any], field: str, message: str) -> None:
    path = tmp_path / "mir.jsonl"
    path.write_bytes(b"".join(orjson.dumps(one) + b"\n" for one in (record(), record(**changes))))
    with pytest.raises(ProblemsError) as refused:
        read(path)
    (problem,) = refused.value.problems
    assert (problem.line, problem.field) == (2, field) and message in problem.message


def test_what_is_no_list_of_records_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is not a list of records"):
        read(save(tmp_path, {"data": []}))
    with pytest.raises(ProblemsError, match="record 1: expected an object, got 'x'"):
        read(save(tmp_path, ["x"]))


# --- out ---------------------------------------------------------------------------------------------------


def test_records_come_back_exactly(tmp_path: Path) -> None:
    records = [
        record(source="own"),
        record(options={"A": "left", "B": "right"}, caption="A boat.", conclusion="right", category="Spatial"),
        record(id="x", options=["A. left", "B. right"], caption=["A boat."], reasoning="Compare.", subtask="3D View"),
    ]
    # A known subtask brings its category along.
    expected = [*records[:2], records[2] | {"category": "Spatial"}]
    for name in ("again.json", "again.jsonl"):
        exporting(FORMAT, read(save(tmp_path, records)), tmp_path / name, FormatOptions())
    assert orjson.loads((tmp_path / "again.json").read_bytes()) == expected
    assert [orjson.loads(line) for line in (tmp_path / "again.jsonl").read_bytes().splitlines()] == expected


def test_the_samples_come_back(sampled: Benchmark, tmp_path: Path) -> None:
    exporting(FORMAT, sampled, tmp_path / "out", FormatOptions())
    found = read(tmp_path / "out")
    choose = {name: task for name, task in sampled.tasks.items() if task.kind == "choose"}
    assert found.tasks.keys() == choose.keys()
    for name, task in choose.items():
        again = found.tasks[name]
        assert (again.text, again.pictures, again.labels) == (task.text, task.pictures, task.labels)
        assert again.options == task.options
        truth, before = found.truth[name], sampled.truth[name]
        assert isinstance(truth, Choice) and isinstance(before, Choice)
        assert truth.option == before.option
        texts = [(step.kind, step.text) for step in before.steps]
        assert [(step.kind, step.text) for step in truth.steps[:-1]] == texts[:-1]
        assert truth.steps[-1].text in (texts[-1][1], f"{truth.option}. {texts[-1][1]}")
    assert import_files("mir", tmp_path / "out", tmp_path / "bench").missing_pictures == 0


def test_a_text_that_looks_like_a_picture_is_refused(sampled: Benchmark, tmp_path: Path) -> None:
    task = Task("t", "choose", ("What is <image>?",), options=(Option("A", ("a tag",)),))
    wrong = Benchmark("b", sampled.corpus, {"t": task}, {"t": Choice("A")})
    with pytest.raises(UserError, match='task "t" has <image> in its words'):
        exporting(FORMAT, wrong, tmp_path / "out.json", FormatOptions())


words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=10).filter(lambda text: "<" not in text)
paths = st.text("abc/.", min_size=1, max_size=6)


@st.composite
def records_(draw: st.DrawFn) -> dict[str, Any]:
    images = draw(st.lists(paths, max_size=3))
    pieces = [draw(words) for _ in range(len(images) + 1)]
    texts = draw(st.lists(words, min_size=2, max_size=4))
    keys = "ABCD"[: len(texts)]
    made: dict[str, Any] = {
        "images": images,
        "question": "<image>".join(pieces),
        "options": draw(st.sampled_from([texts, dict(zip(keys, texts, strict=True))])),
        "conclusion": draw(st.sampled_from(keys)),
    }
    for field in ("summary", "text2img", "img2img", "reasoning", "category"):
        if draw(st.booleans()):
            made[field] = draw(words)
    if draw(st.booleans()):
        made["caption"] = draw(words | st.lists(words, min_size=1, max_size=3))
    return made


@settings(deadline=None, max_examples=60)
@given(st.lists(records_(), min_size=1, max_size=3))
def test_any_records_come_back_equal(given_: list[dict[str, Any]]) -> None:
    with TemporaryDirectory() as temporary:
        folder = save(Path(temporary), given_)
        exporting(FORMAT, read(folder), folder / "again.json", FormatOptions())
        assert orjson.loads((folder / "again.json").read_bytes()) == given_
