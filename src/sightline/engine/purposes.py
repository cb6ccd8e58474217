"""What calls are for, known to whoever makes them without being handed down through every function."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_TASK: ContextVar[str | None] = ContextVar("sightline_task", default=None)


@contextmanager
def purpose(task: str | None) -> Iterator[None]:
    """`with purpose("q17"): await model.reply(…)`: calls made inside are kept in the journal as made for that task."""
    token = _TASK.set(task)
    try:
        yield
    finally:
        _TASK.reset(token)


def current_task() -> str | None:
    """The task that calls made here are for."""
    return _TASK.get()
