"""The failures of a call by name: which of them may pass, and the one behind a server's refusal.

Secrets are kept out of their messages.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from sightline.plain_text import cut
from sightline.types import Failure

RETRYABLE = frozenset(
    {
        "rate-limited",
        "overloaded",
        "server-error",
        "timeout",
        "connection",
        "bad-json",
        "cut-off-body",
        "bad-content-type",
        "html",
        "empty",
        "wrong-schema",
    }
)
"""Another attempt may help; after `wrong-schema` only one that says what was wrong (models/structured_output.py)."""
LASTING = frozenset(
    {
        "content-filter",
        "refused",
        "length",
        "endless",
        "auth",
        "unknown-model",
        "bad-request",
        "no-credit",
        "budget",
        "down",
        "bad-picture",
        "unsupported",
    }
)
"""The same request would fail the same way."""
_LONGEST = 400
# Keys as providers print them back, whole or half hidden by asterisks.
_KEY_LIKE = re.compile(r"\b(?:sk|pk|gsk|xai|hf|AIza)[-_][\w*.-]{6,}|\bAIza[\w-]{20,}")
_SHORTEST_SECRET = 4
# Servers whose codes say nothing say it in words.
_BY_WORDS = (
    (re.compile(r"credit balance is too low|exceeded your current quota|insufficient credits", re.I), "no-credit"),
    (re.compile(r"api key not valid|invalid api key|incorrect api key", re.I), "auth"),
    (re.compile(r"model\b.{0,80}\b(?:not found|does not exist|is not available)", re.I | re.S), "unknown-model"),
)
# A 403 comes for many reasons: only one that speaks of who asks is about the key.
_ABOUT_KEY = re.compile(
    r"\bkey\b|api.?key|\btoken\b|credential|authenticat|authori[sz]|permission|"
    r"(?:no|not have|denied) access|access denied|account",
    re.IGNORECASE,
)
_MODERATED = re.compile(r"moderat|flagged|content.?(?:filter|policy)|usage polic|safety|harmful", re.IGNORECASE)
_HINTS = {
    "no-credit": "add credit to the account, or use another model",
    "unknown-model": "check the model's name and the address",
}
_TITLE = re.compile(rb"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)
_LATEST = 24 * 3600.0


def failure(kind: str, message: str) -> Failure:
    """A failure of this name, with its known chance of passing."""
    return Failure(kind, message, kind in RETRYABLE)


def clip(text: str, longest: int = _LONGEST) -> str:
    """The text on one line, cut where it gets long."""
    return cut(" ".join(text.split()), longest)


class Scrubber:
    """Takes secrets out of what others say, so that an echoed key never reaches a log."""

    __slots__ = ("_secrets",)

    def __init__(self, secrets: Iterable[str]) -> None:
        # The longest first: one secret may be a part of another.
        self._secrets = sorted((s for s in secrets if len(s) >= _SHORTEST_SECRET), key=len, reverse=True)

    def __call__(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "***")
            if "…" in text:
                text = _without_beginning(text, secret)
        return _KEY_LIKE.sub("***", text)


def _without_beginning(text: str, secret: str) -> str:
    """The beginning of a secret may be left where a text was cut."""
    for length in range(len(secret) - 1, _SHORTEST_SECRET - 1, -1):
        text = text.replace(f"{secret[:length]}…", "***…")
    return text


@cache
def meanings(table: str) -> Mapping[Any, str]:
    """A table of `provider_words.toml`: what others say, and what it means to us."""
    tables = tomllib.loads(Path(__file__).with_name("provider_words.toml").read_text("utf-8"))
    return {word: meaning for meaning, said in tables[table].items() for word in said}


@dataclass(frozen=True, slots=True)
class ErrorBody:
    """What an error body says: its words, and its codes in lower case."""

    message: str
    codes: tuple[str, ...] = ()


def read_error(body: bytes) -> ErrorBody:
    """The words of an error body, whatever its shape: an OpenAI error object, `detail`, a page, or plain text."""
    if is_html(body):
        title = _TITLE.search(body[:20_000])
        return ErrorBody(f"an HTML page: {_decoded(title[1])}" if title else "an HTML page")
    try:
        payload = orjson.loads(body)
    except orjson.JSONDecodeError:
        return ErrorBody(_decoded(body[:2000]))
    return read_error_payload(payload)


def read_error_payload(payload: Any) -> ErrorBody:
    """The same, of a body that is already read."""
    if not isinstance(payload, dict):
        return ErrorBody(clip(str(payload)))
    error = payload.get("error", payload)
    if isinstance(error, str):
        return ErrorBody(error)
    if not isinstance(error, dict):
        return ErrorBody(clip(str(error)))
    words = error.get("message") or error.get("detail") or error.get("msg") or ""
    if isinstance(words, list | dict):
        words = orjson.dumps(words).decode()
    codes = tuple(str(error[name]).lower() for name in ("code", "type", "status") if error.get(name) is not None)
    return ErrorBody(str(words), codes)


def is_html(body: bytes) -> bool:
    """Does the body look like a web page?"""
    if body.startswith(b"{"):  # As nearly all do.
        return False
    start = body[:256].lstrip().lower()
    return start.startswith((b"<!doctype", b"<html", b"<head", b"<body"))


def status_failure(status: int, told: ErrorBody, asked: str, about_key: str = "check the key") -> Failure:
    """The failure behind an answer that is not a success; `asked` says who was asked for what.

    `about_key` is what to do about a key that is refused.
    """
    kind = _kind(status, told)
    words = clip(told.message) or "no reason given"
    if status == 413:
        words += " (the request is too large: fewer or smaller pictures help)"
    elif 300 <= status < 400:
        words = "the server points elsewhere, which is not followed; give the address itself"
    hint = about_key if kind == "auth" else _HINTS.get(kind, "")
    return failure(kind, f"{asked}: HTTP {status}, {words}{f'; {hint}' if hint else ''}")


def _kind(status: int, told: ErrorBody) -> str:
    if status < 500 or status == 503:
        for code in told.codes:
            if code in meanings("codes"):
                return meanings("codes")[code]
        for pattern, kind in _BY_WORDS:
            if pattern.search(told.message):
                return kind
    if status == 403:
        return _forbidden(told)
    if status in meanings("statuses"):
        return meanings("statuses")[status]
    return "server-error" if status >= 500 else "bad-request"


def _forbidden(told: ErrorBody) -> str:
    words = " ".join((told.message, *told.codes))
    if _MODERATED.search(words):
        return "content-filter"
    return "auth" if _ABOUT_KEY.search(words) else "bad-request"


def body_failure(payload: Any, asked: str) -> Failure | None:
    """The failure in an answer that calls itself a success but holds an error object."""
    error = payload.get("error") if isinstance(payload, dict) else None
    if not error:
        return None
    told = read_error_payload(payload)
    status = next((int(code) for code in told.codes if code.isdecimal() and 400 <= int(code) <= 599), None)
    kind = _kind(status or 499, told)
    if status is None and kind == "bad-request":
        kind = "server-error" if "invalid" not in " ".join(told.codes) else "bad-request"
    return failure(kind, f"{asked}: {clip(told.message) or 'an error with no reason given'}")


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Seconds to wait by the server's own word: `retry-after-ms`, or `Retry-After` in seconds or as a date."""
    if (milliseconds := number_in(headers.get("retry-after-ms"))) is not None:
        return min(milliseconds / 1000, _LATEST)
    value = headers.get("retry-after")
    if value is None:
        return None
    seconds = number_in(value)
    if seconds is None:
        seconds = _until(value, headers.get("date"), now)
    return None if seconds is None else min(seconds, _LATEST)


def _until(value: str, server_date: str | None, now: datetime | None) -> float | None:
    then = _date(value)
    if then is None:
        return None
    # By the server's own clock where it told the time: ours may differ.
    start = (_date(server_date) if server_date else None) or now or datetime.now(UTC)
    return max(0.0, (then - start).total_seconds())


def _date(value: str) -> datetime | None:
    try:
        found = parsedate_to_datetime(value)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def number_in(value: str | None) -> float | None:
    """The number, from 0 on, that a header states; None when it is none."""
    if value is None:
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _decoded(text: bytes) -> str:
    return clip(text.decode("utf-8", "replace"))
