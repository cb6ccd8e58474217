"""Stable names: a file's path under its root becomes a readable picture id."""

from __future__ import annotations

import mimetypes
import os
import re
import unicodedata
from pathlib import Path
from urllib.parse import quote_from_bytes, unquote_to_bytes

from sightline.errors import UserError


def picture_id(path: bytes) -> str:
    """POSIX path in Unicode NFC; bytes that are not UTF-8 are percent-encoded."""
    text = os.fsdecode(path).replace(os.sep, "/")
    if not text.isascii():
        text = "".join(f"%{ord(c) - 0xDC00:02X}" if "\udc80" <= c <= "\udcff" else c for c in text)
        text = unicodedata.normalize("NFC", text)
    return text


def file_uri(path: bytes) -> str:
    """A `file://` address of an absolute path, from which the exact bytes can be had back."""
    return "file://" + quote_from_bytes(path, safe="/")


def path_of(uri: str) -> Path:
    """The file behind a `file://` address or a plain path."""
    if uri.startswith("file://"):
        return Path(os.fsdecode(unquote_to_bytes(uri.removeprefix("file://"))))
    return Path(uri)


def names_a_picture(name: str) -> bool:
    """Does the name of a file say that it is a picture? One that is none is worth a word then."""
    return (mimetypes.guess_type(name, strict=False)[0] or "").startswith("image/")


def owner_reader(pattern: str | None) -> re.Pattern[str] | None:
    """`{owner}/*` → what finds the owner at the start of a picture's id; `*` stays within one folder, `**` does not."""
    if pattern is None:
        return None
    if pattern.count("{owner}") != 1:
        raise UserError(
            f'scan.owner_pattern "{pattern}" must contain {{owner}} exactly once.', 'for example "{owner}/*"'
        )
    parts = re.split(r"(\{owner\}|\*\*/?|\*|\?)", pattern)
    meaning = {"{owner}": "(?P<owner>[^/]+)", "**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    body = "".join(meaning.get(part, re.escape(part)) for part in parts)
    return re.compile(body + "(?:/.*)?" if pattern.endswith("*") else body, re.DOTALL)


def owner_of(picture: str, reader: re.Pattern[str] | None) -> str | None:
    """The owner in a picture's id, if the pattern fits."""
    found = reader.fullmatch(picture) if reader else None
    return found["owner"] if found else None
