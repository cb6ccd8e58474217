"""The questions that are asked after each stage, and the options that are read from what is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from train_tools import COLOURS, course_in, row_of

from sightline.errors import UserError
from sightline.train.answering import letter
from sightline.train.course import by_name, read_questions


def test_answers_are_read_by_the_questions_own_options() -> None:
    assert letter("Conclusion: The answer is E.", dict.fromkeys("ABCDE", "")) == "E"
    assert letter("Conclusion: it is the red cup.", {"1": "the red cup", "2": "the blue cup"}) == "1"
    assert letter("Conclusion: The answer is E.") == "-"


def test_questions_of_a_curriculum_come_without_given_steps_and_once(tmp_path: Path) -> None:
    folder = course_in(tmp_path).folder
    rows = [{**row_of(key, 0), "task": key} for key in COLOURS]
    (folder / "easy.jsonl").write_text("".join(json.dumps(row) + "\n" for row in [*rows, *rows]))
    (folder / "hard.jsonl").write_text("".join(json.dumps({**row, "given": ["summary"]}) + "\n" for row in rows))
    assert [record.task for record in read_questions(folder)] == list(COLOURS)


def test_every_set_of_questions_has_a_name_of_its_own(tmp_path: Path) -> None:
    one, other, third = tmp_path / "a/test", tmp_path / "b/test", tmp_path / "c.jsonl"
    assert by_name([one, third]) == {"test": one, "c": third}
    assert by_name([one, other, third]) == {"a/test": one, "b/test": other, f"{tmp_path.name}/c": third}
    assert by_name([one, one]) == {"test": one} and by_name([]) == {}
    file = tmp_path / "a/test.jsonl"
    assert by_name([one, file]) == {str(one): one, str(file): file}


def test_questions_need_answers(tmp_path: Path) -> None:
    folder = course_in(tmp_path).folder
    row = {key: value for key, value in row_of("A", 0).items() if key != "answer"}
    (folder / "asked.jsonl").write_text(json.dumps(row) + "\n")
    with pytest.raises(UserError, match='not every record has an "answer"'):
        read_questions(folder / "asked.jsonl")
