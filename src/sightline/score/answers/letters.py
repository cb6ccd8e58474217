"""Words of plain English text, found without a pattern."""

from __future__ import annotations

_TABLE = bytes(ord(chr(byte).lower()) if byte < 128 and chr(byte).isalpha() else 32 for byte in range(256))
"""Every byte that is no ASCII letter becomes a space; letters become lower-case."""


def ascii_words(text: str) -> list[str]:
    """The runs of letters of an ASCII text, in lower case; several times as fast as a regular expression."""
    return text.encode("ascii").translate(_TABLE).decode("ascii").split()
