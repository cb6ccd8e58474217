"""The fields of a filter: columns, their other names, and what is computed from the time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches

import numpy as np
from numpy.typing import NDArray

from sightline.search.columns import Column, Columns, Numbers
from sightline.search.columns.build import CLOCK, CORE, HOMES
from sightline.search.filters.problems import FilterError
from sightline.search.filters.tree import Field

_OTHER_NAMES: Mapping[str, str] = {
    "taken_at": "time",
    "date": "time",
    "latitude": "lat",
    "longitude": "lon",
    "camera": "device",
    "tags": "tag",
    "facets": "facet",
    "flags": "flag",
    "groups": "group",
    "user": "owner",
    "name": "file",
    "filename": "file",
    "license": "licence",
}
NUMBER_FIELDS = frozenset(("lat", "lon", "altitude", "width", "height", *CLOCK))
_SHOWN = (
    "time, year, month, day, weekday, hour, lat, lon, altitude, address, place, device, tag, facet, flag, owner, "
    "event, group, id, file, mime, width, height, licence"
)


def usual_name(name: str) -> str:
    """The name of a field without regard to case, other names and Python's `time.year`."""
    name = name.strip().lower()
    name = _OTHER_NAMES.get(name, name)
    return name.removeprefix("time.") if name.removeprefix("time.") in CLOCK else name


def column_of(field: Field, columns: Columns) -> Column:
    """The column that a field names; if there is none, an error with the nearest name."""
    name = field.name.strip().lower()
    home, _, rest = name.partition(".")
    # A facet, flag or extra column keeps its plain name unless that was taken (columns/build.py).
    plain = rest if home in HOMES and rest not in CORE else name
    for known in (name, plain, usual_name(name)):
        if known in CLOCK:
            return Numbers(_clock(columns.times.wall, known))
        if known in columns.by_name:
            return columns.by_name[known]
    raise _unknown(field, columns)


def _unknown(field: Field, columns: Columns) -> FilterError:
    extra = sorted(name for name in columns.by_name if name not in _SHOWN.split(", "))
    names = [*_SHOWN.split(", "), *extra]
    near = get_close_matches(field.name.lower(), [*names, *_OTHER_NAMES], n=1, cutoff=0.6)
    meant = f'Did you mean "{near[0]}"? ' if near else ""
    also = f", {', '.join(extra[:20])}" + (" …" if len(extra) > 20 else "") if extra else ""
    return FilterError(f'unknown field "{field.name}"', field.at, f"{meant}Fields: {_SHOWN}{also}")


def _clock(wall: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    """A part of the time on the wall clock."""
    values = np.full(len(wall), np.nan)
    rows = np.flatnonzero(~np.isnan(wall))
    seconds = np.floor(wall[rows]).astype(np.int64)
    values[rows] = _PARTS[name](seconds)
    return values


def _months(seconds: NDArray[np.int64]) -> NDArray[np.int64]:
    """Whole months since 1970."""
    return seconds.astype("datetime64[s]").astype("datetime64[M]").astype(np.int64)


def _day_of_month(seconds: NDArray[np.int64]) -> NDArray[np.int64]:
    days = seconds.astype("datetime64[s]").astype("datetime64[D]")
    before: NDArray[np.int64] = (days - days.astype("datetime64[M]")).astype(np.int64)
    return before + 1


_PARTS: Mapping[str, Callable[[NDArray[np.int64]], NDArray[np.int64]]] = {
    "year": lambda seconds: _months(seconds) // 12 + 1970,
    "month": lambda seconds: _months(seconds) % 12 + 1,
    "day": _day_of_month,
    # The first of January 1970 was a Thursday, the fourth day.
    "weekday": lambda seconds: (seconds // 86_400 + 3) % 7 + 1,
    "hour": lambda seconds: seconds // 3600 % 24,
    "minute": lambda seconds: seconds // 60 % 60,
}
