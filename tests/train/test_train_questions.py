"""The questions that are asked after each stage, and the options that are read from what is said."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sightline.errors import UserError
from sightline.reason.train.records import TrainRecord, as_taught, by_name, endings, read_questions
from sightline.reason.train.trainer import chosen_option
from train_tools import COLOURS, course_in, row_of


def test_answers_are_read_by_the_questions_own_options() -> None:
    assert chosen_option("Conclusion: The answer is E.", dict.fromkeys("ABCDE", "")) == "E"
    assert chosen_option("Conclusion: it is the red cup.", {"1": "the red cup", "2": "the blue cup"}) == "1"
    assert chosen_option("Conclusion: The answer is E.") == "-"


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


def test_a_set_that_is_nowhere_is_not_for_the_curriculum_to_mend(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="nothing of this name") as error:
        read_questions(tmp_path / "nowhere")
    assert error.value.fix == "give a benchmark, a curriculum or a file of records with answers"


def test_a_benchmark_is_for_the_verb_alone(tmp_path: Path) -> None:
    (tmp_path / "benchmark.json").write_text("{}")
    with pytest.raises(UserError, match="this is a benchmark, which only `sightline train` reads"):
        read_questions(tmp_path)


@pytest.mark.parametrize("answer", ["c", 7, ["A"], ""])
def test_an_answer_that_is_no_option_is_refused_with_its_line(tmp_path: Path, answer: Any) -> None:
    folder = course_in(tmp_path).folder
    rows = [row_of("A", 0), {**row_of("B", 0), "answer": answer}]
    (folder / "asked.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(UserError, match=r'asked\.jsonl:2: the answer .* none of the options, which are "A", "B"'):
        read_questions(folder / "asked.jsonl")


STAGES = {"five": "Summary, Caption, Conclusion", "helped": "Caption, Conclusion", "one": "Conclusion"}


def _asked(ending: str, *, is_helped: bool = False, follows: bool = False) -> TrainRecord:
    messages = ({"role": "user", "content": f"Which?{ending}"}, {"role": "assistant", "content": ""})
    return TrainRecord("q", messages, (), "A", is_helped=is_helped, follows=follows)


def test_questions_end_as_the_latest_stage_that_gives_nothing() -> None:
    ends = {name: f"\n\nWrite: {steps}." for name, steps in STAGES.items()}
    stages = {name: [_asked(end, is_helped=name == "helped")] for name, end in ends.items()}
    assert endings(stages) == {"five": ends["five"], "helped": ends["five"], "one": ends["one"]}
    assert endings({name: stages[name] for name in ("helped", "one")}) == {"helped": ends["one"], "one": ends["one"]}
    assert endings({"helped": stages["helped"]}) == {"helped": ""}
    mixed = [_asked(ends["one"]), *(_asked(ends["five"]) for _ in range(2))]
    assert endings({"mixed": mixed}) == {"mixed": ends["five"]}


def test_only_questions_that_follow_the_training_are_asked_for_other_steps() -> None:
    ending = "\n\nWrite: Conclusion."
    asked = _asked("\n\nWrite: Summary, Conclusion.", follows=True)
    assert as_taught(asked, ending).prompt == "Which?\n\nWrite: Conclusion."
    assert as_taught(asked, "") is asked
    assert as_taught(replace(asked, follows=False), ending).prompt == asked.prompt
    assert as_taught(_asked("\n\nWrite: a word.", follows=True), ending).prompt == "Which?\n\nWrite: a word."


def test_a_curriculum_follows_the_training_and_a_file_does_not(tmp_path: Path) -> None:
    folder = course_in(tmp_path).folder
    assert all(record.follows for record in read_questions(folder))
    assert not any(record.follows for record in read_questions(folder / "easy.jsonl"))


def test_questions_need_answers(tmp_path: Path) -> None:
    folder = course_in(tmp_path).folder
    row = {key: value for key, value in row_of("A", 0).items() if key != "answer"}
    (folder / "asked.jsonl").write_text(json.dumps(row) + "\n")
    with pytest.raises(UserError, match='not every record has an "answer"'):
        read_questions(folder / "asked.jsonl")
