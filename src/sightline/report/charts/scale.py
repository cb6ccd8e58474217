"""Where a value lies on an axis, and which round values to name."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0, 20.0)
_MOST_STEPS = 5
_NEARLY = 1e-9


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis from `low` at `start` to `high` at `end` (in pixels), and the values to name on it."""

    low: float
    high: float
    start: float
    end: float
    ticks: tuple[float, ...]
    logarithmic: bool = False

    def at(self, value: float) -> float:
        """The place of a value, to a tenth of a pixel."""
        low, high, here = (math.log10(x) if self.logarithmic else x for x in (self.low, self.high, value))
        return round(self.start + (here - low) / (high - low) * (self.end - self.start), 1)


def linear(values: Iterable[float], start: float, end: float) -> Scale:
    """An axis that holds all values, between round ones."""
    known = list(values)
    low, high = min(known), max(known)
    if high - low < _NEARLY:  # Scores that all agree: an axis around them that stays between 0 and 1 if they do.
        low, high = (low - 0.1, low) if 0.9 < low <= 1 else (low, low + 0.1)
    size = 10.0 ** math.floor(math.log10((high - low) / _MOST_STEPS))
    ends = (_ends(low, high, size * factor) for factor in _STEPS)
    step, first, last = next(found for found in ends if found[2] - found[1] <= _MOST_STEPS)
    ticks = tuple(round(number * step, 12) for number in range(first, last + 1))
    return Scale(ticks[0], ticks[-1], start, end, ticks)


def logarithmic(values: Iterable[float], start: float, end: float) -> Scale:
    """An axis for values above zero, with a little room on both sides; powers of ten are named, or 1, 2 and 5 times."""
    known = list(values)
    low, high = min(known) / 1.6, max(known) * 1.6
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = _between(low, high, [10.0**power for power in powers])
    if len(ticks) < 2:
        ticks = _between(low, high, [10.0**power * factor for power in powers for factor in (1, 2, 5)])
    return Scale(low, high, start, end, ticks, logarithmic=True)


def _ends(low: float, high: float, step: float) -> tuple[float, int, int]:
    return step, math.floor(low / step + _NEARLY), math.ceil(high / step - _NEARLY)


def _between(low: float, high: float, values: Sequence[float]) -> tuple[float, ...]:
    return tuple(value for value in values if low <= value <= high)
