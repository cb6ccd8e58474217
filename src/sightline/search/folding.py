"""Text as it is compared: without case and accents."""

from __future__ import annotations

import re
import unicodedata

_ACCENTS = re.compile("[\u0300-\u036f]")
# Letters that Unicode does not take apart into a plain letter and an accent.
_PLAIN = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th"})


def fold(text: str) -> str:
    """Without case, accents (of European scripts) and compatibility forms: `Kyōto` and `KYOTO` are `kyoto`."""
    if text.isascii():
        return text.lower()
    bare = _ACCENTS.sub("", unicodedata.normalize("NFKD", text.casefold())).translate(_PLAIN)
    # Some compatibility forms become capitals only once they are taken apart.
    return unicodedata.normalize("NFC", bare.casefold())
