"""What servers say of their own limits, in the headers of their replies."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
# OpenAI and whoever follows it; Anthropic.
_NAMES = (
    ("requests", "x-ratelimit-{}-requests"),
    ("tokens", "x-ratelimit-{}-tokens"),
    ("requests", "anthropic-ratelimit-requests-{}"),
    ("tokens", "anthropic-ratelimit-tokens-{}"),
)
_HEADERS = tuple((what, name.format("limit"), name.format("remaining"), name.format("reset")) for what, name in _NAMES)


@dataclass(frozen=True, slots=True)
class Allowance:
    """So many requests or tokens are allowed, so many are left, and after `reset` seconds all of them are again."""

    what: Literal["requests", "tokens"]
    limit: float
    remaining: float
    reset: float


def allowances(headers: Mapping[str, str], now: datetime | None = None) -> list[Allowance]:
    """Every limit that the headers (names in lower case) state completely."""
    found = []
    for what, limit_name, remaining_name, reset_name in _HEADERS:
        if remaining_name not in headers:
            continue
        limit, remaining = _number(headers.get(limit_name)), _number(headers[remaining_name])
        reset = seconds(headers.get(reset_name, ""), now)
        if limit is not None and remaining is not None and reset is not None:
            found.append(Allowance("requests" if what == "requests" else "tokens", limit, remaining, reset))
    return found


def seconds(text: str, now: datetime | None = None) -> float | None:
    """`1m30.5s`, `120ms`, `12` or a time of day (ISO 8601) as seconds from now; None when it is none of these."""
    text = text.strip()
    if (plain := _number(text)) is not None:
        return plain
    if _DURATION.sub("", text) == "" and text:
        return sum(float(amount) * _SECONDS[unit] for amount, unit in _DURATION.findall(text))
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return max(0.0, (when - (now or datetime.now(UTC))).total_seconds())


def _number(text: str | None) -> float | None:
    try:
        value = float(text) if text is not None else None
    except ValueError:
        return None
    return value if value is not None and 0 <= value < float("inf") else None
