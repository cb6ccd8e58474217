"""A benchmark as questions to ask after each stage."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sightline.reason.curriculum.formats import FormatName
from sightline.types import Choice
from sightline.types.task_table import Tasks

if TYPE_CHECKING:
    from sightline.reason.curriculum.formats import FormatName

pytest.importorskip("cyclopts", reason="reading a benchmark needs the core's dependencies")


@pytest.mark.world
def test_the_choose_tasks_of_a_benchmark_are_asked_with_nothing_given(tmp_path: Path) -> None:
    from sightline.reason.training import benchmark_questions
    from sightline_world.choose import choose_tasks
    from sightline_world.choose.benchmark import write_choose_benchmark

    made = choose_tasks(3, seed=5, difficulty=0.2)
    write_choose_benchmark(iter(made), tmp_path / "bench")
    records = benchmark_questions(tmp_path / "bench")
    assert [record.id for record in records] == [one.task.id for one in made]
    for record, one in zip(records, made, strict=True):
        asked = record.messages[0]["content"]
        assert record.answer == one.truth.option
        assert asked.count("<image>") == len(record.images) == len(one.pictures)
        assert all(
            image.read_bytes() == picture.file for image, picture in zip(record.images, one.pictures, strict=True)
        )
        assert asked.endswith("Write: Summary, Caption, Text-to-Region, Region-to-Region, Conclusion.")
        assert all(step.text not in asked for step in one.truth.steps)
        assert record.options.keys() == {option.key for option in one.task.options}


@pytest.mark.world
def test_a_truth_is_asked_for_by_its_key_and_one_that_is_no_option_not_at_all(tmp_path: Path) -> None:
    from sightline.benchmark.folder import read_benchmark, write_benchmark
    from sightline.reason.training import benchmark_questions
    from sightline_world.choose import choose_tasks
    from sightline_world.choose.benchmark import write_choose_benchmark

    first, second, third = choose_tasks(3, seed=5, difficulty=0.2)
    write_choose_benchmark(iter((first, second, third)), tmp_path / "bench")
    made, right = read_benchmark(tmp_path / "bench"), first.truth.option or ""
    changed = {first.task.id: right.lower(), second.task.id: "none of these words"}
    truth = dict(made.truth)
    for name, said in changed.items():
        chosen = truth[name]
        assert isinstance(chosen, Choice)
        truth[name] = replace(chosen, option=said)
    write_benchmark(replace(made, truth=truth), tmp_path / "bench")
    asked = {record.id: record.answer for record in benchmark_questions(tmp_path / "bench")}
    assert asked == {first.task.id: right, third.task.id: third.truth.option}


@pytest.mark.world
def test_questions_that_show_a_part_of_a_picture_are_left_out_and_said(tmp_path: Path) -> None:
    from sightline.benchmark.folder import read_benchmark, write_benchmark
    from sightline.reason.training import benchmark_questions
    from sightline.types import Box, PictureRef
    from sightline_world.choose import choose_tasks
    from sightline_world.choose.benchmark import write_choose_benchmark

    first, second = choose_tasks(2, seed=5, difficulty=0.2)
    write_choose_benchmark(iter((first, second)), tmp_path / "bench")
    made = read_benchmark(tmp_path / "bench")
    part = Box(0.25, 0.25, 0.75, 0.75)
    prompt = tuple(
        PictureRef(one.id, part) if isinstance(one, PictureRef) else one for one in made.tasks[first.task.id].prompt
    )
    tasks = {**made.tasks, first.task.id: replace(made.tasks[first.task.id], prompt=prompt)}
    write_benchmark(replace(made, tasks=Tasks(tasks)), tmp_path / "bench")
    heard: list[str] = []
    assert [record.id for record in benchmark_questions(tmp_path / "bench", heard.append)] == [second.task.id]
    assert heard == [f"{tmp_path / 'bench'}: 1 question left out (shows a part of a picture 1)"]


FIVE = ("Summary", "Caption", "Text-to-Region", "Region-to-Region", "Conclusion")


@pytest.mark.world
@pytest.mark.parametrize(
    ("plan", "steps"),
    [("plain", [1]), ("mir", [5] * 6), ("reverse", [5] * 6), ("shuffled", [5]), ("faded", [5, 4, 3, 2, 1])],
)
@pytest.mark.parametrize("form", ["sightline", "ms-swift"])
def test_they_are_asked_as_the_training_has_taught_so_far(
    tmp_path: Path, plan: str, steps: list[int], form: FormatName
) -> None:
    from sightline.reason.curriculum.compiler import curriculum
    from sightline.reason.train.records import as_taught, endings, read_stage, read_stages
    from sightline.reason.training import benchmark_questions
    from sightline_world.choose import choose_task
    from sightline_world.choose.benchmark import write_choose_benchmark

    made = (choose_task(number, 5, size=(64, 48)) for number in range(24))
    write_choose_benchmark(made, tmp_path / "bench")
    done = curriculum(tmp_path / "bench", plan, tmp_path / "course", format=form)
    found = endings({stage.name: read_stage(stage) for stage in read_stages(done.out)})
    records = benchmark_questions(tmp_path / "bench")
    for ending, count in zip(found.values(), steps, strict=True):
        asked = [as_taught(record, ending).prompt for record in records]
        assert all(one.endswith(f"\n\nWrite: {', '.join(FIVE[-count:])}.") for one in asked)
        assert not any("\nGiven:\n" in one for one in asked)
        assert all(one.count("\nWrite: ") == 1 for one in asked)


def test_options_are_those_of_the_benchmark_whatever_their_keys_and_texts(tmp_path: Path) -> None:
    from sightline.benchmark.folder import write_benchmark
    from sightline.metrics.choices.parse import parse_choice
    from sightline.reason.training import benchmark_questions
    from sightline.types import Benchmark, Choice, Corpus, Option, Task

    options = tuple(
        Option(key, (text,)) for key, text in (("first", "a red\n\ncup"), ("the 2nd", "a blue cup"), ("C", "none"))
    )
    task = Task("q1", "choose", ("Which?",), options=options)
    write_benchmark(
        Benchmark("odd", Corpus("odd"), {"q1": task}, {"q1": Choice("the 2nd", "parsed")}), tmp_path / "bench"
    )
    (record,) = benchmark_questions(tmp_path / "bench")
    assert record.options == {"first": "a red\n\ncup", "the 2nd": "a blue cup", "C": "none"}
    assert record.answer == "the 2nd"
    assert parse_choice("So it is a blue cup.", record.options).option == record.answer
    assert parse_choice("The answer is first.", record.options).option == "first"
