"""What makes two calls the same: a hash of the exact request, with pictures by their content."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import fields
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

import orjson

from sightline.types import ChatRequest, ImagePart, Message, ToolSpec

_VERSION = 2
"""Of what is hashed; 1 left out the wire, so its rows can't be told apart by it: they count in the ledger alone."""
_DEFAULTS = {
    field.name: field.default for field in fields(ChatRequest) if field.name not in ("model", "messages", "extra")
}
_OPTIONS = orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS
# 1 and 1.0 are the same temperature, and have to be the same call.
_FLOATS = frozenset({"temperature", "top_p"})


class UnreadablePictureError(Exception):
    """A picture of a request can't be read; the message says which and why."""


def request_key(request: ChatRequest, endpoint: str = "", wire: str = "") -> bytes:
    """SHA-256 over the canonical JSON of a request and of where it is sent; `sample` tells n wanted answers apart.

    `wire` says what else changes what is sent (`WireSettings.fingerprint`). Fields that are at their defaults are left
    out, so that a field added later changes no key of today.
    """
    return hashlib.sha256(canonical(request, endpoint, wire)).digest()


def canonical(request: ChatRequest, endpoint: str = "", wire: str = "") -> bytes:
    """The JSON that is hashed: sorted keys, no defaults, SHA-256 in place of pictures."""
    content: dict[str, Any] = {
        "v": _VERSION,
        "wire": wire,
        "endpoint": endpoint,
        "model": request.model,
        "messages": [_message(message) for message in request.messages],
    }
    for name, default in _DEFAULTS.items():
        value = getattr(request, name)
        if value != default:
            content[name] = float(value) if name in _FLOATS else value
    if request.extra:
        content["extra"] = request.extra
    return orjson.dumps(content, option=_OPTIONS, default=_plain)


def has_pictures_on_disk(request: ChatRequest) -> bool:
    """Would hashing this request read files?"""
    return any(
        isinstance(part, ImagePart) and part.data is None and file_of(part) is not None
        for message in request.messages
        for part in message.content
    )


def file_of(part: ImagePart) -> Path | None:
    """The file that a picture is read from; None for one that has an address."""
    if part.source.startswith("file://"):
        return Path(os.fsdecode(unquote_to_bytes(part.source.removeprefix("file://"))))
    return None if part.source.startswith(("http://", "https://", "data:")) else Path(part.source)


def _message(message: Message) -> dict[str, Any]:
    found: dict[str, Any] = {
        "role": message.role,
        "content": [part if isinstance(part, str) else _picture(part) for part in message.content],
    }
    if message.tool_calls:
        found["tool_calls"] = message.tool_calls
    if message.tool_call_id is not None:
        found["tool_call_id"] = message.tool_call_id
    return found


def _picture(part: ImagePart) -> dict[str, str]:
    if part.data is not None:
        return {"sha256": hashlib.sha256(part.data).hexdigest(), "detail": part.detail}
    path = file_of(part)
    if path is None:
        return {"url": part.source, "detail": part.detail}
    try:
        found = path.stat()
        return {"sha256": _sha256_of(path, found.st_mtime_ns, found.st_size), "detail": part.detail}
    except OSError as error:
        raise UnreadablePictureError(f"{path}: {error.strerror}") from error


@lru_cache(maxsize=16384)
def _sha256_of(path: Path, _mtime_ns: int, _size: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _plain(value: object) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, ToolSpec):
        return {"name": value.name, "description": value.description, "parameters": dict(value.parameters)}
    raise TypeError(f"a request can't hold a {type(value).__name__}")


def turn_of(request: ChatRequest) -> int:
    """How many replies a request already holds: 0 begins a conversation; repairs and further turns have more."""
    return sum(message.role == "assistant" for message in request.messages)
