"""Attempts that take too long are ended: one look at all of them now and then, instead of timers for each."""

from __future__ import annotations

import asyncio
import math
from types import TracebackType
from typing import Self

_LOOKS = 20
"""Looks during the time that is allowed, so that nothing takes a twentieth longer; but one a second is enough."""


class Deadline:
    """`with deadline.watch(): await …` raises `TimeoutError` after so many seconds, or soon after; for one event loop.

    So it does after `quiet` seconds in which nothing was `heard`; they count from when a connection must be there, if
    that may take `connecting` seconds. With a thousand calls in flight, one timer for each costs a tenth of a call.
    """

    def __init__(self, seconds: float, quiet: float = math.inf, connecting: float = 0.0) -> None:
        self._seconds, self._quiet, self.connecting = seconds, quiet, connecting
        self._pause = min(1.0, seconds / _LOOKS, quiet / _LOOKS)
        self._watched: set[_Watched] = set()
        self._timer: asyncio.TimerHandle | None = None

    def watch(self) -> _Watched:
        """A context manager around one attempt."""
        return _Watched(self)

    def enter(self, watched: _Watched, loop: asyncio.AbstractEventLoop) -> None:
        """One more to be watched."""
        self._watched.add(watched)
        if self._timer is None:
            self._timer = loop.call_later(self._pause, self._look, loop)

    def leave(self, watched: _Watched) -> None:
        """It is over, in time or not."""
        self._watched.discard(watched)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        now = loop.time()
        began, heard = now - self._seconds, now - self._quiet
        for watched in [one for one in self._watched if one.began <= began or one.heard_at <= heard]:
            self._watched.remove(watched)
            watched.end(was_quiet=watched.began > began)
        self._timer = loop.call_later(self._pause, self._look, loop) if self._watched else None


class _Watched:
    """One attempt, and the task that makes it."""

    __slots__ = ("_cancels", "_deadline", "_is_late", "_loop", "_task", "began", "heard_at", "was_quiet")

    def __init__(self, deadline: Deadline) -> None:
        self._deadline = deadline
        self._is_late = self.was_quiet = False

    def __enter__(self) -> Self:
        self._loop = loop = asyncio.get_running_loop()
        task = asyncio.current_task(loop)
        assert task is not None
        self._task, self._cancels = task, task.cancelling()
        self.began = loop.time()
        self.heard_at = self.began + self._deadline.connecting
        self._deadline.enter(self, loop)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._deadline.leave(self)
        # If somebody else has cancelled the task as well, that is what it is told.
        if self._is_late and self._task.uncancel() <= self._cancels and kind is asyncio.CancelledError:
            raise TimeoutError from error

    def heard(self) -> None:
        """Something came."""
        self.heard_at = self._loop.time()

    def end(self, *, was_quiet: bool = False) -> None:
        """Its time is over."""
        self._is_late, self.was_quiet = True, was_quiet
        self._task.cancel()
