"""How many calls at once: more while that helps, half as many when the server refuses."""

from __future__ import annotations

import math

_LEAST_SAMPLES = 32
_MORE_PAYS, _LESS_PAYS = 0.2, 0.1
"""More calls at once pay when the rate follows by at least this share; fewer, when it follows by at most this.
Both are small: too few cost time, too many only wait in line."""
_START, _RECOVER, _PROBE, _CAREFUL_PROBE, _LESS = 2.0, 1.5, 1.25, 1.1, 0.8
"""Factors: at first; back to below the last refusal; past what is known to be good; past a refusal; down."""
_ENOUGH_DOUBTS = 2
"""So often doubling must not have paid before it ends: once may be chance."""
_SHORT_STAY, _LONG_STAY = 2, 16
"""Windows to stay at a limit that seems right before another is tried: longer each time that it proves right again."""


class AdaptiveLimit:
    """Finds the number of calls at once that an endpoint can use; times are given to it.

    It watches windows of about `limit` replies to calls that began after the last change. By Little's law the rate is
    the mean number in flight over the mean time of a call. It doubles while that pays, then tries a quarter more and a
    fifth less in turn, and keeps what pays. A refusal halves it, once for all calls that were on their way, and marks
    the level to stay below. A limit that starts at its most is the user's wish, and is lowered by refusals alone.
    """

    __slots__ = (
        "_before",
        "_began",
        "_ceiling",
        "_count",
        "_cut_at",
        "_doubts",
        "_in_flight",
        "_is_wish",
        "_most",
        "_next_stay",
        "_seconds",
        "_stay",
        "_upwards",
        "limit",
    )

    def __init__(self, start: int, most: int) -> None:
        self.limit = max(1, min(start, most))
        self._most = max(1, most)
        self._upwards = True
        self._doubts = 0
        self._is_wish = start >= most
        self._before: tuple[int, float] | None = None  # The limit and the rate before the last growth.
        self._ceiling = math.inf
        self._stay, self._next_stay = 0, _SHORT_STAY
        self._cut_at = self._began = -math.inf
        self._count, self._seconds, self._in_flight = 0, 0.0, 0

    def replied(self, started: float, in_flight: int, now: float) -> None:
        """A call that began at `started` was answered, while so many (it included) were in flight."""
        if started < self._began:
            return
        self._count += 1
        self._seconds += now - started
        self._in_flight += in_flight
        if self._count >= max(_LEAST_SAMPLES, self.limit):
            self._close_window(now)

    def refused(self, started: float, in_flight: int, now: float) -> bool:
        """The server asks for less; True when that lowers the limit, and is not news of before it was lowered."""
        if started <= self._cut_at:
            return False
        self._ceiling = min(self.limit, max(1, in_flight))
        self._doubts = _ENOUGH_DOUBTS
        self._before = None
        self._stay = 0
        self._cut_at = now
        self._set(max(1, int(self._ceiling) // 2), now)
        return True

    @property
    def _doubling(self) -> bool:
        return self._doubts < _ENOUGH_DOUBTS

    def _close_window(self, now: float) -> None:
        used = self._in_flight / self._count
        rate = used / max(self._seconds / self._count, 1e-9)
        self._set(self.limit, now)
        if used < 0.75 * self.limit:  # There was not enough to do to learn from.
            return
        before, self._before = self._before, None
        if before is not None and not _paid(before, (self.limit, rate)):
            self._doubts += 1
            self._upwards = self._doubling or self.limit < before[0]
            self._stay, self._next_stay = self._next_stay, min(2 * self._next_stay, _LONG_STAY)
            self._set(before[0], now)
            return
        if before is not None:
            self._next_stay = _SHORT_STAY
        if self._stay > 0:
            self._stay -= 1
        elif self._upwards or self._is_wish or self._ceiling < math.inf:
            self._grow(rate, now)
        else:
            self._shrink(rate, now)

    def _shrink(self, rate: float, now: float) -> None:
        self._upwards = True
        wanted = int(self.limit * _LESS)
        if wanted >= 1:
            self._before = (self.limit, rate)
            self._set(wanted, now)

    def _grow(self, rate: float, now: float) -> None:
        near = self.limit >= 0.9 * self._ceiling
        if near:  # All went well just below the level of the last refusal for a while: that level may be history.
            self._ceiling = math.inf
        recovering = self._ceiling < math.inf
        factor = _START if self._doubling else _RECOVER if recovering else _CAREFUL_PROBE if near else _PROBE
        wanted = max(self.limit + 1, int(self.limit * factor))
        if wanted > 0.95 * self._ceiling:
            wanted = max(self.limit + 1, int(0.95 * self._ceiling))
            self._stay = _LONG_STAY
        wanted = min(wanted, self._most)
        if wanted > self.limit:
            self._before = None if recovering else (self.limit, rate)
            self._set(wanted, now)

    def _set(self, limit: int, now: float) -> None:
        self.limit = limit
        self._began = now
        self._count, self._seconds, self._in_flight = 0, 0.0, 0


def _paid(before: tuple[int, float], after: tuple[int, float]) -> bool:
    """Did the rate follow the limit far enough upwards, or little enough downwards?"""
    change = after[0] / before[0] - 1
    return after[1] >= before[1] * (1 + (_MORE_PAYS if change > 0 else _LESS_PAYS) * change)
