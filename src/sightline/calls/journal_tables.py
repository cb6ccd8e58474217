"""The tables of the journal's file, version by version, and a call as a row of them."""

from __future__ import annotations

import sqlite3
import zlib
from dataclasses import dataclass
from typing import Any

import orjson

from sightline.types import ChatReply, Failure, Partial, ToolCall, Usage

JOURNAL_FILE = "journal.sqlite"

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

# What is known of providers' batches (calls/batches/store.py): in this file, so that a result and its call are
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

# Who has been told of, before private pictures went there (calls/privacy_notice.py).
_VERSION_3 = """
CREATE TABLE told (host TEXT PRIMARY KEY, at REAL NOT NULL) WITHOUT ROWID
"""

# `at_least`: where `usd` is not known because some attempts may have been billed, what the others cost.
# `claims`: requests that are being asked now, and by which journal (calls/journal_claims.py).
# `missed`, `missed_since`: how often, and since when, a server did not know a batch.
_VERSION_4 = """
ALTER TABLE calls ADD COLUMN at_least REAL NOT NULL DEFAULT 0;
CREATE TABLE claims (key BLOB PRIMARY KEY, owner TEXT NOT NULL) WITHOUT ROWID;
ALTER TABLE batches ADD COLUMN missed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE batches ADD COLUMN missed_since REAL
"""

# `turn`: how many replies the request already held: 0 for the first of a conversation, more for repairs and turns.
# `checksum`: of the rest of a row (`row_checksum`); rows of before have none.
# `sums`: the checksum of all rows of `hits`.
# `lost`: calls that may have been paid for and whose reply is not there: `interrupted` by a kill, or `damaged` on disk.
_VERSION_5 = """
ALTER TABLE calls ADD COLUMN turn INTEGER NOT NULL DEFAULT 0;
ALTER TABLE calls ADD COLUMN checksum INTEGER;
CREATE TABLE sums (name TEXT PRIMARY KEY, checksum INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE lost (
    key BLOB,
    stage TEXT NOT NULL,
    task TEXT,
    model TEXT NOT NULL,
    at REAL NOT NULL,
    why TEXT NOT NULL,
    reply BLOB
)
"""

MIGRATIONS: tuple[str, ...] = (_VERSION_1, _VERSION_2, _VERSION_3, _VERSION_4, _VERSION_5)
"""Script n brings a journal from version n to n + 1; never edit one that has been released."""


KEPT_FAILURES = frozenset({"content-filter", "refused", "length", "wrong-schema"})
"""Failures that are the model's own answer to this very request: paid for, and the same if asked again."""

INSERT = f"INSERT INTO calls VALUES (NULL{', ?' * 24})"
FIND = "SELECT * FROM calls WHERE key = ? AND reusable = 1 ORDER BY id DESC LIMIT 1"
LOSE = "INSERT INTO lost VALUES (?, ?, ?, ?, ?, ?, ?)"
REPLY = 20
"""Where `to_row` has the reply."""
INTERRUPTED, DAMAGED = "interrupted", "damaged"
"""Why a call of the table `lost` is there."""
_COMPRESS_FROM = 4096
"""Bytes of a reply from which compressing it saves more than it costs (docs/design/journal.md)."""

_NO_USAGE = Usage()


class DamagedRowError(ValueError):
    """A row is not what was written."""


@dataclass(slots=True)
class Call:
    """One finished call, whatever came of it; `usd` None means that its price is not known.

    Then `at_least` is what those of its attempts cost that were priced.
    """

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
    at_least: float = 0.0
    turn: int = 0


def to_row(call: Call) -> tuple[Any, ...]:
    """What `INSERT` takes."""
    result, usage = call.result, call.usage
    failure = result if isinstance(result, Failure) else None
    said = result.partial if isinstance(result, Failure) else result
    row = (
        call.key,
        call.stage,
        call.task,
        call.model,
        call.endpoint,
        call.sample,
        call.at + 0.0,
        None if call.seconds is None else call.seconds + 0.0,
        call.attempts,
        usage.input,
        usage.cached,
        usage.output,
        usage.reasoning,
        usage.image,
        usage.cache_written,
        int(usage.reported),
        None if call.usd is None else call.usd + 0.0,
        failure and failure.kind,
        failure and failure.message,
        int(failure is None or failure.kind in KEPT_FAILURES),
        None if said is None else _pack(said),
        call.at_least + 0.0,
        call.turn,
    )
    return (*row, row_checksum(row))


def row_checksum(row: tuple[Any, ...]) -> int:
    """CRC-32 of all columns but `id` and the reply, and 31 bits of the reply's above it.

    The two halves apart let the ledger check what it adds up without reading the replies.
    """
    return (
        columns_checksum(row[0], *row[1:REPLY], *row[REPLY + 1 :]) | (zlib.crc32(row[REPLY] or b"") & 0x7FFFFFFF) << 32
    )


def hits_are_sound(database: sqlite3.Connection) -> bool:
    """Are the rows of `hits` what was written? Of those of before it is not known."""
    stated = database.execute("SELECT checksum FROM sums WHERE name = 'hits'").fetchone()
    return stated is None or stated[0] == _hits_checksum(database)


def seal_hits(database: sqlite3.Connection) -> None:
    """Note the checksum of `hits`, inside the transaction that changed them."""
    database.execute("INSERT OR REPLACE INTO sums VALUES ('hits', ?)", (_hits_checksum(database),))


def _hits_checksum(database: sqlite3.Connection) -> int:
    rows = database.execute("SELECT * FROM hits ORDER BY stage, model").fetchall()
    return zlib.crc32(orjson.dumps(rows, default=repr))


def columns_checksum(key: bytes, *columns: Any) -> int:
    """The lower half: of the key, and of the other columns as JSON."""
    return zlib.crc32(key, zlib.crc32(orjson.dumps(columns)))


def _pack(reply: ChatReply | Partial) -> bytes:
    """What the columns do not say, as JSON; compressed when it is long."""
    body: dict[str, Any] = {"text": reply.text}
    if reply.thinking:
        body["thinking"] = reply.thinking
    if isinstance(reply, ChatReply):
        body |= _more(reply)
    packed = orjson.dumps(body)
    return packed if len(packed) < _COMPRESS_FROM else zlib.compress(packed, 1)


def _more(reply: ChatReply) -> dict[str, Any]:
    body: dict[str, Any] = {"finish": reply.finish}
    if reply.tool_calls:
        body["tool_calls"] = reply.tool_calls
    if reply.parsed is not None:
        body["parsed"] = reply.parsed
    if reply.model is not None:
        body["model"] = reply.model
    return body


def _unpack(packed: bytes) -> dict[str, Any]:
    body: dict[str, Any] = orjson.loads(packed if packed[:1] == b"{" else zlib.decompress(packed))
    return body


def from_row(row: tuple[Any, ...], key: bytes | None = None) -> ChatReply | Failure:
    """The result in a whole row of `calls`, checked; `key` is that of the request which it is to answer."""
    try:
        if row[-1] in (None, row_checksum(row[1:-1])) and key in (None, row[1]):
            return _result(row)
        raise DamagedRowError(row[0])
    except DamagedRowError:
        raise
    except (ValueError, TypeError, KeyError, zlib.error) as error:  # No checksum, or values of other kinds.
        raise DamagedRowError(row[0]) from error


def _result(row: tuple[Any, ...]) -> ChatReply | Failure:
    seconds, attempts = row[8:10]
    sent, cached, output, reasoning, image, written, reported = row[10:17]
    usd, failure, message, _, reply = row[17:22]
    usage = Usage(sent, cached, output, reasoning, image, written, bool(reported))
    if failure is not None:
        partial = None if reply is None else Partial(**_unpack(reply))
        return Failure(failure, message, usage=usage, usd=usd, partial=partial)
    body = _unpack(reply)
    calls = tuple(ToolCall(**call) for call in body.pop("tool_calls", ()))
    return ChatReply(
        **body,
        tool_calls=calls,
        usage=usage,
        usd=usd,
        seconds=seconds,
        attempts=attempts,
        from_journal=True,
    )
