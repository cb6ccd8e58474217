"""Worker processes: everything comes back once, and a death costs only its own item."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine import engine_jobs
from sightline.engine.worker_pool import Died, map_in_processes


@pytest.fixture(autouse=True)
def _jobs_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(
        "PYTHONPATH", os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    )


def run(function: str, items: list[object], **options: float) -> dict[object, object]:
    return dict(map_in_processes(getattr(engine_jobs, function), items, workers=2, chunk=4, **options))


def test_every_item_comes_back_once() -> None:
    assert run("double", list(range(100))) == {n: 2 * n for n in range(100)}


def test_nothing_to_do_starts_no_process() -> None:
    assert run("does_not_exist", []) == {}


def test_a_killed_worker_costs_only_its_item() -> None:
    results = run("die_on_7", list(range(20)))
    assert isinstance(results.pop(7), Died)
    assert results == {n: n for n in range(20) if n != 7}


def test_a_hanging_item_is_ended() -> None:
    results = run("hang_on_3", list(range(6)), seconds_per_item=0.5)
    assert isinstance(results.pop(3), Died)
    assert results == {n: n for n in range(6) if n != 3}


def test_what_a_decoder_prints_does_not_break_the_pipe() -> None:
    assert run("noisy", [1, 2, 3]) == {1: 1, 2: 2, 3: 3}


def test_a_function_that_cannot_be_imported_is_our_fault() -> None:
    with pytest.raises(RuntimeError, match="could not start"):
        run("does_not_exist", [1])


def test_items_are_drawn_only_as_fast_as_they_are_used() -> None:
    drawn = 0

    def source() -> Iterator[int]:
        nonlocal drawn
        while drawn < 10_000:
            drawn += 1
            yield drawn

    results = map_in_processes(engine_jobs.double, source(), workers=2, chunk=4)
    next(results)
    results.close()
    assert drawn <= 4 * 6


@pytest.mark.skipif(sys.platform == "win32", reason="looks at /proc")
def test_leaving_early_ends_the_workers() -> None:
    results = map_in_processes(engine_jobs.process_id, range(1000), workers=2, chunk=1)
    _, worker = next(results)
    results.close()
    for _ in range(100):
        if not Path(f"/proc/{worker}").exists():
            return
        time.sleep(0.05)
    raise AssertionError("the worker is still there")
