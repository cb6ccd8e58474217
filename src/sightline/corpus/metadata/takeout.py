"""The JSON file that Google Takeout puts beside each picture."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import orjson

from sightline.corpus.metadata import reasons
from sightline.corpus.metadata.facts import Facts
from sightline.corpus.metadata.places import altitude, place
from sightline.corpus.metadata.reasons import ImplausibleError, believe
from sightline.corpus.metadata.text import keyword_tuple, tidy
from sightline.corpus.metadata.times import plausible
from sightline.types import Json

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_KNOWN = ("photoTakenTime", "geoData", "geoDataExif", "title", "description", "people", "url")


def facts(data: bytes) -> Facts:
    """What the file says; `broken sidecar` when it is no JSON or not about a picture.

    Takeout's `title` is the picture's file name before the export, so it goes to `extra`, with `people`,
    `favorited` and `url`.
    """
    try:
        record = orjson.loads(data)
    except orjson.JSONDecodeError:
        record = None
    if not isinstance(record, dict) or not any(key in record for key in _KNOWN):
        return Facts(warnings=(reasons.BROKEN_SIDECAR,), source="takeout")
    warnings: list[str] = []
    lat, lon, height = _position(record, warnings)
    return Facts(
        taken_at=believe(reasons.IMPLAUSIBLE_TIME, warnings, _time, record.get("photoTakenTime")),
        lat=lat,
        lon=lon,
        altitude=height,
        description=_text(record.get("description")),
        extra=_extra(record),
        warnings=tuple(warnings),
        source="takeout",
    )


def _time(value: Json) -> datetime | None:
    """Seconds since 1970 in UTC, as text; exactly 0 is a time that was never known."""
    stamp = value.get("timestamp") if isinstance(value, dict) else None
    if stamp is None:
        return None
    try:
        seconds = int(stamp) if isinstance(stamp, str | int) else 0
        moment = _EPOCH + timedelta(seconds=seconds)
    except (ValueError, OverflowError):
        raise ImplausibleError(str(stamp)) from None
    if moment == _EPOCH:
        raise ImplausibleError(str(stamp))
    return plausible(moment)


def _position(
    record: Mapping[str, Json], warnings: list[str]
) -> tuple[float, float, float | None] | tuple[None, None, None]:
    """The camera's position, or else Google's; zeros are Takeout's usual way to say that there is none."""
    for key in ("geoDataExif", "geoData"):
        lat, lon, metres = _numbers(record.get(key))
        if lat == 0 and lon == 0:
            continue
        where = believe(reasons.IMPLAUSIBLE_POSITION, warnings, place, lat, lon)
        if where is not None:
            height = believe(reasons.IMPLAUSIBLE_ALTITUDE, warnings, altitude, metres, below_sea=False)
            return where.lat, where.lon, height or None
    return None, None, None


def _numbers(value: Json) -> tuple[float, ...]:
    found = value if isinstance(value, dict) else {}
    numbers = (found.get(key) for key in ("latitude", "longitude", "altitude"))
    return tuple(float(number) if isinstance(number, int | float) else 0.0 for number in numbers)


def _extra(record: Mapping[str, Json]) -> dict[str, Json]:
    people = record.get("people")
    listed = people if isinstance(people, list) else []
    found: list[str] = [name for person in listed if isinstance(person, dict) and (name := _text(person.get("name")))]
    extra: dict[str, Json] = {
        "original_name": _text(record.get("title")),
        "people": list[Json](keyword_tuple(found)),
        "favorited": record.get("favorited") is True,
        "url": _text(record.get("url")),
    }
    return {key: value for key, value in extra.items() if value}


def _text(value: Json) -> str | None:
    return tidy(value) if isinstance(value, str) else None
