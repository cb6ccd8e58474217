"""Numbers and times as they are shown to people."""

from __future__ import annotations

from datetime import UTC, datetime

from sightline.types import Estimate

DASH = "–"
LETTERS = "systems that share a letter can't be told apart, or may not be called better"


def score(value: float | None) -> str:
    """A score to three decimals, never "-0.000"; a dash where there is none."""
    return DASH if value is None else f"{value:z.3f}"


def interval(estimate: Estimate) -> str:
    """`[0.812, 0.901]`; values that don't differ leave nothing to make one of."""
    return estimate.interval_text()


def estimate(found: Estimate | None) -> str:
    """`0.873 [0.812, 0.901]`; a dash where there was nothing to measure."""
    return DASH if found is None else str(found)


def p_value(p: float) -> str:
    """`< 0.001`, or three decimals."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def share(value: float) -> str:
    """A share in percent."""
    return f"{value * 100:.1f} %"


def seconds(duration: float | None) -> str:
    """A time in the unit in which it is easy to read; a dash where it is not known."""
    if duration is None:
        return DASH
    if duration < 1:
        return f"{duration * 1000:.0f} ms" if duration >= 0.01 else f"{duration * 1000:.1f} ms"
    for limit, size, unit in ((60, 1, "s"), (3600, 60, "min")):
        if duration < limit:
            return f"{duration / size:.1f} {unit}"
    return f"{duration / 3600:.1f} h"


def day(taken: datetime | str) -> str:
    """The day of a time, in words: `10 June 2024`; what is not a time is left as it is."""
    try:
        when = taken if isinstance(taken, datetime) else datetime.fromisoformat(taken)
    except ValueError:
        return str(taken)
    return f"{when.day} {when:%B} {when.year}"


def moment(when: datetime) -> str:
    """A time to the minute, in UTC."""
    return when.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
