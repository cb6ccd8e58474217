"""Attempts that take too long are ended: one look at all of them now and then, instead of a timer for each."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Self

_LOOKS = 20
"""Looks during the time that is allowed, so that nothing takes a twentieth longer; but one a second is enough."""


class Deadline:
    """`with deadline.watch(): await …` raises `TimeoutError` after so many seconds, or soon after; for one event loop.

    With a thousand calls in flight that all have the same time, a timer for each costs a tenth of a call.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._pause = min(1.0, seconds / _LOOKS)
        self._watched: dict[_Watched, None] = {}  # In the order of their beginning.
        self._timer: asyncio.TimerHandle | None = None

    def watch(self) -> _Watched:
        """A context manager around one attempt."""
        return _Watched(self)

    def enter(self, watched: _Watched, loop: asyncio.AbstractEventLoop) -> None:
        """One more to be watched."""
        self._watched[watched] = None
        if self._timer is None:
            self._timer = loop.call_later(self._pause, self._look, loop)

    def leave(self, watched: _Watched) -> None:
        """It is over, in time or not."""
        self._watched.pop(watched, None)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        since = loop.time() - self._seconds
        late = []
        for watched in self._watched:
            if watched.began > since:
                break
            late.append(watched)
        for watched in late:
            del self._watched[watched]
            watched.end()
        self._timer = loop.call_later(self._pause, self._look, loop) if self._watched else None


class _Watched:
    """One attempt, and the task that makes it."""

    __slots__ = ("_cancels", "_deadline", "_is_late", "_task", "began")

    def __init__(self, deadline: Deadline) -> None:
        self._deadline = deadline
        self._is_late = False

    def __enter__(self) -> Self:
        loop = asyncio.get_running_loop()
        task = asyncio.current_task(loop)
        assert task is not None
        self._task, self._cancels, self.began = task, task.cancelling(), loop.time()
        self._deadline.enter(self, loop)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._deadline.leave(self)
        # If somebody else has cancelled the task as well, that is what it is told.
        if self._is_late and self._task.uncancel() <= self._cancels and kind is asyncio.CancelledError:
            raise TimeoutError from error

    def end(self) -> None:
        """Its time is over."""
        self._is_late = True
        self._task.cancel()
