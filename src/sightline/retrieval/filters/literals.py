"""What the values of a filter mean: spans of time, numbers, distances, yes and no."""

from __future__ import annotations

import calendar
import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from sightline.retrieval.filters.tree import FilterError, Value

_TIME = re.compile(
    r"(?P<year>\d{4})(?:[-/](?P<month>\d\d?)(?:[-/](?P<day>\d\d?)"
    r"(?:[T ]\s*(?P<hour>\d\d?)(?::(?P<minute>\d\d)(?::(?P<second>\d\d)(?:\.(?P<fraction>\d{1,6})\d*)?)?)?"
    r"\s*(?P<zone>Z|[-+]\d\d:?\d\d)?)?)?)?",
    re.ASCII | re.IGNORECASE,
)
_UNITS: Mapping[str, float] = {"km": 1.0, "m": 0.001, "mi": 1.609344}
_DISTANCE = re.compile(r"(?P<number>[-+.\d]+(?:e[-+]?\d+)?)\s*(?P<unit>[a-z]*)", re.ASCII | re.IGNORECASE)
_RANGES: Mapping[str, tuple[float, float]] = {
    "year": (1, 9999),
    "month": (1, 12),
    "day": (1, 31),
    "weekday": (1, 7),
    "hour": (0, 23),
    "minute": (0, 59),
    "lat": (-90, 90),
    "lon": (-180, 180),
}
_YES, _NO = frozenset(("true", "yes", "1")), frozenset(("false", "no", "0"))
MONTHS = tuple(name.lower() for name in calendar.month_name[1:])
WEEKDAYS = tuple(name.lower() for name in calendar.day_name)
HALF_WAY_ROUND_KM = 20_038.0
_DATE_HELP = "write 2019, 2019-06, 2019-06-01 or 2019-06-01T18:30, with an offset (Z, +09:00) if you like"


class Span(NamedTuple):
    """From `start` up to but not including `end`, in seconds; `offset` (of its zone, in seconds) if one was given."""

    start: float
    end: float
    offset: float | None


def time_of(value: Value) -> Span:
    """A time, or the whole span of a year, month, day, hour, minute or second."""
    found = _TIME.fullmatch(value.text.strip())
    if found is None:
        raise FilterError(f'"{value.text}" is not a time', value.at, _DATE_HELP)
    part = found.groupdict()
    try:
        start = datetime(
            int(part["year"]),
            int(part["month"] or 1),
            int(part["day"] or 1),
            int(part["hour"] or 0),
            int(part["minute"] or 0),
            int(part["second"] or 0),
            int((part["fraction"] or "0").ljust(6, "0")),
            UTC,
        )
    except ValueError as error:
        raise FilterError(f'"{value.text}" does not exist ({error})', value.at, _DATE_HELP) from None
    offset = _offset(part["zone"], value)
    seconds = start.timestamp() - (offset or 0.0)
    return Span(seconds, seconds + _length(part, start), offset)


def _length(part: Mapping[str, str | None], start: datetime) -> float:
    if part["month"] is None:
        return 86_400.0 * (365 + calendar.isleap(start.year))
    if part["day"] is None:
        return 86_400.0 * calendar.monthrange(start.year, start.month)[1]
    for name, length in (("hour", 86_400.0), ("minute", 3600.0), ("second", 60.0), ("fraction", 1.0)):
        if part[name] is None:
            return length
    return 1e-6


def _offset(zone: str | None, value: Value) -> float | None:
    if zone is None:
        return None
    if zone in "Zz":
        return 0.0
    hours, minutes = int(zone[1:3]), int(zone[-2:])
    if hours > 14 or minutes > 59:
        raise FilterError(f'"{zone}" is not an offset from UTC', value.at, "they go from -12:00 to +14:00")
    return (-1 if zone[0] == "-" else 1) * timedelta(hours=hours, minutes=minutes).total_seconds()


def number_of(value: Value, field: str, *, in_range: bool = True) -> float:
    """A number, in the range that the field has; months and weekdays also by name, altitudes with a unit."""
    text = value.text.strip().lower()
    names = {"month": MONTHS, "weekday": WEEKDAYS}.get(field, ())
    if len(text) >= 3 and text.isalpha():
        for number, name in enumerate(names, 1):
            if name.startswith(text):
                return float(number)
    if field == "altitude" and text.endswith(("m", "mi")):
        return 1000 * distance_of(value)
    number_ = plain_number(value, f"{field} is a number")
    low, high = _RANGES.get(field, (-math.inf, math.inf))
    if in_range and not low <= number_ <= high:
        raise FilterError(f"{field} goes from {low:g} to {high:g}, not {value.text},", value.at)
    return number_


def plain_number(value: Value, why: str) -> float:
    """A finite number."""
    try:
        number = float(value.text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number) or "_" in value.text:
        raise FilterError(f'{why}, "{value.text}" is not', value.at, "write it like 35 or -0.5")
    return number


def distance_of(value: Value) -> float:
    """Kilometres; the unit may be km, m or mi, and is km when it is left out."""
    found = _DISTANCE.fullmatch(value.text.strip())
    unit = found["unit"].lower() or "km" if found else ""
    if found is None or unit not in _UNITS:
        raise FilterError(f'"{value.text}" is not a distance', value.at, "write it like 5km, 800m or 3mi")
    return plain_number(Value(found["number"], value.at), "a distance is a number with a unit") * _UNITS[unit]


def radius_of(value: Value) -> float:
    """A distance that a circle on Earth can have."""
    km = distance_of(value)
    if not 0 <= km <= HALF_WAY_ROUND_KM:
        raise FilterError(f'a radius of "{value.text}" can\'t be on Earth', value.at, "use one from 0 to 20038km")
    return km


def flag_of(value: Value, field: str) -> bool:
    """Yes or no."""
    text = value.text.strip().lower()
    if text not in _YES | _NO:
        raise FilterError(f'{field} is true or false, "{value.text}" is neither', value.at)
    return text in _YES
