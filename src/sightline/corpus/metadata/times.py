"""Times as cameras and editors write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache

from sightline.corpus.metadata.reasons import ImplausibleError

FIRST_YEAR = 1826
"""The year of the oldest photograph."""

_TIME = re.compile(
    r"(\d{4})[-:/.](\d\d?)[-:/.](\d\d?)"
    r"(?:[T ]\s*(\d\d?):(\d\d?)(?::(\d\d?)(?:[.,](\d+))?)?\s*(Z|[-+][\d:]+)?)?",
    re.ASCII | re.IGNORECASE,
)
_OFFSET = re.compile(r"([-+])(\d\d?):?(\d\d)?", re.ASCII)


def parse_time(text: str, *, subseconds: str | None = None, offset: str | None = None) -> datetime:
    """EXIF's `2021:05:03 10:11:12` or any ISO 8601 form of a full date; a date alone is its midnight.

    An offset inside `text` wins over `offset`; an offset that can't be is left out. Anything else raises
    `ImplausibleError`.
    """
    found = _TIME.fullmatch(text.strip())
    if found is None:
        raise ImplausibleError(text)
    year, month, day, hour, minute, second, fraction, zone = found.groups()
    try:
        moment = datetime(
            int(year),
            int(month),
            int(day),
            int(hour or 0),
            int(minute or 0),
            int(second or 0),
            _microseconds(fraction or subseconds),
            _zone(zone or offset),
        )
    except ValueError:
        raise ImplausibleError(text) from None
    return plausible(moment)


def plausible(moment: datetime) -> datetime:
    """The same time, if a photograph can have been taken then."""
    if not FIRST_YEAR <= moment.year <= last_year():
        raise ImplausibleError(moment.isoformat())
    return moment


def last_year() -> int:
    """Next year; a machine whose clock was never set does not make every picture implausible."""
    return max(datetime.now().year, 2026) + 1


def _microseconds(digits: str | None) -> int:
    digits = (digits or "").strip()[:6]
    return int(digits.ljust(6, "0")) if digits.isascii() and digits.isdigit() else 0


@lru_cache(maxsize=256)
def _zone(text: str | None) -> timezone | None:
    text = (text or "").strip()
    if text in ("Z", "z"):
        return UTC
    found = _OFFSET.fullmatch(text)
    if found is None:
        return None
    sign, hours, minutes = found.groups()
    east = (60 * int(hours) + int(minutes or 0)) * (-1 if sign == "-" else 1)
    is_used = -12 * 60 <= east <= 14 * 60 and east % 15 == 0
    return timezone(timedelta(minutes=east)) if is_used else None
