"""Rates that are kept: so many requests or tokens a minute."""

from __future__ import annotations

import math


class Bucket:
    """A token bucket; times are given to it, so that it can be tested without waiting.

    An amount larger than the bucket is let through when the bucket is full, and paid off before the next.
    """

    __slots__ = ("_at", "_capacity", "_level", "_per_second")

    def __init__(self, per_second: float, capacity: float, now: float, level: float | None = None) -> None:
        self._per_second, self._capacity, self._at = per_second, capacity, now
        self._level = capacity if level is None else level

    @classmethod
    def per_minute(cls, amount: float, now: float) -> Bucket:
        """Never more than `amount` single units in any 60 seconds: one second's worth at once, the rest spread out."""
        per_second = amount / 61
        return cls(per_second, max(1.0, per_second), now)

    def wait(self, amount: float, now: float) -> float:
        """Seconds until so much may be taken; 0 when it may be now."""
        self._refill(now)
        missing = min(amount, self._capacity) - self._level
        if missing <= 1e-9:
            return 0.0
        return missing / self._per_second if self._per_second > 0 else math.inf

    def take(self, amount: float, now: float) -> None:
        """Take it, down into debt where it must be."""
        self._refill(now)
        self._level -= amount

    def give_back(self, amount: float) -> None:
        """Return what was taken and not used; a negative amount takes more."""
        self._level = min(self._capacity, self._level + amount)

    def learn(self, limit: float, remaining: float, reset_seconds: float, now: float) -> None:
        """Follow what the server says: how many it allows, how many are left, and when all of them will be again."""
        self._refill(now)
        self._capacity = max(1.0, limit)
        self._level = min(self._level, remaining)
        self._per_second = max(limit - remaining, 1.0) / max(reset_seconds, 0.001)

    def _refill(self, now: float) -> None:
        if now > self._at:
            self._level = min(self._capacity, self._level + (now - self._at) * self._per_second)
            self._at = now
