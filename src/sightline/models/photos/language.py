"""Does a text look like English? A guess by its letters and its smallest words, for a note and nothing else."""

from __future__ import annotations

import re
import unicodedata

_WORD = re.compile(r"[^\W\d_]+")
_FOREIGN = frozenset(
    (
        *("ein", "eine", "einen", "einem", "einer", "und", "mit", "auf", "nicht", "vom", "zum", "une", "dans", "avec"),
        *("una", "het", "een", "uma", "och", "med", "jeg", "som", "czy", "nie", "jest"),
    )
)
"""Small words of other European languages that are none in English."""
_EITHER = frozenset(
    (
        *("un", "en", "el", "la", "los", "las", "le", "les", "des", "du", "de", "der", "das", "die"),
        *("dem", "im", "am", "il", "lo", "di", "del", "con", "nel", "na", "em", "com", "op", "van"),
        *("det", "på", "et", "y", "e", "o"),
    )
)
"""Small words that English texts have too, in names: two of them, and a third of the text, say something."""
_ENOUGH, _SHARE = 2, 1 / 3


def looks_english(text: str) -> bool:
    """False when most letters are not Latin, or when small words of another language are there."""
    words = [word.lower() for word in _WORD.findall(text)]
    letters = "".join(words)
    if not letters:
        return True
    if sum("LATIN" in unicodedata.name(letter, "") for letter in letters) < len(letters) / 2:
        return False
    if any(word in _FOREIGN for word in words):
        return False
    either = sum(word in _EITHER for word in words)
    return either < _ENOUGH or either < _SHARE * len(words)
