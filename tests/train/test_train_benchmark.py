"""A benchmark as questions to ask after each stage."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("cyclopts", reason="reading a benchmark needs the core's dependencies")


def test_the_choose_tasks_of_a_benchmark_are_asked_as_the_last_stage_asks(tmp_path: Path) -> None:
    from sightline.cli.train import _of_benchmark
    from sightline.reason.curriculum.plan import STEPS
    from sightline.world.choose import choose_tasks
    from sightline.world.choose.benchmark import write_choose_benchmark

    made = choose_tasks(3, seed=5, difficulty=0.2)
    write_choose_benchmark(iter(made), tmp_path / "bench")
    records = _of_benchmark(tmp_path / "bench", STEPS)
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


@pytest.mark.parametrize(
    ("plan", "asked"),
    [("plain", "Conclusion"), ("reverse", "Summary, Caption, Text-to-Region, Region-to-Region, Conclusion")],
)
def test_they_are_asked_as_the_curriculum_teaches(tmp_path: Path, plan: str, asked: str) -> None:
    from sightline.cli.train import _of_benchmark, _taught
    from sightline.reason.curriculum.compiling import compile_curriculum
    from sightline.world.choose import choose_task
    from sightline.world.choose.benchmark import write_choose_benchmark

    made = (choose_task(number, 5, size=(64, 48)) for number in range(24))
    write_choose_benchmark(made, tmp_path / "bench")
    done = compile_curriculum(tmp_path / "bench", plan, tmp_path / "course")
    records = _of_benchmark(tmp_path / "bench", _taught(done.out))
    assert all(record.messages[0]["content"].endswith(f"\n\nWrite: {asked}.") for record in records)
    assert not any("\nGiven:\n" in record.messages[0]["content"] for record in records)
