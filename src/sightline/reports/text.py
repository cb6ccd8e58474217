"""Numbers, times and strings of unknown origin, as they are shown to people."""

from __future__ import annotations

import math
import re
import unicodedata
from datetime import UTC, datetime

from sightline.types import Estimate

DASH = "–"
_SPACES = re.compile(r"\s+")
# Characters that reorder the text around them; the words themselves need none.
_BIDI_CONTROLS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def one_line(text: str) -> str:
    """The text on one line, without what could act on a page or a terminal: control characters become `�`."""
    return "".join(_harmless(letter) for letter in _SPACES.sub(" ", text))


def _harmless(letter: str) -> str:
    if letter in _BIDI_CONTROLS or unicodedata.category(letter) in ("Cc", "Cs"):
        return "\ufffd"
    return letter


def short(text: str, limit: int) -> str:
    """One line of at most `limit` columns; wide letters (Chinese, Japanese, …) count as two."""
    line = one_line(text).strip()
    if columns(line) <= limit:
        return line
    kept = ""
    for letter in line:
        if columns(kept + letter) > limit - 1:
            break
        kept += letter
    return kept.rstrip() + "…"


def columns(text: str) -> int:
    """How wide a text is, in letters of a typewriter."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def score(value: float | None) -> str:
    """A score to three decimals, never "-0.000"; a dash where there is none."""
    return DASH if value is None else f"{value:z.3f}"


def interval(estimate: Estimate) -> str:
    """`[0.812, 0.901]`, or why there is none: values that don't differ, too few tasks or clusters."""
    return estimate.no_interval or f"[{score(estimate.low)}, {score(estimate.high)}]"


def estimate(found: Estimate | None) -> str:
    """`0.873 [0.812, 0.901]`; a dash where there was nothing to measure."""
    return DASH if found is None or not found.n else f"{score(found.mean)} {interval(found)}"


def signed(value: float) -> str:
    """A difference, with its sign."""
    return f"{value:+z.3f}"


def p_value(p: float) -> str:
    """`< 0.001`, or three decimals."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def share(value: float) -> str:
    """A share in percent."""
    return f"{value * 100:.1f} %"


def money(usd: float) -> str:
    """US dollars, with two significant digits below one cent."""
    if usd >= 0.1 or usd == 0:
        return f"${usd:,.2f}"
    return f"${usd:.{1 - math.floor(math.log10(usd))}f}"


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
    """The day of a time, in words: `10 June 2024`; what is no time is left as it is."""
    try:
        when = taken if isinstance(taken, datetime) else datetime.fromisoformat(taken)
    except ValueError:
        return str(taken)
    return f"{when.day} {when:%B} {when.year}"


def moment(when: datetime) -> str:
    """A time to the minute, in UTC."""
    return when.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
