"""A web that remembers: what was seen once is answered from a file, so that a run can be repeated offline."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson

from sightline.agent.web.base import Web, WebHit, WebPage, WebPicture, leaves_machine
from sightline.io.sqlite import open_database
from sightline.types import Failure

_VERSION_1 = """CREATE TABLE seen (key BLOB PRIMARY KEY, what TEXT NOT NULL, asked TEXT NOT NULL, web TEXT NOT NULL,
    at REAL NOT NULL, answer BLOB NOT NULL) WITHOUT ROWID"""
MIGRATIONS = (_VERSION_1,)
_PASSING = frozenset(("timeout", "connection", "not-frozen"))
"""Failures that may be different the next time, and are therefore not remembered."""


class FrozenWeb:
    """What `web` answered is kept in a SQLite file, and not asked again; without one only what is kept is known."""

    def __init__(self, path: Path, web: Web | None = None) -> None:
        self._web = web
        self._database = open_database(path, MIGRATIONS, any_thread=True)
        self._lock = threading.Lock()
        self.name = "frozen" if web is None else f"frozen {web.name}"
        self.offline = web is None or not leaves_machine(web)

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
        found = await self._kept("pictures", f"{k} {asked}", ask)
        return found if isinstance(found, Failure) else [WebPicture(**hit) for hit in found]

    async def picture(self, url: str) -> bytes | Failure:
        web = self._web
        found = await self._kept("picture", url, None if web is None else lambda: web.picture(url))
        return found if isinstance(found, Failure) else bytes.fromhex(found)

    async def close(self) -> None:
        if self._web is not None:
            await self._web.close()
        self._database.close()

    async def _kept(self, what: str, asked: str, ask: Callable[[], Awaitable[Any]] | None) -> Any:
        """The answer as JSON: from the file, else from the web and then kept."""
        key = hashlib.sha256(orjson.dumps([what, asked])).digest()
        with self._lock:
            row = self._database.execute("SELECT answer FROM seen WHERE key = ?", (key,)).fetchone()
        if row is not None:
            return _loaded(row[0])
        if ask is None:
            return Failure("not-frozen", f"this was not asked before, and nothing new is asked: {asked[:120]}")
        answer = await ask()
        if not (isinstance(answer, Failure) and answer.kind in _PASSING):
            with self._lock:
                self._database.execute(
                    "INSERT OR IGNORE INTO seen VALUES (?, ?, ?, ?, ?, ?)",
                    (key, what, asked, self._web.name if self._web else "", time.time(), _dumped(answer)),
                )
        return _loaded(_dumped(answer))


def _dumped(answer: Any) -> bytes:
    if isinstance(answer, Failure):
        return orjson.dumps({"failure": {"kind": answer.kind, "message": answer.message}})
    if isinstance(answer, bytes):
        return orjson.dumps({"answer": answer.hex()})
    return orjson.dumps(
        {"answer": [asdict(each) for each in answer] if isinstance(answer, Sequence) else asdict(answer)}
    )


def _loaded(data: bytes) -> Any:
    held = orjson.loads(data)
    return Failure(**held["failure"]) if "failure" in held else held["answer"]
