"""A call as a row of the journal, and back."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

import orjson

from sightline.types import ChatReply, Failure, Partial, ToolCall, Usage

KEPT_FAILURES = frozenset({"content-filter", "refused", "length", "wrong-schema"})
"""Failures that are the model's own answer to this very request: paid for, and the same if asked again."""

INSERT = f"INSERT INTO calls VALUES (NULL{', ?' * 22})"
FIND = """SELECT seconds, attempts, usd, failure, message, reply,
    input, cached, output, reasoning, image, cache_written, reported
    FROM calls WHERE key = ? AND reusable = 1 ORDER BY id DESC LIMIT 1"""
_COMPRESS_FROM = 4096
"""Bytes of a reply from which compressing it saves more than it costs (docs/design/journal.md)."""

_NO_USAGE = Usage()


@dataclass(frozen=True, slots=True)
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


def to_row(call: Call) -> tuple[Any, ...]:
    """What `INSERT` takes."""
    result, usage = call.result, call.usage
    failure = result if isinstance(result, Failure) else None
    said = result.partial if isinstance(result, Failure) else result
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
        None if said is None else _pack(said),
        call.at_least,
    )


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


def from_row(row: tuple[Any, ...]) -> ChatReply | Failure:
    """What `FIND` gives."""
    seconds, attempts, usd, failure, message, reply, sent, cached, output, reasoning, image, written, reported = row
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
