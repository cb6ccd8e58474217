"""The journal of calls: what was asked is never paid for twice, and what was paid is never forgotten.

One SQLite file in the workspace. Docs: docs/engine.md; why it is as it is: docs/design/journal.md.
"""

from __future__ import annotations

import asyncio
import sqlite3
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import orjson

from sightline.database import open_database
from sightline.engine.writer import GroupWriter
from sightline.errors import UserError
from sightline.types import ChatReply, Failure, ToolCall, Usage

FILE_NAME = "journal.sqlite"
KEPT_FAILURES = frozenset({"content-filter", "refused", "length", "wrong-schema"})
"""Failures that are the model's own answer to this very request: paid for, and the same if asked again."""

_VERSION_1 = """
CREATE TABLE calls (
    id INTEGER PRIMARY KEY,
    key BLOB NOT NULL,
    stage TEXT NOT NULL,
    task TEXT,
    model TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    sample INTEGER NOT NULL,
    at REAL NOT NULL,
    seconds REAL,
    attempts INTEGER NOT NULL,
    input INTEGER NOT NULL,
    cached INTEGER NOT NULL,
    output INTEGER NOT NULL,
    reasoning INTEGER NOT NULL,
    image INTEGER NOT NULL,
    cache_written INTEGER NOT NULL,
    reported INTEGER NOT NULL,
    usd REAL,
    failure TEXT,
    message TEXT,
    reusable INTEGER NOT NULL,
    reply BLOB
);
CREATE INDEX calls_by_key ON calls (key) WHERE reusable = 1;
CREATE TABLE hits (
    stage TEXT NOT NULL,
    model TEXT NOT NULL,
    count INTEGER NOT NULL,
    usd REAL NOT NULL,
    PRIMARY KEY (stage, model)
) WITHOUT ROWID
"""

# What is known of providers' batches (models/batches/store.py): in this file, so that a result and its call are
# written together or not at all.
_VERSION_2 = """
CREATE TABLE batches (
    job TEXT NOT NULL,
    shard TEXT NOT NULL,
    folder TEXT NOT NULL,
    model TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    requests INTEGER NOT NULL,
    at REAL NOT NULL,
    status TEXT NOT NULL,
    message TEXT NOT NULL DEFAULT '',
    file_id TEXT,
    batch_id TEXT,
    output_file_id TEXT,
    error_file_id TEXT,
    completed INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    downloaded INTEGER NOT NULL DEFAULT 0,
    parsed INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (job, shard)
) WITHOUT ROWID;
CREATE TABLE batch_results (
    job TEXT NOT NULL,
    id TEXT NOT NULL,
    shard TEXT NOT NULL,
    failure TEXT,
    message TEXT,
    retryable INTEGER NOT NULL,
    PRIMARY KEY (job, id)
) WITHOUT ROWID
"""

# Who has been told of, before private pictures went there (models/notice.py).
_VERSION_3 = """
CREATE TABLE told (host TEXT PRIMARY KEY, at REAL NOT NULL) WITHOUT ROWID
"""

MIGRATIONS: tuple[str, ...] = (_VERSION_1, _VERSION_2, _VERSION_3)
"""Script n brings a journal from version n to n + 1; never edit one that has been released."""

_INSERT = f"INSERT INTO calls VALUES (NULL{', ?' * 21})"
_COUNT_HIT = """INSERT INTO hits VALUES (?, ?, ?, ?) ON CONFLICT (stage, model)
    DO UPDATE SET count = count + excluded.count, usd = usd + excluded.usd"""
_FIND = """SELECT seconds, attempts, usd, failure, message, reply,
    input, cached, output, reasoning, image, cache_written, reported
    FROM calls WHERE key = ? AND reusable = 1 ORDER BY id DESC LIMIT 1"""
_COMPRESS_FROM = 4096
"""Bytes of a reply from which compressing it saves more than it costs (docs/design/journal.md)."""

_NO_USAGE = Usage()


@dataclass(frozen=True, slots=True)
class Call:
    """One finished call, whatever came of it; `usd` None means that its price is not known."""

    key: bytes
    stage: str
    model: str
    endpoint: str
    at: float
    result: ChatReply | Failure
    task: str | None = None
    sample: int = 0
    seconds: float | None = None
    attempts: int = 1
    usage: Usage = _NO_USAGE
    usd: float | None = None


@dataclass(frozen=True, slots=True)
class _Hits:
    stage: str
    model: str
    count: int
    usd: float


Entry: TypeAlias = "tuple[Any, ...] | _Hits"
"""A row of `calls` (made by whoever hands it in, so that what can't be written concerns nobody else), or hits."""


class CallKeeper(Protocol):
    """What a caller needs of a journal: a `Journal`, or one that is reached over a wire."""

    pending: dict[bytes, asyncio.Future[ChatReply | Failure]]
    "Requests that are being asked now, by key: whoever wants the same waits for it."

    async def seek(self, key: bytes, *, fresh: bool) -> ChatReply | Failure | None:
        """What is known of a request, unless a `fresh` reply is wanted; None: whoever sought it is to ask it now."""

    def leave(self, key: bytes) -> None:
        """Whoever sought it has done with it, also when nothing came of it."""

    async def record(self, call: Call) -> None: ...

    def count_hit(self, stage: str, model: str, usd: float | None) -> None: ...


class Journal:
    """The workspace's journal; several processes may use one at a time, each through its own `Journal`."""

    def __init__(self, workspace: Path) -> None:
        self.path = workspace / FILE_NAME
        self._reading = self._connect()
        self._writer: GroupWriter[Entry] = GroupWriter(self._connect, _write)
        self._hits: dict[tuple[str, str], tuple[int, float]] = {}
        self.pending: dict[bytes, asyncio.Future[ChatReply | Failure]] = {}
        "Requests that are being asked now, by key: whoever wants the same waits for it."

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Write what is left; safe to call twice."""
        for (stage, model), (count, usd) in self._hits.items():
            self._writer.put_later(_Hits(stage, model, count, usd))
        self._hits.clear()
        self._writer.close()
        self._reading.close()

    def find(self, key: bytes) -> ChatReply | Failure | None:
        """The latest reply to this request (marked `from_journal`), or the failure that it would meet again."""
        row = self._reading.execute(_FIND, (key,)).fetchone()
        return None if row is None else _result(row)

    async def seek(self, key: bytes, *, fresh: bool) -> ChatReply | Failure | None:
        """`find`, unless a `fresh` reply is wanted."""
        return None if fresh else self.find(key)

    def leave(self, key: bytes) -> None:
        """Nothing to do here: who waits for the same request in this process waits in `pending`."""

    async def record(self, call: Call) -> None:
        """Keep a call; returns when it is on disk."""
        try:
            await self._writer.put(_row(call))
        except sqlite3.Error as error:
            raise self._unwritable(error) from error

    def record_all(self, calls: Sequence[Call]) -> None:
        """Keep several calls, all or none; returns when they are on disk."""
        try:
            self._writer.put_all([_row(call) for call in calls])
        except sqlite3.Error as error:
            raise self._unwritable(error) from error

    def count_hit(self, stage: str, model: str, usd: float | None) -> None:
        """A request was answered from here; kept for the ledger, and written when the journal is closed."""
        count, saved = self._hits.get((stage, model), (0, 0.0))
        self._hits[stage, model] = (count + 1, saved + (usd or 0.0))

    def pilot(self, stage: str, model: str, most: int = 1000) -> list[Usage]:
        """Tokens of the latest calls of a stage that got a reply, to plan with."""
        rows = self._reading.execute(
            """SELECT input, cached, output, reasoning, image, cache_written FROM calls
            WHERE stage = ? AND model = ? AND failure IS NULL AND reported = 1 ORDER BY id DESC LIMIT ?""",
            (stage, model, most),
        )
        return [Usage(*row) for row in rows]

    def _connect(self) -> sqlite3.Connection:
        database = open_database(self.path, MIGRATIONS, any_thread=True)
        database.execute("PRAGMA synchronous = FULL")  # A paid call outlives a power cut, too.
        return database

    def _unwritable(self, error: sqlite3.Error) -> UserError:
        return UserError(
            f"{self.path} can't be written: {error}; stopped, because calls that can't be kept would be paid twice.",
            "make room on the disk, or end the other program that locks the file, and run the same command again",
        )


def write_calls(database: sqlite3.Connection, calls: Iterable[Call]) -> None:
    """Add calls inside a transaction of one's own, together with what else belongs to them."""
    database.executemany(_INSERT, map(_row, calls))


def _write(database: sqlite3.Connection, entries: Sequence[Entry]) -> None:
    database.executemany(_INSERT, (entry for entry in entries if isinstance(entry, tuple)))
    for entry in entries:
        if isinstance(entry, _Hits):
            database.execute(_COUNT_HIT, (entry.stage, entry.model, entry.count, entry.usd))


def _row(call: Call) -> tuple[Any, ...]:
    result, usage = call.result, call.usage
    failure = result if isinstance(result, Failure) else None
    return (
        call.key,
        call.stage,
        call.task,
        call.model,
        call.endpoint,
        call.sample,
        call.at,
        call.seconds,
        call.attempts,
        usage.input,
        usage.cached,
        usage.output,
        usage.reasoning,
        usage.image,
        usage.cache_written,
        usage.reported,
        call.usd,
        failure and failure.kind,
        failure and failure.message,
        int(failure is None or failure.kind in KEPT_FAILURES),
        _pack(result) if isinstance(result, ChatReply) else None,
    )


def _pack(reply: ChatReply) -> bytes:
    """What the columns do not say, as JSON; compressed when it is long."""
    body: dict[str, Any] = {"text": reply.text, "finish": reply.finish}
    if reply.thinking:
        body["thinking"] = reply.thinking
    if reply.tool_calls:
        body["tool_calls"] = reply.tool_calls
    if reply.parsed is not None:
        body["parsed"] = reply.parsed
    if reply.model is not None:
        body["model"] = reply.model
    packed = orjson.dumps(body)
    return packed if len(packed) < _COMPRESS_FROM else zlib.compress(packed, 1)


def _result(row: tuple[Any, ...]) -> ChatReply | Failure:
    seconds, attempts, usd, failure, message, reply, sent, cached, output, reasoning, image, written, reported = row
    if failure is not None:
        return Failure(failure, message)
    body = orjson.loads(reply if reply[:1] == b"{" else zlib.decompress(reply))
    calls = tuple(ToolCall(**call) for call in body.pop("tool_calls", ()))
    return ChatReply(
        **body,
        tool_calls=calls,
        usage=Usage(sent, cached, output, reasoning, image, written, bool(reported)),
        usd=usd,
        seconds=seconds,
        attempts=attempts,
        from_journal=True,
    )
