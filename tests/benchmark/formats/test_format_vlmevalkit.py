"""VLMEvalKit: questions with pictures in base64 or by path, predictions, and our files as pandas reads them."""

from __future__ import annotations

import base64
import csv
import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmark.formats.format_tools import benchmark_in, exporting, importing, picture_bytes, put, run_in
from sightline.benchmark.formats import FormatOptions
from sightline.benchmark.problems import ProblemsError
from sightline.errors import MissingExtraError, UserError
from sightline.io.files import picture_path
from sightline.types import (
    Answer,
    Benchmark,
    Choice,
    Corpus,
    Failure,
    Option,
    Part,
    Picture,
    PictureRef,
    Task,
    Text,
    Truth,
)
from sightline.types.task_table import Tasks

RED, BLUE = picture_bytes("red"), picture_bytes("blue", "JPEG")


def code(content: bytes) -> str:
    return base64.b64encode(content).decode()


def tsv(path: Path, header: str, *rows: Sequence[str]) -> Path:
    text = io.StringIO()
    csv.writer(text, delimiter="\t", lineterminator="\n").writerows([header.split(), *rows])
    return put(path, text.getvalue())


@pytest.fixture
def mmbench(tmp_path: Path) -> Path:
    """Two questions about one picture, the second naming the row of the first, and one with an answer of its own."""
    header = "index image question hint A B C answer category l2-category split source"
    return tsv(
        tmp_path / "MMBench_DEV.tsv",
        header,
        [
            "241",
            code(RED),
            "What colour is it?",
            "Look\nclosely.",
            "red",
            "blue",
            "",
            "A",
            "colour",
            "perception",
            "dev",
            "web",
        ],
        ["252", "241", "Is it blue?", "", "yes", "no", "unsure", "B", "", "perception", "dev", ""],
        ["253", code(BLUE), "What is it?", "", "", "", "", "['a field', 'sky']", "object", "", "test", "web"],
    )


# --- questions in ------------------------------------------------------------------------------------------


def test_rows_become_tasks_with_their_pictures(mmbench: Path) -> None:
    imported = importing("vlmevalkit", mmbench)
    found = imported.content
    assert isinstance(found, Benchmark)
    assert found.name == "MMBench_DEV"
    first = found.tasks["241"]
    assert first.kind == "choose"
    assert first.prompt == (PictureRef("241.png"), "Look\nclosely.\nWhat colour is it?")
    assert first.options == (Option("A", ("red",)), Option("B", ("blue",)))
    assert first.labels == {"category": ("colour",), "l2-category": ("perception",), "split": ("dev",)}
    assert first.extra == {"source": "web", "hint": "Look\nclosely."}
    assert found.truth == {"241": Choice("A"), "252": Choice("B"), "253": Answer("a field", ("sky",))}
    assert found.tasks["252"].pictures == (PictureRef("241.png"),)
    assert found.tasks["252"].labels["category"] == ("unlabelled",)
    assert found.tasks["253"].kind == "answer"
    assert imported.warnings == ("2 pictures are inside the table; add --option extract=DIR to have them as files",)


@pytest.mark.parametrize("by", ["pictures", "extract"])
def test_pictures_are_written_out_only_when_asked_for(mmbench: Path, tmp_path: Path, by: str) -> None:
    target = tmp_path / "out"
    importing("vlmevalkit", mmbench)
    assert not target.exists()
    options = FormatOptions(pictures=target) if by == "pictures" else FormatOptions(extra={"extract": str(target)})
    imported = importing("vlmevalkit", mmbench, options)
    assert imported.warnings == () and isinstance(imported.content, Benchmark)
    assert (target / "241.png").read_bytes() == RED and (target / "253.jpg").read_bytes() == BLUE
    place = picture_path(imported.content.corpus.pictures["253.jpg"].uri, Path())
    assert place == target / "253.jpg"


def test_a_picture_of_the_users_is_never_overwritten(mmbench: Path, tmp_path: Path) -> None:
    mine = put(tmp_path / "mine" / "241.png", BLUE)
    with pytest.raises(ProblemsError, match="is there already, and is another picture"):
        importing("vlmevalkit", mmbench, FormatOptions(pictures=tmp_path / "mine"))
    assert mine.read_bytes() == BLUE


def test_several_pictures_have_names_and_stand_where_they_are_marked(tmp_path: Path) -> None:
    file = tsv(
        tmp_path / "a.tsv",
        "index image image_path question A B answer",
        [
            "1",
            str([code(RED), code(BLUE)]),
            "['x/r.png', 'x/b.jpg']",
            "Is <image 2> darker?",
            "as <image 1>",
            "no",
            "B",
        ],
        ["2", str([code(RED), code(BLUE)]), "", "Compare.", "1", "2", "A"],
    )
    found = benchmark_in("vlmevalkit", file)
    red, blue = PictureRef("x/r.png"), PictureRef("x/b.jpg")
    assert found.tasks["1"].prompt == ("Is ", blue, " darker?")
    assert found.tasks["1"].options[0].content == ("as ", red)
    assert found.tasks["2"].prompt == (red, blue, "Compare.")  # The same content has one id.
    assert set(found.corpus.pictures) == {"x/r.png", "x/b.jpg"}


def test_pictures_by_path_need_not_be_there(tmp_path: Path) -> None:
    row = ["1", "['a.jpg', '/data/b.jpg']", "Which?", "x"]
    found = benchmark_in("vlmevalkit", tsv(tmp_path / "a.tsv", "index image_path question answer", row))
    places = [picture_path(picture.uri, Path()) for picture in found.corpus.pictures.values()]
    assert places == [tmp_path / "a.jpg", Path("/data/b.jpg")]
    assert found.tasks["1"].prompt == (PictureRef("a.jpg"), PictureRef("/data/b.jpg"), "Which?")


def test_columns_splits_and_labels_can_be_chosen(mmbench: Path) -> None:
    tests = benchmark_in("vlmevalkit", mmbench, FormatOptions(split="test"))
    assert set(tests.tasks) == {"253"}
    found = benchmark_in("vlmevalkit", mmbench, FormatOptions(extra={"labels": "source"}))
    assert [task.labels["source"] for task in found.tasks.values()] == [("web",), ("unlabelled",), ("web",)]
    mapped = benchmark_in("vlmevalkit", mmbench, FormatOptions(columns={"question": "source"}, split="test"))
    assert mapped.tasks["253"].text == "web"
    with pytest.raises(UserError, match='no split "val"'):
        importing("vlmevalkit", mmbench, FormatOptions(split="val"))
    with pytest.raises(UserError, match='no column "ask"') as caught:
        importing("vlmevalkit", mmbench, FormatOptions(columns={"question": "ask"}))
    assert "--map question=COLUMN" in str(caught.value.fix)


def test_a_task_without_an_answer_is_kept_and_counted(tmp_path: Path) -> None:
    file = tsv(tmp_path / "a.tsv", "index question A B", ["1", "Which?", "x", "y"])
    imported = importing("vlmevalkit", file)
    assert isinstance(imported.content, Benchmark)
    assert imported.content.truth == {} and set(imported.content.tasks) == {"1"}
    assert imported.warnings == ('1 task has no answer: "1"; they can\'t be scored',)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (["1", "", "Q", "x", "y", "A"], 'line 5, index: "1" is there twice'),
        (["", "", "Q", "x", "y", "A"], "line 5, index: expected an id"),
        (["2", "", "", "x", "y", "A"], "line 5, question: expected text"),
        (["2", "", "Q", "x", "y", "E"], "line 5, answer: expected one of A, B, got 'E'"),
        (["2", "99", "Q", "x", "y", "A"], "line 5, image: expected a picture in base64, or the index of a row"),
        (["2", "!" * 80, "Q", "x", "y", "A"], "line 5, image: expected base64"),
        (["2", code(b"x" * 80), "Q", "x", "y", "A"], "line 5, image: expected a picture: not a picture"),
        (["2", code(RED[:60]), "Q", "x", "y", "A"], "line 5, image: expected a picture: truncated"),
        (["2", "", "Q", "x", "y", "A", "more"], "line 5: expected 6 fields as in the header, got 7"),
    ],
)
def test_a_wrong_row_is_refused_or_left_out(tmp_path: Path, row: list[str], message: str) -> None:
    first, last = ["1", "", "Two\n\nlines?", "x", "y", "A"], ["9", "", "Q", "x", "y", "b"]
    file = tsv(tmp_path / "a.tsv", "index image question A B answer", first, row, last)
    with pytest.raises(ProblemsError) as caught:
        importing("vlmevalkit", file)
    assert f"a.tsv, {message}" in str(caught.value)
    imported = importing("vlmevalkit", file, FormatOptions(keep_going=True))
    assert len(imported.problems) == 1 and isinstance(imported.content, Benchmark)
    assert imported.content.truth == {"1": Choice("A"), "9": Choice("B")}
    assert imported.content.tasks["1"].text == "Two\n\nlines?"


def test_fields_longer_than_the_usual_limit_are_read_and_the_limit_is_put_back(tmp_path: Path) -> None:
    before = csv.field_size_limit()
    file = tsv(tmp_path / "a.tsv", "index question answer", ["1", "x" * (before + 1), "y"])
    assert len(benchmark_in("vlmevalkit", file).tasks["1"].text) == before + 1
    assert csv.field_size_limit() == before


@pytest.mark.parametrize("content", [b"", b"index\tindex\n1\t2\n", b"\xff\xfe", b"index\tquestion\n"])
def test_another_file_is_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(UserError):
        importing("vlmevalkit", put(tmp_path / "a.tsv", content))


# --- questions out and back --------------------------------------------------------------------------------


def made(folder: Path) -> Benchmark:
    """A benchmark of all that the format can hold."""
    places = {name: put(folder / name, data) for name, data in (("a/r.png", RED), ("b.jpg", BLUE))}
    red, blue = PictureRef("a/r.png"), PictureRef("b.jpg")
    yes_no = (Option("A", ("yes",)), Option("B", ("no",)))
    labels = {"category": ("x",), "l2-category": ("unlabelled",), "split": ("dev",)}
    posed: tuple[tuple[Task, Truth], ...] = (
        (Task("1", "choose", (red, "Tab\tand\nbreak?"), yes_no, labels=labels, extra={"n": "7"}), Choice("B")),
        (Task("two", "choose", ("See ", blue, " then ", red), (Option("A", (red,)), yes_no[1])), Choice("A")),
        (Task("3", "answer", (blue, red, "h\nQuestion"), extra={"hint": "h"}), Answer("x", ("y", "z'\""))),
        (Task("4", "answer", ("No picture",), labels={"category": ("p", "q")}), Answer("[not a list")),
    )
    pictures = {name: Picture(name, path.as_uri()) for name, path in places.items()}
    return Benchmark(
        "made",
        Corpus("made", pictures),
        tasks={task.id: task for task, _ in posed},
        truth={task.id: truth for task, truth in posed},
    )


def labelled_everywhere(task: Task) -> Task:
    """A table has every column in every row."""
    missing = {name: ("unlabelled",) for name in ("category", "l2-category", "split") if name not in task.labels}
    return replace(task, labels={**task.labels, **missing})


def test_what_the_format_holds_comes_back(tmp_path: Path) -> None:
    expected = made(tmp_path / "pictures")
    file = exporting("vlmevalkit", expected, tmp_path / "made.tsv")
    found = benchmark_in("vlmevalkit", file)
    assert found.truth == expected.truth
    assert found.tasks == {name: labelled_everywhere(task) for name, task in expected.tasks.items()}
    assert {name: picture.sha256 is not None for name, picture in found.corpus.pictures.items()} == {
        "a/r.png": True,
        "b.jpg": True,
    }


def test_pictures_that_are_not_here_are_written_by_path(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    expected = made(tmp_path / "pictures")
    (tmp_path / "pictures" / "b.jpg").unlink()
    file = exporting("vlmevalkit", expected, tmp_path / "made.tsv")
    assert "1 picture is not here" in caplog.text
    assert "image" not in file.read_text().splitlines()[0].split("\t")
    found = benchmark_in("vlmevalkit", file)
    shown: tuple[Part, ...] = found.tasks["1"].prompt
    assert shown[0] == PictureRef(str(tmp_path / "pictures" / "a" / "r.png"))


def test_pandas_reads_it_as_the_tool_does(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas", reason="the tool reads with pandas")
    table = pandas.read_csv(exporting("vlmevalkit", made(tmp_path / "p"), tmp_path / "made.tsv"), sep="\t")
    assert list(table["index"]) == ["1", "two", "3", "4"]
    assert base64.b64decode(table["image"][0]) == RED and table["image_path"][0] == "a/r.png"
    images: Any = eval(table["image"][1])  # So does the tool.
    assert [base64.b64decode(image) for image in images] == [BLUE, RED]
    assert eval(table["image_path"][1]) == ["b.jpg", "a/r.png"]
    assert table["question"][0] == "Tab\tand\nbreak?" and table["question"][1] == "See <image 1> then <image 2>"
    assert table["hint"][2] == "h" and table["question"][2] == "Question"
    assert pandas.isna(table["image"][3]) and pandas.isna(table["l2-category"][0])


def test_the_samples_go_out_and_others_are_left_out(
    sampled: Benchmark, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = exporting("vlmevalkit", sampled, tmp_path / "s.tsv")
    kinds = {task.id: task.kind for task in sampled.tasks.values()}
    assert "rank task" in caplog.text
    found = benchmark_in("vlmevalkit", file, FormatOptions(extra={"labels": "subtask"}))
    assert set(found.tasks) == {name for name, kind in kinds.items() if kind in ("choose", "answer")}
    for name, task in found.tasks.items():
        assert task.text == sampled.tasks[name].text and task.pictures == sampled.tasks[name].pictures
        assert task.options == sampled.tasks[name].options
    few = {name: task for name, task in sampled.tasks.items() if task.kind == "rank"}
    with pytest.raises(UserError, match="no choose or answer task"):
        exporting("vlmevalkit", replace(sampled, tasks=Tasks(few)), tmp_path / "few.tsv")


def test_options_get_letters(tmp_path: Path) -> None:
    task = Task("1", "choose", ("Which?",), (Option("one", ("x",)), Option("two", ("y",))))
    benchmark = Benchmark("b", Corpus("b"), {"1": task}, {"1": Choice("two")})
    found = benchmark_in("vlmevalkit", exporting("vlmevalkit", benchmark, tmp_path / "b.tsv"))
    assert found.truth == {"1": Choice("B")}
    many = replace(task, options=tuple(Option(str(place), ("x",)) for place in range(27)))
    with pytest.raises(UserError, match="27 options"):
        exporting("vlmevalkit", replace(benchmark, tasks=Tasks({"1": many})), tmp_path / "c.tsv")


# --- predictions -------------------------------------------------------------------------------------------

PREDICTIONS = (
    ["241", "What colour is it?", "red", "blue", "The answer is B.", "A"],
    ["252", "Is it blue?", "yes", "no", "Failed to obtain answer via API.", "B"],
    ["253", "What is it?", "", "", "A field.", "a field"],
    ["254", "What is it?", "x", "y", "", "A"],
)
HEADER = "index question A B prediction answer"


def test_predictions_are_a_run(tmp_path: Path) -> None:
    run = run_in("vlmevalkit", tsv(tmp_path / "gpt_MMBench.tsv", HEADER, *PREDICTIONS))
    assert (run.system, run.benchmark) == ("gpt_MMBench", "unknown")
    assert {attempt.task_id: attempt.prediction for attempt in run.attempts} == {
        "241": Choice("B", "parsed"),
        "252": Failure("api", "Failed to obtain answer via API.", retryable=True),
        "253": Text("A field."),
        "254": Failure("empty", "the file has no prediction for this question"),
    }


def test_the_benchmark_knows_the_options(mmbench: Path, tmp_path: Path) -> None:
    benchmark = replace(benchmark_in("vlmevalkit", mmbench), name="MMBench")
    file = tsv(tmp_path / "gpt_MMBench.tsv", "index prediction", ["241", "blue"], ["7", "A"])
    imported = importing("vlmevalkit", file, FormatOptions(benchmark=benchmark))
    run = imported.content
    assert (run.name if isinstance(run, Benchmark) else run.system) == "gpt"
    assert imported.warnings == ('1 task is not in the benchmark: "7"',)
    assert not isinstance(run, Benchmark)
    assert [attempt.prediction for attempt in run.attempts] == [Choice("B", "text"), Text("A")]
    assert run.benchmark == "MMBench"


def test_a_prediction_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    file = tsv(tmp_path / "a.tsv", HEADER, *PREDICTIONS[:1], *PREDICTIONS[:1])
    with pytest.raises(ProblemsError, match=r'a\.tsv, line 3, index: task "241" has attempt 0 already'):
        importing("vlmevalkit", file)


def test_predictions_in_excel_are_the_same(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl", reason="Excel needs the excel extra")
    book = openpyxl.Workbook()
    for row in (HEADER.split(), *PREDICTIONS):
        book.active.append([int(cell) if cell.isdecimal() else cell or None for cell in row])
    book.save(tmp_path / "m.xlsx")
    tsv(tmp_path / "m.tsv", HEADER, *PREDICTIONS)
    assert run_in("vlmevalkit", tmp_path / "m.xlsx") == run_in("vlmevalkit", tmp_path / "m.tsv")
    with pytest.raises(UserError, match="can't be read as Excel"):
        importing("vlmevalkit", put(tmp_path / "bad.xlsx", b"PK nonsense"))


def test_excel_without_its_package_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    with pytest.raises(MissingExtraError, match="Excel") as caught:
        importing("vlmevalkit", put(tmp_path / "a.xlsx", b""))
    assert caught.value.fix == "pip install 'sightline[excel]'"
