"""A progress bar with rate and time left, on stderr; silent when that is not a terminal.

For whoever started the process, `$SIGHTLINE_PROGRESS` names a file that has the same as JSON, and the exit code.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import orjson

Advance: TypeAlias = Callable[[int], None]
PROGRESS_FILE = "SIGHTLINE_PROGRESS"
"""The environment variable that names the file."""
_EVERY_SECONDS = 0.2
_TOLD: dict[str, Any] = {}
T = TypeVar("T")


def _silent(_: int) -> None:
    """Nobody is watching."""


@contextmanager
def progress(what: str, total: int | None, *, done: int = 0, show: bool = True) -> Iterator[Advance]:
    """`with progress("scan", 4812) as advance: … advance(1)`; `total` is None when it is not known."""
    if show and os.environ.get(PROGRESS_FILE):
        yield _reporting(what, total, done)
        return
    if not show or not sys.stderr.isatty():
        yield _silent
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total, completed=done, rate="")

        def advance(count: int) -> None:
            bar.advance(task, count)
            speed = bar.tasks[0].speed
            bar.update(task, rate=f"{speed:,.0f}/s" if speed else "")

        yield advance


def _reporting(what: str, total: int | None, done: int) -> Advance:
    """Tell the file how far the work is, a few times a second."""
    due = 0.0

    def advance(count: int) -> None:
        nonlocal done, due
        done += count
        if time.monotonic() >= due or done == total:
            report({"what": what, "done": done, "total": total})
            due = time.monotonic() + _EVERY_SECONDS

    advance(0)
    return advance


def report(state: dict[str, Any]) -> None:
    """Tell the file what is new, where one is named; that it can't be written stops nobody."""
    if path := os.environ.get(PROGRESS_FILE):
        _TOLD.update(state)
        with suppress(OSError):
            fresh = Path(f"{path}.tmp")
            fresh.write_bytes(orjson.dumps(_TOLD))
            fresh.replace(path)


def advancing(items: Iterable[T], advance: Advance) -> Iterator[T]:
    """The items, one step of progress for each."""
    for item in items:
        advance(1)
        yield item
