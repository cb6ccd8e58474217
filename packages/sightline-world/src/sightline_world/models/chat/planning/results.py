"""What tools answered, in JSON or in words: ids, times and addresses, errors."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sightline.models.json_schema import json_values

_ID_KEYS = ("photo_id", "image_id", "picture_id", "id", "photo", "picture", "image")
_LIST_KEYS = (
    "photos",
    "ids",
    "photo_ids",
    "pictures",
    "results",
    "images",
    "matches",
    "hits",
    "image_ids",
    "picture_ids",
)
_TIME_KEYS = ("time", "taken_at", "taken_time", "date", "datetime", "taken", "timestamp", "when")
_ADDRESS_KEYS = ("address", "place", "location", "where")
_TIME = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?)?")
_ERROR = re.compile(r"^\W*(?:tool )?(?:error|exception|failed|failure|unknown tool|invalid|traceback)\b", re.IGNORECASE)
_PIECES = re.compile(r"[^\s,;|()\[\]{}\"'=<>]+")
_FILE = re.compile(r"\.(?:jpe?g|png|webp|gif)$")
_DEEPEST = 6


@dataclass(frozen=True, slots=True)
class Facts:
    """When and where a picture was taken, as far as its metadata says."""

    time: datetime | None
    address: str = ""

    @property
    def town(self) -> str:
        """The part of the address before the country."""
        parts = [part.strip() for part in self.address.split(",") if part.strip()]
        return parts[-2] if len(parts) > 1 else self.address.strip()


def is_error(text: str) -> bool:
    """Did the tool say that it could not do it?"""
    first = next(json_values(text), None) if text.lstrip().startswith(("{", "[")) else None
    if isinstance(first, dict | list):
        return isinstance(first, dict) and bool(first.get("error"))
    return _ERROR.match(text) is not None


def ids_in(text: str) -> list[str]:
    """The pictures that an answer names, in its order."""
    for value in json_values(text):
        found = list(dict.fromkeys(_ids(value, 0)))
        if found or isinstance(value, dict | list):
            return found
    return list(dict.fromkeys(_loose_ids(text)))


def _ids(value: Any, depth: int) -> Iterator[str]:
    if depth > _DEEPEST:
        return
    if isinstance(value, dict):
        own = next((value[key] for key in _ID_KEYS if isinstance(value.get(key), str | int)), None)
        if own is not None:
            yield str(own)
        for key, part in value.items():
            if key in _LIST_KEYS and isinstance(part, list):
                yield from _listed(part, depth)
            elif key in _LIST_KEYS and isinstance(part, dict) and not set(part) & set(_ID_KEYS):
                yield from map(str, part)
            elif isinstance(part, dict | list) and key not in _ID_KEYS:
                yield from _ids(part, depth + 1)
    elif isinstance(value, list):
        yield from _listed(value, depth)


def _listed(values: list[Any], depth: int) -> Iterator[str]:
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, list) and value and isinstance(value[0], str):
            yield value[0]
        else:
            yield from _ids(value, depth + 1)


def _loose_ids(text: str) -> Iterator[str]:
    for piece in _PIECES.findall(text):
        word = piece.strip(".:*-`")
        if looks_like_id(word):
            yield word


def looks_like_id(word: str) -> bool:
    """Letters with digits, a file name, or a long number; no date, no score."""
    if _TIME.match(word) or (re.fullmatch(r"[\d.:%+-]+", word) and not re.fullmatch(r"\d{5,}", word)):
        return False
    return bool(_FILE.search(word.lower())) or (len(word) > 1 and any(letter.isdigit() for letter in word))


def facts_in(text: str) -> dict[str, Facts]:
    """Time and address of each picture that an answer tells them of."""
    for value in json_values(text):
        found = dict(_facts(value, 0))
        if found:
            return found
    return dict(_loose_facts(text))


def _facts(value: Any, depth: int) -> Iterator[tuple[str, Facts]]:
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for part in value:
            yield from _facts(part, depth + 1)
    elif isinstance(value, dict):
        own = next((value[key] for key in _ID_KEYS if isinstance(value.get(key), str | int)), None)
        if own is not None and set(value) & {*_TIME_KEYS, *_ADDRESS_KEYS}:
            yield str(own), _fact(value)
            return
        for key, part in value.items():
            if isinstance(part, dict) and set(part) & {*_TIME_KEYS, *_ADDRESS_KEYS} and not set(part) & set(_ID_KEYS):
                yield str(key), _fact(part)
            else:
                yield from _facts(part, depth + 1)


def _fact(record: Mapping[str, Any]) -> Facts:
    time = next((record[key] for key in _TIME_KEYS if isinstance(record.get(key), str)), "")
    address = next((record[key] for key in _ADDRESS_KEYS if isinstance(record.get(key), str)), "")
    return Facts(read_time(time), address)


def _loose_facts(text: str) -> Iterator[tuple[str, Facts]]:
    for line in text.splitlines():
        found = _TIME.search(line)
        name = next(_loose_ids(line[: found.start()] if found else line), None)
        if found is not None and name is not None:
            yield name, Facts(read_time(found[0]), line[found.end() :].strip(" ,;|-\t"))


def read_time(text: str) -> datetime | None:
    """A time as its clock on the wall showed it; the zone is left out."""
    found = _TIME.search(text)
    try:
        return datetime.fromisoformat(found[0].replace("Z", "+00:00")).replace(tzinfo=None) if found else None
    except ValueError:
        return None
