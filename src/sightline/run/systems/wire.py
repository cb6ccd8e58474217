"""The reply of a search service: `{"hits": [{"id": …, "score": …}]}`, or a status that says what went wrong."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import aiohttp
import orjson

from sightline.types import Failure

LARGEST = 16 << 20
"""Bytes of a reply that are read."""
_TRY_AGAIN = frozenset((408, 425, 429))
"""Statuses below 500 after which another try may help; from 500 on it always may."""


class MalformedError(Exception):
    """A reply that does not keep to the contract; the message says where."""


@dataclass(frozen=True, slots=True)
class Hits:
    """Ids in the order given, each once; scores where every hit has one."""

    pictures: tuple[str, ...]
    scores: tuple[float, ...] | None
    duplicates: int = 0


def read_hits(body: bytes, k: int, left_out: Collection[str] = ()) -> Hits:
    """The first `k` hits of a reply without those `left_out`; of an id that comes twice the first one counts."""
    try:
        content = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise MalformedError(f"the reply is not JSON: {error}") from error
    listed = content.get("hits") if isinstance(content, dict) else None
    if not isinstance(listed, list):
        raise MalformedError('the reply has no list "hits"')
    found: dict[str, float | None] = {}
    for place, hit in enumerate(listed):
        id_, score = _hit(hit, place)
        found.setdefault(id_, score)
    first = [(id_, score) for id_, score in found.items() if id_ not in left_out][:k]
    scores = tuple(score for _, score in first if score is not None)
    pictures = tuple(id_ for id_, _ in first)
    return Hits(pictures, scores if len(scores) == len(pictures) else None, len(listed) - len(found))


def _hit(hit: Any, place: int) -> tuple[str, float | None]:
    if not isinstance(hit, dict):
        raise MalformedError(f"hits[{place}] is not an object")
    id_, score = hit.get("id"), hit.get("score")
    if not isinstance(id_, str) or not id_:
        raise MalformedError(f"hits[{place}].id is not a text")
    if score is None:
        return id_, None
    if isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score):
        raise MalformedError(f"hits[{place}].score is not a number")
    return id_, float(score)


async def limited_body(reply: aiohttp.ClientResponse) -> bytes | None:
    """The body; None where it is too long."""
    chunks, size = [], 0
    async for chunk in reply.content.iter_any():
        chunks.append(chunk)
        size += len(chunk)
        if size > LARGEST:
            return None
    return b"".join(chunks)


def wait_of(reply: aiohttp.ClientResponse) -> float | None:
    """How many seconds the service asks to wait."""
    try:
        return max(0.0, float(reply.headers.get("Retry-After", "")))
    except ValueError:
        return None


def status_failure(status: int, body: bytes) -> Failure | None:
    """What a status other than 200 means, in the service's own words where it has some."""
    if status == 200:
        return None
    said = _told(body)[:200].strip()
    message = f"the service answered {status}{f': {said}' if said else ''}"
    if status == 429:
        return Failure("rate-limit", message, retryable=True)
    again = status in _TRY_AGAIN or status >= 500
    return Failure("server-error" if status >= 500 else "refused", message, retryable=again)


def _told(body: bytes) -> str:
    """`{"error": "…"}`, else the text itself."""
    try:
        content = orjson.loads(body)
    except orjson.JSONDecodeError:
        content = None
    if isinstance(content, dict) and "error" in content:
        return str(content["error"])
    return body[:1000].decode("utf-8", "replace")
