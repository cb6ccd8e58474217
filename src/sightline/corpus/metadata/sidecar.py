"""Files beside a picture that speak of it: which name belongs to which picture, and what the file says.

Sidecars are `.xmp` files and the JSON that Google Takeout puts beside each picture.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sightline.corpus.metadata import xmp
from sightline.corpus.metadata.facts import (
    BROKEN_SIDECAR,
    BROKEN_XMP,
    IMPLAUSIBLE_ALTITUDE,
    IMPLAUSIBLE_POSITION,
    IMPLAUSIBLE_TIME,
    ImplausibleError,
    MetadataFacts,
    believe,
)
from sightline.corpus.metadata.values import altitude, keyword_tuple, plausible, position, tidy
from sightline.io.jsonl import json_object
from sightline.types import Json

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_KNOWN = ("photoTakenTime", "geoData", "geoDataExif", "title", "description", "people", "url")
MAX_BYTES = xmp.MAX_BYTES
# As it is, and cut anywhere.
_SUPPLEMENTS = tuple(".supplemental-metadata"[:size] for size in range(22, 0, -1))
_CUT = 46
"""Takeout cuts a name to this many characters, then adds the number of a duplicate, then `.json`."""
EDITED = "edited|bearbeitet|bewerkt|editado|ha editado|editat|edytowane|modificato|modifi(?:\u00e9|e\u0301)|編集済み"
"""What Google Photos calls an edited copy, in the languages that are known."""
_MADE = re.compile(f"-(?:{EDITED}|effects|smile|mix)$")
_NUMBERED = re.compile(r"(.*)(\(\d+\))$", re.DOTALL)
FILMS = ("mov", "mp4", "m4v", "avi", "mkv", "mts", "m2ts", "mpg", "mpeg", "3gp", "wmv", "webm")
EXTENSIONS = ("jpg", "jpeg", "png", "webp", "gif", "bmp", "tif", "tiff", "heic", "heif", "avif")
# Takeout writes an edited copy as JPEG, whatever the original is.
_ORIGINALS = (".HEIC", ".heic", ".jpg", ".JPG", ".jpeg", ".png")
_KNOWN_ENDINGS = "|".join((*EXTENSIONS, *FILMS))
_TAKEOUT = re.compile(
    rf"(?:.*\.(?:{_KNOWN_ENDINGS})(?:{'|'.join(map(re.escape, _SUPPLEMENTS))})?|.{{{_CUT}}})(?:\(\d+\))?\.json",
    re.DOTALL | re.IGNORECASE,
)


def takeout_facts(data: bytes) -> MetadataFacts:
    """What the file says; `broken sidecar` when it is no JSON or not about a picture.

    Takeout's `title` is the picture's file name before the export, so it goes to `extra`, with `people`,
    `favorite` and `url`.
    """
    record = json_object(data)
    if record is None or not any(key in record for key in _KNOWN):
        return MetadataFacts(warnings=(BROKEN_SIDECAR,), source="takeout")
    warnings: list[str] = []
    lat, lon, height = _position(record, warnings)
    return MetadataFacts(
        taken_at=believe(IMPLAUSIBLE_TIME, warnings, _time, record.get("photoTakenTime")),
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
        where = believe(IMPLAUSIBLE_POSITION, warnings, position, lat, lon)
        if where is not None:
            height = believe(IMPLAUSIBLE_ALTITUDE, warnings, altitude, metres, below_sea=False)
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
        "favorite": record.get("favorited") is True,
        "url": _text(record.get("url")),
    }
    return {key: value for key, value in extra.items() if value}


def _text(value: Json) -> str | None:
    return tidy(value) if isinstance(value, str) else None


def find_sidecars(name: str, siblings: Container[str]) -> tuple[str, ...]:
    """The sidecars of the picture `name` among the names in its folder: `.xmp` files, then Takeout's `.json`.

    `a.jpg` → `a.jpg.xmp`, `a.xmp`, `a.jpg.json`, `a.jpg.supplemental-metadata.json` and its cut forms; a numbered
    duplicate `a(1).jpg` → `a.jpg(1).json`; an edited copy `a-edited.jpg` → its original's.
    """
    stem, dot, extension = name.rpartition(".")
    if not dot:
        stem, extension = name, ""
    beside = [base + ending for base in (name, stem) for ending in (".xmp", ".XMP")]
    found = [candidate for candidate in dict.fromkeys(beside) if candidate in siblings]
    record = next((candidate for candidate in _takeout_names(stem, dot + extension) if candidate in siblings), None)
    return (*found, record) if record else tuple(found)


def is_sidecar(name: str) -> bool:
    """Whether a file of this name is kept beside pictures: `.xmp`, or `.json` in one of Takeout's forms."""
    return name.lower().endswith(".xmp") or _TAKEOUT.fullmatch(name) is not None


def read_sidecar(path: Path) -> MetadataFacts:
    """What a sidecar says, by its content; one that can't be read gives no facts but `broken sidecar`."""
    data = _content(path).removeprefix(b"\xef\xbb\xbf").lstrip()
    if data.startswith(b"{"):
        return takeout_facts(data)
    said = xmp.facts(xmp.parse(data))
    named = (BROKEN_SIDECAR if warning == BROKEN_XMP else warning for warning in said.warnings)
    return replace(said, warnings=tuple(named))


def _content(path: Path) -> bytes:
    """The file's bytes; none when it is not a file, can't be read or is larger than any sidecar."""
    try:
        if not path.is_file() or path.stat().st_size > MAX_BYTES:
            return b""
        return path.read_bytes()
    except (OSError, ValueError):
        return b""


def _takeout_names(stem: str, extension: str) -> Iterator[str]:
    """Every name that Takeout may have given to the record of `stem + extension`, the likeliest first."""
    yield from _records(stem + extension)
    number = ""
    if numbered := _NUMBERED.match(stem):
        stem, number = numbered.groups()
        yield from _records(stem + extension, number)
    if edited := _MADE.search(stem):
        for original in dict.fromkeys((extension, *_ORIGINALS)):
            yield from _records(stem[: edited.start()] + original, number)


def _records(name: str, number: str = "") -> Iterator[str]:
    yield f"{name}{number}.json"
    if len(name) >= _CUT:
        yield f"{name[:_CUT]}{number}.json"
        return
    for supplement in _SUPPLEMENTS:
        yield f"{(name + supplement)[:_CUT]}{number}.json"
