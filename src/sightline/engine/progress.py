"""A progress bar with rate and time left, on stderr; silent when that is not a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeAlias, TypeVar

Advance: TypeAlias = Callable[[int], None]
T = TypeVar("T")


def _silent(_: int) -> None:
    """Nobody is watching."""


@contextmanager
def progress(what: str, total: int | None, *, show: bool = True) -> Iterator[Advance]:
    """`with progress("scan", 4812) as advance: … advance(1)`; `total` None when it is not known."""
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
        task = bar.add_task(what, total=total, rate="")

        def advance(count: int) -> None:
            bar.advance(task, count)
            speed = bar.tasks[0].speed
            bar.update(task, rate=f"{speed:,.0f}/s" if speed else "")

        yield advance


def advancing(items: Iterable[T], advance: Advance) -> Iterator[T]:
    """The items, one step of progress for each."""
    for item in items:
        advance(1)
        yield item
