"""Text out of metadata: any bytes become tidy Unicode, or nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sightline.corpus.metadata.facts import unique

MAX_TEXT = 32_768
MAX_KEYWORDS = 1_000

_UNWANTED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def tidy(text: str) -> str | None:
    """Without control characters and outer space, cut to a sane length; None when nothing is left."""
    text = text[:MAX_TEXT]
    if not text.isprintable():
        text = _UNWANTED.sub("", text)
    return text.strip() or None


def decode(raw: bytes) -> str | None:
    """UTF-8 where it is valid, otherwise Windows' Latin-1: what cameras and old editors write."""
    try:
        return tidy(raw.decode())
    except UnicodeDecodeError:
        return tidy(raw.decode("cp1252", "replace"))


def decode_ascii(raw: bytes) -> str | None:
    """An EXIF string: the first part between NULs that says anything."""
    if raw.count(b"\0") == 1 and raw.endswith(b"\0"):
        return decode(raw[:-1])
    return next((text for part in raw.split(b"\0") if (text := decode(part))), None)


def decode_utf16(raw: bytes) -> str | None:
    """One of Windows' XP… strings."""
    return tidy(raw.decode("utf-16-le", "replace").split("\0")[0])


def keyword_tuple(words: Iterable[str]) -> tuple[str, ...]:
    """Tidy keywords, each once, at most a thousand."""
    return unique(word for raw in words if (word := tidy(raw)))[:MAX_KEYWORDS]


def split_keywords(text: str | None, separator: str) -> tuple[str, ...]:
    """Keywords written into one string."""
    return keyword_tuple((text or "").split(separator))


def read_rating(text: str) -> int | None:
    """Stars from -1 to 5, also written "4.0"; None when it is none of these."""
    try:
        rating = float(text)
    except ValueError:
        return None
    return int(rating) if rating.is_integer() and -1 <= rating <= 5 else None
