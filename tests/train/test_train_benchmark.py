"""A benchmark as questions to ask after each stage."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("cyclopts", reason="reading a benchmark needs the core's dependencies")


def test_the_choose_tasks_of_a_benchmark_are_asked_as_the_last_stage_asks(tmp_path: Path) -> None:
    from sightline.cli.train import _of_benchmark
    from sightline.world.choose import choose_tasks
    from sightline.world.choose.benchmark import write_choose_benchmark

    made = choose_tasks(3, seed=5, difficulty=0.2)
    write_choose_benchmark(iter(made), tmp_path / "bench")
    records = _of_benchmark(tmp_path / "bench")
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
