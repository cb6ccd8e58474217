"""When a failed attempt is tried again, and after how long."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from sightline.types import Failure

OVERLOADS = frozenset({"rate-limited", "overloaded"})
"""The server is well, and asks for less at a time."""
_ASKED_DIFFERENTLY = frozenset({"wrong-schema"})
"""Worth another attempt only when the model is told what was wrong, which `models.structured_output` does."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often, and how long between: exponential with full jitter, and never sooner than the server asks for."""

    attempts: int = 6
    "At most so many attempts at one call; refusals for being too many are counted apart."
    overload_attempts: int = 20
    "At most so many refusals (429, 503, 529) of one call."
    first_seconds: float = 0.5
    "The first pause is between 0 and this; the next up to twice as long, and so on."
    longest_seconds: float = 60.0
    random: random.Random = field(default_factory=random.Random, repr=False)

    def again(self, failure: Failure, failed: int, refused: int) -> bool:
        """Is another attempt due, after so many that failed and so many that were refused?"""
        if not failure.retryable or failure.kind in _ASKED_DIFFERENTLY:
            return False
        if failure.kind in OVERLOADS:
            return refused < self.overload_attempts
        return failed < self.attempts

    def pause(self, number: int, retry_after: float | None = None) -> float:
        """Seconds to wait after the attempt of that number (from 1)."""
        most = min(self.longest_seconds, self.first_seconds * 2.0 ** min(number - 1, 60))
        return (retry_after or 0.0) + self.random.uniform(0.0, most)
