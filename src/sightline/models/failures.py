"""The names of what can go wrong with a call, which of them may pass, and secrets kept out of their words."""

from __future__ import annotations

import re
from collections.abc import Iterable

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
"""Another attempt may help; after `wrong-schema` only one that says what was wrong (models/structured.py)."""
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


def failure(kind: str, message: str) -> Failure:
    """A failure of this name, with its known chance of passing."""
    return Failure(kind, message, kind in RETRYABLE)


def clip(text: str, longest: int = _LONGEST) -> str:
    """The text on one line, cut where it gets long."""
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


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
