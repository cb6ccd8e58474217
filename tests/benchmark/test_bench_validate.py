"""Everything that can be wrong with a BENCH folder is said, with file, line and field."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from sightline.benchmark.files import checksums
from sightline.benchmark.folder import read_benchmark, write_benchmark
from sightline.benchmark.problems import ProblemsError
from sightline.benchmark.validation import oddities, validate_benchmark
from sightline.cli.app import main
from sightline.errors import UserError
from sightline.io.files import picture_path
from sightline.types import (
    Annotation,
    Answer,
    Benchmark,
    Candidate,
    Choice,
    Corpus,
    Group,
    Judgment,
    Option,
    Picture,
    PictureRef,
    PictureSet,
    Relevance,
    Review,
    Scope,
    Step,
    Task,
)
from sightline.types.task_table import Tasks

PIXELS = b"not really pixels"
NOWHERE = {"picture": "none"}
INSIDE_OUT = {"picture": "a.jpg", "region": [1, 0, 0, 1]}


def example() -> Benchmark:
    known = hashlib.sha256(PIXELS).hexdigest()
    pictures = {
        "a.jpg": Picture("a.jpg", "pictures/a b%20.jpg", sha256=known),
        "b.jpg": Picture("b.jpg", "https://example.org/b.jpg"),
    }
    groups = (Group("ann", "owner", ("a.jpg",)), Group("trip", "event", ("a.jpg", "b.jpg"), hidden=True))
    tasks = (
        Task("rank", "rank", ("like ", PictureRef("a.jpg")), scope=Scope("ann", ("trip",), ("b.jpg",))),
        Task("select", "select", ("boats",), translations={"zh": ("船", PictureRef("b.jpg"))}),
        Task("answer", "answer", ("How many?",)),
        Task("choose", "choose", ("Which?",), (Option("A", ("one",)), Option("B", (PictureRef("b.jpg"),)))),
    )
    return Benchmark(
        name="example",
        corpus=Corpus("corpus", pictures, groups),
        tasks={task.id: task for task in tasks},
        truth={
            "rank": Relevance({"a.jpg": 1, "b.jpg": 0}),
            "select": PictureSet(("a.jpg",)),
            "answer": Answer("2", steps=(Step("think", "one, two", (PictureRef("a.jpg"),)),)),
            "choose": Choice("B"),
        },
        annotations=(Annotation("a.jpg", "a boat"),),
        candidates=(Candidate("rank", "a.jpg", "seed"),),
        judgments=(Judgment("rank", "b.jpg", "ann", 0),),
        reviews=(Review("rank", "ann", "keep", datetime(2024, 5, 31)),),
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_benchmark(example(), tmp_path / "b")
    (tmp_path / "b" / "pictures").mkdir()
    (tmp_path / "b" / "pictures" / "a b%20.jpg").write_bytes(PIXELS)
    return tmp_path / "b"


def change(folder: Path, name: str, line: int, edit: Callable[[dict[str, Any]], object]) -> None:
    """Edit one line of a table and state the new checksums, as a careful person would."""
    lines = (folder / name).read_bytes().splitlines(keepends=True)
    row = orjson.loads(lines[line - 1])
    edit(row)
    lines[line - 1] = orjson.dumps(row) + b"\n"
    (folder / name).write_bytes(b"".join(lines))
    state_checksums(folder)


def state_checksums(folder: Path) -> None:
    header = orjson.loads((folder / "benchmark.json").read_bytes())
    header["checksums"] = checksums(folder)
    (folder / "benchmark.json").write_bytes(orjson.dumps(header))


def found(folder: Path, **options: bool) -> list[tuple[str, int | None, str | None]]:
    return [(problem.file, problem.line, problem.field) for problem in validate_benchmark(folder, **options)]


def test_a_sound_folder_has_no_problems(folder: Path) -> None:
    assert validate_benchmark(folder, check_pictures=True) == ()


@pytest.mark.parametrize(
    ("name", "line", "edit", "field"),
    [
        ("pictures.jsonl", 2, lambda row: row.update(id="a.jpg"), "id"),
        ("pictures.jsonl", 2, lambda row: row.update(lat=91), "lat"),
        ("pictures.jsonl", 2, lambda row: row.update(phash="12"), "phash"),
        ("pictures.jsonl", 2, lambda row: row.update(taken_at="yesterday"), "taken_at"),
        ("pictures.jsonl", 2, lambda row: row.update(taken_at=1700000000), "taken_at"),
        ("groups.jsonl", 1, lambda row: row["pictures"].append("none"), "pictures.1"),
        ("groups.jsonl", 1, lambda row: row.update(kind="crowd"), "kind"),
        ("tasks.jsonl", 1, lambda row: row["prompt"].append(NOWHERE), "prompt.2.picture"),
        ("tasks.jsonl", 1, lambda row: row["prompt"].append(5), "prompt.2"),
        ("tasks.jsonl", 1, lambda row: row["prompt"].append(INSIDE_OUT), "prompt.2.region"),
        ("tasks.jsonl", 1, lambda row: row.update(labels={"x": [1]}), "labels.x.0"),
        ("tasks.jsonl", 1, lambda row: row.update(labels={"x": 1}), "labels.x"),
        ("tasks.jsonl", 1, lambda row: row["scope"].update(owner="trip"), "scope.owner"),
        ("tasks.jsonl", 1, lambda row: row["scope"].update(groups=["none"]), "scope.groups.0"),
        ("tasks.jsonl", 1, lambda row: row["scope"].update(pictures=["none"]), "scope.pictures.0"),
        ("tasks.jsonl", 2, lambda row: row["translations"]["zh"].append(NOWHERE), "translations.zh.2.picture"),
        ("tasks.jsonl", 4, lambda row: row["options"][1].update(key="A"), "options.1.key"),
        ("tasks.jsonl", 4, lambda row: row["options"][0]["content"].append(NOWHERE), "options.0.content.1.picture"),
        ("truth.jsonl", 1, lambda row: row["grades"].update({"none": 1}), "grades.none"),
        ("truth.jsonl", 1, lambda row: row["grades"].update({"a.jpg": -1}), "grades.a.jpg"),
        ("truth.jsonl", 1, lambda row: row["grades"].update({"a.jpg": 1.5}), "grades.a.jpg"),
        ("truth.jsonl", 1, lambda row: row["grades"].update({"a.jpg": "1"}), "grades.a.jpg"),
        ("truth.jsonl", 1, lambda row: row.update(form="guess"), None),
        ("truth.jsonl", 2, lambda row: row["pictures"].append("none"), "pictures.1"),
        ("truth.jsonl", 3, lambda row: row["steps"][0]["pictures"][0].update(picture="none"), "steps.0.pictures.0"),
        ("truth.jsonl", 4, lambda row: row.update(option="C"), "option"),
        ("annotations.jsonl", 1, lambda row: row.update(picture="none"), "picture"),
        ("candidates.jsonl", 1, lambda row: row.update(picture="none"), "picture"),
        ("candidates.jsonl", 1, lambda row: row.update(task="none"), "task"),
        ("candidates.jsonl", 1, lambda row: row.update(tier="best"), "tier"),
        ("judgments.jsonl", 1, lambda row: row.update(task="none"), "task"),
        ("judgments.jsonl", 1, lambda row: row.update(grade=-1), "grade"),
        ("reviews.jsonl", 1, lambda row: row.update(picture="none"), "picture"),
        ("reviews.jsonl", 1, lambda row: row.update(decision=""), "decision"),
    ],
)
def test_each_mistake_is_found_where_it_is(
    folder: Path, name: str, line: int, edit: Callable[[dict[str, Any]], object], field: str | None
) -> None:
    change(folder, name, line, edit)
    assert (name, line, field) in found(folder)


def test_a_choice_without_options_is_found(folder: Path) -> None:
    change(folder, "tasks.jsonl", 4, lambda row: row.pop("options"))
    assert found(folder) == [("tasks.jsonl", 4, "options"), ("truth.jsonl", 4, "option")]


def test_a_truth_without_its_task_and_a_task_without_its_truth_are_found(folder: Path) -> None:
    change(folder, "truth.jsonl", 2, lambda row: row.update(task="other"))
    assert found(folder) == [("truth.jsonl", 2, "task"), ("tasks.jsonl", 2, "id")]


def test_a_truth_of_the_wrong_form_is_found(folder: Path) -> None:
    change(folder, "tasks.jsonl", 2, lambda row: row.update(kind="rank"))
    (problem,) = validate_benchmark(folder)
    assert str(problem) == "truth.jsonl, line 2, form: expected relevance, because the task's kind is rank"


def test_a_misspelt_field_names_the_nearest_one(folder: Path) -> None:
    change(folder, "judgments.jsonl", 1, lambda row: row.update(raeson="blurred"))
    (problem,) = validate_benchmark(folder)
    assert str(problem) == 'judgments.jsonl, line 1, raeson: unknown field, did you mean "reason"?'


def test_a_missing_field_is_said_in_plain_words(folder: Path) -> None:
    change(folder, "judgments.jsonl", 1, lambda row: row.pop("judge"))
    (problem,) = validate_benchmark(folder)
    assert str(problem) == "judgments.jsonl, line 1, judge: expected, but it is not there"


def test_a_changed_file_does_not_match_its_checksum(folder: Path) -> None:
    with (folder / "truth.jsonl").open("a") as file:
        file.write("\n")
    (problem,) = validate_benchmark(folder)
    assert (problem.file, problem.line) == ("truth.jsonl", None)
    assert "has changed since" in problem.message
    assert read_benchmark(folder).checksum != write_benchmark(example(), folder.parent / "fresh").checksum


def test_reviews_may_have_grown_but_not_changed(folder: Path) -> None:
    reviews = folder / "reviews.jsonl"
    lines = reviews.read_bytes()
    reviews.write_bytes(lines + lines.replace(b"keep", b"reject"))
    assert validate_benchmark(folder) == ()
    reviews.write_bytes(lines.replace(b"keep", b"reject"))
    (problem,) = validate_benchmark(folder)
    assert (problem.file, "has changed since" in problem.message) == ("reviews.jsonl", True)


def test_files_and_checksums_must_name_each_other(folder: Path) -> None:
    (folder / "reviews.jsonl").unlink()
    header = orjson.loads((folder / "benchmark.json").read_bytes())
    del header["checksums"]["judgments.jsonl"]
    (folder / "benchmark.json").write_bytes(orjson.dumps(header))
    assert found(folder) == [
        ("benchmark.json", None, "checksums"),
        ("benchmark.json", None, "checksums.reviews.jsonl"),
    ]


def test_a_missing_required_file_is_found(folder: Path) -> None:
    (folder / "pictures.jsonl").unlink()
    state_checksums(folder)
    assert found(folder)[0] == ("pictures.jsonl", None, None)


def test_missing_and_changed_pictures_are_listed(folder: Path) -> None:
    picture = folder / "pictures" / "a b%20.jpg"
    picture.write_bytes(b"other pixels")
    assert found(folder) == []
    assert found(folder, check_pictures=True) == [("pictures.jsonl", 1, "sha256")]
    picture.unlink()
    assert found(folder) == [("pictures.jsonl", 1, "uri")]
    assert read_benchmark(folder).tasks.keys() == example().tasks.keys()


@pytest.mark.parametrize("uri", ["x" * 5000, "a\0b"])
def test_a_uri_that_no_disk_can_hold_is_a_missing_picture(folder: Path, uri: str) -> None:
    change(folder, "pictures.jsonl", 2, lambda row: row.update(uri=uri))
    assert found(folder) == [("pictures.jsonl", 2, "uri")]


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("pictures/a.jpg", Path("/bench/pictures/a.jpg")),
        ("../a%20b#1.jpg", Path("/bench/../a%20b#1.jpg")),
        ("/data/a.jpg", Path("/data/a.jpg")),
        ("file:///data/a%20b.jpg", Path("/data/a b.jpg")),
        ("file:///caf%C3%A9/caf%E9.jpg", Path(os.fsdecode("/café/caf".encode() + b"\xe9.jpg"))),
        ("file://localhost/a.jpg", Path("/a.jpg")),
        ("file://elsewhere/a.jpg", None),
        ("https://example.org/a.jpg", None),
        ("s3://bucket/a.jpg", None),
    ],
)
def test_where_a_picture_lies(uri: str, path: Path | None) -> None:
    assert picture_path(uri, Path("/bench")) == path


def test_reading_stops_at_the_first_wrong_line_or_collects_them_all(folder: Path) -> None:
    change(folder, "tasks.jsonl", 1, lambda row: row.update(kind="dance"))
    change(folder, "truth.jsonl", 3, lambda row: row.update(text=None))
    with pytest.raises(UserError, match=r"tasks\.jsonl, line 1, kind: expected 'rank', .* got 'dance'"):
        read_benchmark(folder)
    with pytest.raises(ProblemsError, match="2 problems") as caught:
        read_benchmark(folder, keep_going=True)
    assert [(problem.file, problem.line) for problem in caught.value.problems] == [
        ("tasks.jsonl", 1),
        ("truth.jsonl", 3),
    ]


def test_lines_that_are_not_json_are_collected_too(folder: Path) -> None:
    with (folder / "judgments.jsonl").open("ab") as file:
        file.write(b'{"task": nope}\n{"task": "rank", "extra": {"x": NaN}}\n{"task": "ra')
    with pytest.raises(ProblemsError) as caught:
        read_benchmark(folder, keep_going=True)
    reasons = [(problem.line, problem.message) for problem in caught.value.problems]
    assert [line for line, _ in reasons] == [2, 3, 4]
    assert "expected one JSON value" in reasons[0][1]
    assert "NaN and infinity are not JSON" in reasons[1][1]
    assert "ends in the middle of a line" in reasons[2][1]


def test_nan_is_refused_also_where_any_json_is_allowed(folder: Path) -> None:
    line = b'{"id": "c.jpg", "uri": "https://example.org/c", "extra": {"sharpness": NaN}}\n'
    (folder / "pictures.jsonl").write_bytes(line)
    with pytest.raises(UserError, match="NaN and infinity are not JSON"):
        read_benchmark(folder)


def test_many_problems_are_counted_not_all_printed(folder: Path) -> None:
    (folder / "judgments.jsonl").write_text("[]\n" * 200)
    with pytest.raises(ProblemsError) as caught:
        read_benchmark(folder, keep_going=True)
    assert len(caught.value.problems) == 200
    assert "… and 150 more" in str(caught.value)


def test_a_folder_that_is_no_benchmark_is_refused(tmp_path: Path) -> None:
    for check in (read_benchmark, validate_benchmark):
        with pytest.raises(UserError, match=r"is not a benchmark: it has no benchmark\.json"):
            check(tmp_path)


def test_a_wrong_header_is_a_problem(folder: Path) -> None:
    header = orjson.loads((folder / "benchmark.json").read_bytes())
    (folder / "benchmark.json").write_bytes(orjson.dumps({**header, "nmae": "x"}))
    (problem,) = validate_benchmark(folder)
    assert str(problem) == 'benchmark.json, nmae: unknown field, did you mean "name"?'


def test_writing_again_keeps_the_pictures_and_drops_stale_tables(folder: Path) -> None:
    write_benchmark(replace(example(), reviews=(), annotations=()), folder, force=True)
    assert validate_benchmark(folder, check_pictures=True) == ()
    assert not (folder / "reviews.jsonl").exists()


def test_nothing_is_written_when_a_value_does_not_fit(folder: Path, tmp_path: Path) -> None:
    before = {entry.name: entry.read_bytes() for entry in folder.iterdir() if entry.is_file()}
    wrong = replace(example(), judgments=(Judgment("rank", "a.jpg", "ann", 1), Judgment("rank", "b.jpg", "ann", -1)))
    with pytest.raises(ProblemsError, match=r"judgments\.jsonl, line 2, grade: .*greater than or equal to 0"):
        write_benchmark(wrong, folder)
    with pytest.raises(ProblemsError):
        write_benchmark(wrong, tmp_path / "new")
    assert {entry.name: entry.read_bytes() for entry in folder.iterdir() if entry.is_file()} == before
    assert {entry.name for entry in tmp_path.iterdir()} == {"b"}


def test_a_picture_filed_under_another_id_is_refused(tmp_path: Path) -> None:
    wrong = replace(example(), corpus=Corpus("c", {"x": Picture("y", "y")}))
    with pytest.raises(UserError, match='picture "y" is filed under "x"'):
        write_benchmark(wrong, tmp_path / "b")


def test_missing_checksums_come_with_the_way_to_them(folder: Path) -> None:
    header = orjson.loads((folder / "benchmark.json").read_bytes())
    del header["checksums"]
    (folder / "benchmark.json").write_bytes(orjson.dumps(header))
    (problem,) = validate_benchmark(folder)
    assert "expected, but it is not there" in problem.message and "Your own questions" in problem.message
    (folder / "benchmark.json").write_bytes(orjson.dumps({**header, "checksums": {}}))
    assert all("Your own questions" in problem.message for problem in validate_benchmark(folder))
    write_benchmark(read_benchmark(folder), folder)  # The way that is told there.
    assert validate_benchmark(folder) == ()


def warned(folder: Path) -> list[tuple[str, int | None, str | None]]:
    return [(problem.file, problem.line, problem.field) for problem in oddities(folder)]


@pytest.mark.parametrize(
    ("line", "edit", "field"),
    [
        (3, lambda row: row.update(prompt=[]), "prompt"),
        (3, lambda row: row.update(prompt=["  ", "\n"]), "prompt"),
        (4, lambda row: row["options"][1].update(content=[" one "]), "options"),
        (4, lambda row: row["options"][1].update(content=[""]), "options"),
    ],
)
def test_what_is_only_odd_is_warned_of(
    folder: Path, line: int, edit: Callable[[dict[str, Any]], object], field: str
) -> None:
    assert warned(folder) == []
    change(folder, "tasks.jsonl", line, edit)
    assert warned(folder) == [("tasks.jsonl", line, field)] and found(folder) == []


def test_no_tasks_are_warned_of_unless_they_can_not_be_read(folder: Path) -> None:
    write_benchmark(
        replace(example(), tasks=Tasks({}), truth={}, candidates=(), judgments=(), reviews=()), folder, force=True
    )
    assert warned(folder) == [("tasks.jsonl", None, None)] and found(folder) == []
    (folder / "tasks.jsonl").write_text("[]\n")
    assert warned(folder) == []
    (folder / "benchmark.json").write_text('{"schema": 2}')
    assert warned(folder) == []


def test_the_command_warns_and_finds_nothing_wrong(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(folder, "tasks.jsonl", 3, lambda row: row.update(prompt=[]))
    main(["validate", str(folder)])
    told = capsys.readouterr()
    assert "nothing wrong, 1 warning" in told.out and "line 3, prompt: 'answer' has an empty prompt" in told.err
    main(["validate", str(folder), "--json"])
    said = orjson.loads(capsys.readouterr().out)
    assert said["valid"] and [warning["line"] for warning in said["warnings"]] == [3]
