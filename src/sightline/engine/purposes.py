"""What calls are for, known to whoever makes them without being handed down through every function."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_TASK: ContextVar[str | None] = ContextVar("sightline_task", default=None)
_AFRESH: ContextVar[bool] = ContextVar("sightline_afresh", default=False)
_REUSED: ContextVar[list[bytes] | None] = ContextVar("sightline_reused", default=None)


@contextmanager
def purpose(task: str | None, *, afresh: bool = False) -> Iterator[None]:
    """`with purpose("q17"): await model.reply(…)`: calls made inside are kept in the journal as made for that task.

    With `afresh` they are made also where the journal has an answer: it is the one that was not good enough.
    """
    tokens = _TASK.set(task), _AFRESH.set(afresh), _REUSED.set([])
    try:
        yield
    finally:
        _TASK.reset(tokens[0])
        _AFRESH.reset(tokens[1])
        _REUSED.reset(tokens[2])


def current_task() -> str | None:
    """The task that calls made here are for."""
    return _TASK.get()


def asks_afresh() -> bool:
    """Are calls made here to be made although the journal has an answer?"""
    return _AFRESH.get()


def note_reuse(key: bytes) -> None:
    """The journal answered this request."""
    reused = _REUSED.get()
    if reused is not None:
        reused.append(key)


def reused_keys() -> tuple[bytes, ...]:
    """The requests that the journal answered for this purpose so far."""
    return tuple(_REUSED.get() or ())
