"""Curricula on disk: what is read, and what is said where they are wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from sightline.errors import UserError
from sightline.reason.train.records import TrainRecord, check_pictures, digest, read_records, read_stages


def _line(**changes: Any) -> str:
    messages = [{"role": "user", "content": "Look: <image> Which?"}, {"role": "assistant", "content": "A."}]
    return json.dumps({"id": "q1", "messages": messages, "images": ["a.png"], "answer": "A", **changes})


def _folder(path: Path, *lines: str) -> Path:
    (path / "a.png").write_bytes(b"")
    (path / "one.jsonl").write_text("\n".join(lines) + "\n")
    stages = [{"name": "one", "phase": "easy", "file": "one.jsonl", "records": len(lines), "tokens": 1}]
    (path / "stages.json").write_text(json.dumps([*stages, {"name": "two", "file": "one.jsonl"}]))
    return path


def test_stages_come_in_their_order_and_can_be_chosen(tmp_path: Path) -> None:
    folder = _folder(tmp_path, _line())
    assert [stage.name for stage in read_stages(folder)] == ["one", "two"]
    assert [stage.name for stage in read_stages(folder, ["two"])] == ["two"]
    with pytest.raises(UserError, match='no stage "three"'):
        read_stages(folder, ["three"])


def test_a_record_has_its_pictures_by_path_and_its_target(tmp_path: Path) -> None:
    (record,) = read_records(_folder(tmp_path, _line()) / "one.jsonl")
    assert record.target == "A."
    assert record.images == (tmp_path / "a.png",)
    assert record.answer == "A"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "one.jsonl:2: this is not JSON"),
        ("[]", '"messages" must be a list'),
        (_line(messages=[{"role": "user"}]), '"messages" must be a list'),
        (_line(messages=[{"role": "user", "content": "<image>"}]), "last message is not the assistant's"),
        (_line(images=[]), "1 places for pictures, but 0 pictures"),
        (_line(images=["b.png"]), "b.png is not there"),
        (_line(images=None), '"images" must be a list of paths'),
        (_line(images=[1, 2, 3]), '"images" must be a list of paths'),
        (_line(images="a.png"), '"images" must be a list of paths'),
        (b'{"id": "caf\xe9"}', "this is not UTF-8"),
        ("[", "train does not read this format"),
        ('{"conversations": []}', "train does not read this format"),
    ],
)
def test_a_wrong_record_is_named_with_its_line(tmp_path: Path, line: str | bytes, words: str) -> None:
    folder = _folder(tmp_path, _line())
    with (folder / "one.jsonl").open("ab") as file:
        file.write(line if isinstance(line, bytes) else line.encode())
    with pytest.raises(UserError, match=words) as error:
        read_records(folder / "one.jsonl")
    assert "one.jsonl:2" in str(error.value)
    assert error.value.fix


def test_a_byte_order_mark_is_skipped(tmp_path: Path) -> None:
    folder = _folder(tmp_path, _line())
    for name in ("one.jsonl", "stages.json"):
        (folder / name).write_bytes(b"\xef\xbb\xbf" + (folder / name).read_bytes())
    (record,) = read_records(read_stages(folder)[0].file)
    assert record.id == "q1"


def test_a_record_without_a_name_has_that_of_its_line(tmp_path: Path) -> None:
    folder = _folder(tmp_path, _line(id=None, task=None), _line(id=0))
    first, second = read_records(folder / "one.jsonl")
    assert first.id == first.task == first.place == f"{folder / 'one.jsonl'}:1"
    assert (second.id, second.place) == ("0", f"{folder / 'one.jsonl'}:2")


def test_what_is_no_curriculum_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no stages\.json"):
        read_stages(tmp_path)
    (tmp_path / "stages.json").write_text("[]")
    with pytest.raises(UserError, match="no stages in it"):
        read_stages(tmp_path)
    (tmp_path / "stages.json").write_text("[1]")
    with pytest.raises(UserError, match='needs "name" and "file"'):
        read_stages(tmp_path)
    (tmp_path / "stages.json").write_text('[{"name": [1], "file": "one.jsonl"}]')
    with pytest.raises(UserError, match='needs "name" and "file"'):
        read_stages(tmp_path)
    (tmp_path / "stages.json").write_bytes(b'["\xe9"]')
    with pytest.raises(UserError, match=r"stages\.json: this is not UTF-8"):
        read_stages(tmp_path)


def test_two_stages_of_one_name_are_refused(tmp_path: Path) -> None:
    row = {"name": "one", "file": "one.jsonl"}
    (tmp_path / "stages.json").write_text(json.dumps([row, {"name": "two", "file": "one.jsonl"}, row]))
    with pytest.raises(UserError, match=r'stages\.json: two stages are called "one"'):
        read_stages(tmp_path, ["two"])


def test_a_stage_without_records_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"one\.jsonl: there is no record in it"):
        read_records(_folder(tmp_path) / "one.jsonl")


def test_the_digest_changes_with_the_records(tmp_path: Path) -> None:
    before = digest(read_stages(_folder(tmp_path, _line())))
    assert digest(read_stages(tmp_path)) == before
    assert digest(read_stages(_folder(tmp_path, _line(id="q2")))) != before


def test_options_are_those_that_the_question_lists() -> None:
    asked = "Look: <image>\nA. is this one?\nOptions:\n1. a red cup\n2. <image>\n10. none\n\nWrite: Conclusion."
    messages = ({"role": "user", "content": asked}, {"role": "assistant", "content": ""})
    assert TrainRecord("q", messages, ()).options == {"1": "a red cup", "2": "", "10": "none"}


def test_a_question_that_lists_none_has_four_options_by_letter() -> None:
    assert _asking("Which?").options == _asking("Which?", stated={}).options == dict.fromkeys("ABCD", "")


def _asking(asked: str, **stated: Any) -> TrainRecord:
    return TrainRecord("q", ({"role": "user", "content": asked}, {"role": "assistant", "content": ""}), (), **stated)


@pytest.mark.parametrize(
    "asked",
    [
        "Menu. Options:\nsoup or salad\n\nWhich?\nOptions:\nA. red\nB. blue\n\nWrite: Conclusion.",
        "Which?\r\nOptions:\r\nA. red\r\nB. blue\r\n\r\nWrite: Conclusion.",
        "Which?\nOptions:\nA. red\nB. blue\n\nGiven:\nCaption: It says Options:\nSummary: two.\n\nWrite: Conclusion.",
    ],
)
def test_other_words_about_options_are_none(asked: str) -> None:
    assert _asking(asked).options == {"A": "red", "B": "blue"}


def test_stated_options_are_taken_as_they_are(tmp_path: Path) -> None:
    """Such as one with a line of its own, which the list can't tell from others."""
    options = {"A": "red\n\nor so", "B": ""}
    (record,) = read_records(_folder(tmp_path, _line(options=options)) / "one.jsonl")
    assert record.options == options
    assert _asking("Which?\nOptions:\nA. red", stated=options).options == options
    with pytest.raises(UserError, match=r'one\.jsonl:1: "options" must be texts by their keys'):
        read_records(_folder(tmp_path, _line(options=["red"])) / "one.jsonl")


def test_pictures_that_can_not_be_read_are_counted_and_named(tmp_path: Path) -> None:
    Image.new("RGB", (8, 8)).save(tmp_path / "a.png")
    for name in ("b.png", "c.png"):
        (tmp_path / name).write_bytes((tmp_path / "a.png").read_bytes()[:40])
    records = [TrainRecord(name, (), (tmp_path / f"{name}.png",)) for name in "aabc"]
    check_pictures(records[:2])
    with pytest.raises(UserError, match=r"b\.png: this picture can't be read.*\(2 pictures in all\)"):
        check_pictures(records)
