"""A web that remembers: what was seen once is answered from a file, so that a run can be repeated offline.

A picture that was searched by is known by its bytes, else by its size and looks: another version of a decoder may give
slightly other pixels.
"""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from PIL import Image

from sightline.agent.tools.pixels import load
from sightline.agent.web.base import MISSING, Web, WebHit, WebPage, WebPicture, leaves_machine
from sightline.io.sqlite import open_database, read_database
from sightline.types import Failure

_VERSION_1 = """CREATE TABLE seen (key BLOB PRIMARY KEY, what TEXT NOT NULL, asked TEXT NOT NULL, web TEXT NOT NULL,
    at REAL NOT NULL, answer BLOB NOT NULL) WITHOUT ROWID"""
MIGRATIONS = (_VERSION_1,)
_PASSING = frozenset(("timeout", "connection", "rate-limit"))
"""Failures that may be different the next time: told again only where nobody can be asked."""
_FIX = "copy the file again from where it was written, or name another run that had a web"
_LOOKS = 16
_NEAR = 3.0
"""Levels of 255 by which one of the 16 × 16 parts of a picture may differ from the recorded one."""


class FrozenWeb:
    """What `web` answered is kept in a SQLite file, and not asked again; without one only what is kept is known."""

    def __init__(self, path: Path, web: Web | None = None) -> None:
        self._web = web
        self._path = path
        self._database: sqlite3.Connection | None = None
        self._lock = threading.Lock()
        self.name = "frozen" if web is None else f"frozen {web.name.removeprefix('frozen ')}"
        self.offline = web is None or not leaves_machine(web)
        if web is None:  # A damaged file is said now; a new one is made when there is something to keep.
            self._file()

    async def search(self, query: str, k: int) -> Sequence[WebHit] | Failure:
        web = self._web
        found = await self._kept("search", f"{k} {query}", None if web is None else lambda: web.search(query, k))
        return found if isinstance(found, Failure) else [WebHit(**hit) for hit in found]

    async def open(self, url: str) -> WebPage | Failure:
        web = self._web
        found = await self._kept("open", url, None if web is None else lambda: web.open(url))
        return found if isinstance(found, Failure) else WebPage(**found)

    async def search_pictures(self, query: str | bytes, k: int) -> Sequence[WebPicture] | Failure:
        web = self._web
        asked = query if isinstance(query, str) else f"sha256:{hashlib.sha256(query).hexdigest()}"
        ask = None if web is None else lambda: web.search_pictures(query, k)
        looks = None if isinstance(query, str) else await asyncio.to_thread(_looks, query)
        found = await self._kept("pictures", f"{k} {asked}", ask, looks)
        return found if isinstance(found, Failure) else [WebPicture(**hit) for hit in found]

    async def picture(self, url: str) -> bytes | Failure:
        web = self._web
        found = await self._kept("picture", url, None if web is None else lambda: web.picture(url))
        return found if isinstance(found, Failure) else bytes.fromhex(found)

    async def close(self) -> None:
        if self._web is not None:
            await self._web.close()
        if self._database is not None:
            self._database.close()

    def _file(self) -> sqlite3.Connection:
        if self._database is None and self._web is None:
            self._database = read_database(self._path, len(MIGRATIONS), any_thread=True, fix=_FIX)
        elif self._database is None:
            self._database = open_database(self._path, MIGRATIONS, any_thread=True)
        return self._database

    async def _kept(
        self, what: str, asked: str, ask: Callable[[], Awaitable[Any]] | None, looks: str | None = None
    ) -> Any:
        """The answer as JSON: from the file, else from the web and then kept."""
        key = hashlib.sha256(orjson.dumps([what, asked])).digest()
        with self._lock:
            row = self._file().execute("SELECT answer FROM seen WHERE key = ?", (key,)).fetchone()
        held = None if row is None else _loaded(row[0])
        if ask is None:
            if held is None and looks is not None:
                held = self._alike(asked.partition(" ")[0], looks)
            return Failure(MISSING, f"the frozen web was never asked this: {asked[:120]}") if held is None else held
        if held is not None and not (isinstance(held, Failure) and (held.retryable or held.kind in _PASSING)):
            return held
        answer = await ask()
        noted = asked if looks is None else f"{asked} {looks}"
        with self._lock:
            self._file().execute(
                "INSERT OR REPLACE INTO seen VALUES (?, ?, ?, ?, ?, ?)",
                (key, what, noted, self._web.name if self._web else "", time.time(), _dumped(answer)),
            )
        return _loaded(_dumped(answer))

    def _alike(self, k: str, looks: str) -> Any:
        """The answer for a recorded picture of the same size that looks the same; None without one."""
        with self._lock:
            found = (
                self._file()
                .execute(
                    "SELECT asked, answer FROM seen WHERE what = 'pictures' AND asked LIKE ? ORDER BY key",
                    (f"{k} sha256:% {looks.partition(':')[0]}:%",),
                )
                .fetchall()
            )
        near = min(found, key=lambda row: _distance(row[0].rpartition(" ")[2], looks), default=None)
        return _loaded(near[1]) if near and _distance(near[0].rpartition(" ")[2], looks) <= _NEAR else None


def _looks(picture: bytes) -> str | None:
    """Size and grey levels of 16 × 16 parts: `640x480:` and hexadecimal digits."""
    image = load(picture)
    if isinstance(image, Failure):
        return None
    small = image.convert("L").resize((_LOOKS, _LOOKS), Image.Resampling.BOX)
    return f"{image.width}x{image.height}:{small.tobytes().hex()}"


def _distance(one: str, other: str) -> float:
    """The largest difference of two looks of the same size."""
    a, b = (np.frombuffer(bytes.fromhex(looks.partition(":")[2]), np.uint8).astype(float) for looks in (one, other))
    return float(np.abs(a - b).max())


def _dumped(answer: Any) -> bytes:
    if isinstance(answer, Failure):
        held = {"kind": answer.kind, "message": answer.message, "retryable": answer.retryable}
        return orjson.dumps({"failure": held})
    if isinstance(answer, bytes):
        return orjson.dumps({"answer": answer.hex()})
    return orjson.dumps(
        {"answer": [asdict(each) for each in answer] if isinstance(answer, Sequence) else asdict(answer)}
    )


def _loaded(data: bytes) -> Any:
    held = orjson.loads(data)
    return Failure(**held["failure"]) if "failure" in held else held["answer"]
