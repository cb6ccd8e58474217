"""Searches that people want again: the last ones, and those that they saved, in a file of the workspace."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qsl, urlencode

import orjson

from sightline.io.files import write_whole

FILE_NAME = "searches.json"
_RECENT, _SAVED = 12, 200
_LENGTH = 2000
_LEFT_OUT = ("offset", "export", "upload")


@dataclass(frozen=True, slots=True)
class KeptSearch:
    """A search as its address has it, and what it is called."""

    query: str
    title: str


@dataclass
class KeptSearches:
    """The newest first; what can't be read counts as none."""

    workspace: Path | None
    _lock: threading.Lock = field(init=False, default_factory=threading.Lock)

    def recent(self) -> Sequence[KeptSearch]:
        return self._read()["recent"]

    def saved(self) -> Sequence[KeptSearch]:
        return self._read()["saved"]

    def is_saved(self, query: str) -> bool | None:
        """None for a search that can't be."""
        found = _kept(query)
        return None if found is None else found in self.saved()

    def keep(self, query: str, is_saved: bool) -> None:
        """Remember a search, among the last ones or for good."""
        found = _kept(query)
        if self.workspace is None or found is None:
            return
        name, most = ("saved", _SAVED) if is_saved else ("recent", _RECENT)
        with self._lock:
            held = self._read()
            held[name] = [found, *(one for one in held[name] if one != found)][:most]
            self._write(held)

    def forget(self, query: str) -> None:
        """No longer save a search."""
        with self._lock:
            held = self._read()
            held["saved"] = [one for one in held["saved"] if one != _kept(query)]
            self._write(held)

    def _write(self, held: dict[str, list[KeptSearch]]) -> None:
        if self.workspace is not None:
            with suppress(OSError):  # In a workspace that can't be written to, searches are not kept.
                texts = {name: [one.query for one in kept] for name, kept in held.items()}
                write_whole(self.workspace / FILE_NAME, orjson.dumps(texts))

    def _read(self) -> dict[str, list[KeptSearch]]:
        found: object = None
        with suppress(OSError, orjson.JSONDecodeError):
            found = None if self.workspace is None else orjson.loads((self.workspace / FILE_NAME).read_bytes())
        held = found if isinstance(found, dict) else {}
        return {name: _searches(held.get(name)) for name in ("recent", "saved")}


def _searches(held: object) -> list[KeptSearch]:
    texts = held if isinstance(held, list) else []
    return [one for text in texts if isinstance(text, str) and (one := _kept(text)) is not None]


def _kept(query: str) -> KeptSearch | None:
    """A search by its address; None where it asks for nothing, or for a picture that was dropped."""
    pairs = parse_qsl(query.lstrip("?"))[:_RECENT]
    given = dict(sorted((name, value) for name, value in pairs if name not in _LEFT_OUT and value.strip()))
    words = [value for name, value in given.items() if name not in ("method", "order", "similar")]
    if not words or len(query) > _LENGTH:
        return None
    text = given.get("text")
    rest = [value for value in words if value != text]
    return KeptSearch(urlencode(given), " · ".join([*([text] if text else []), *rest]))
