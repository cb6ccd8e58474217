"""Asynchronous work for code that is not: also where a loop runs already, as in a notebook."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from pathlib import Path

import pytest

import sightline
from sightline.engine.event_loop import run_async
from small_folders import make_folders

task: ContextVar[str] = ContextVar("task", default="none")


async def _seen() -> str:
    await asyncio.sleep(0)
    return task.get()


def test_it_runs_where_no_loop_runs() -> None:
    task.set("here")
    assert run_async(_seen()) == "here"


def test_it_runs_inside_a_loop_with_the_context_of_the_caller() -> None:
    async def notebook() -> str:
        task.set("cell")
        return run_async(_seen())

    assert asyncio.run(notebook()) == "cell"


def test_an_error_comes_back_from_inside_a_loop() -> None:
    async def fails() -> None:
        raise ValueError("wrong")

    async def notebook() -> None:
        run_async(fails())

    with pytest.raises(ValueError, match="wrong"):
        asyncio.run(notebook())


def test_a_dry_run_works_in_a_notebook(tmp_path: Path) -> None:
    make_folders(tmp_path)

    async def cell() -> int:
        plan = sightline.dry_run(
            sightline.think, tmp_path / "pictures", teachers="openai/gpt-5-mini", workspace=tmp_path / "ws"
        )
        return sum(stage.calls for stage in plan.stages)

    assert asyncio.run(cell()) == 12
