"""Porter's stemmer, as published in 1980."""

from __future__ import annotations

from functools import lru_cache

_STEP_2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "abli": "able",
    "alli": "al", "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate",
    "alism": "al", "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive",
    "biliti": "ble",
}  # fmt: skip
_STEP_3 = {
    "icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": "",
}  # fmt: skip
_STEP_4 = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism",
    "ate", "iti", "ous", "ive", "ize",
)  # fmt: skip


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The stem of a lower-case word."""
    word = _plural(word)
    word = _past_or_gerund(word)
    if word.endswith("y") and "v" in _shape(word[:-1]):
        word = word[:-1] + "i"
    word = _replace(word, _STEP_2)
    word = _replace(word, _STEP_3)
    word = _strip(word)
    return _tidy(word)


def _shape(word: str) -> str:
    """`c` for each consonant and `v` for each vowel; y is a vowel after a consonant."""
    shape: list[str] = []
    for letter in word:
        vowel = letter in "aeiou" or (letter == "y" and shape[-1:] == ["c"])
        shape.append("v" if vowel else "c")
    return "".join(shape)


def _measure(word: str) -> int:
    """How often a vowel is followed by a consonant: Porter's m."""
    return _shape(word).count("vc")


def _ends_short(word: str) -> bool:
    """Consonant, vowel, consonant other than w, x and y: Porter's *o."""
    return _shape(word)[-3:] == "cvc" and word[-1] not in "wxy"


def _plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past_or_gerund(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        if word.endswith(suffix) and "v" in _shape(word[: -len(suffix)]):
            return _restored(word[: -len(suffix)])
    return word


def _restored(base: str) -> str:
    """What is left after -ed or -ing, given back its e or rid of its double letter."""
    if base.endswith(("at", "bl", "iz")):
        return base + "e"
    if base[-2:-1] == base[-1] and _shape(base)[-1] == "c":
        return base if base[-1] in "lsz" else base[:-1]
    return base + "e" if _measure(base) == 1 and _ends_short(base) else base


def _replace(word: str, rules: dict[str, str]) -> str:
    """The first suffix that fits decides; it is replaced where what precedes has m > 0."""
    for suffix, replacement in rules.items():
        if word.endswith(suffix):
            base = word[: -len(suffix)]
            return base + replacement if _measure(base) > 0 else word
    return word


def _strip(word: str) -> str:
    for suffix in _STEP_4:
        if word.endswith(suffix):
            base = word[: -len(suffix)]
            removable = _measure(base) > 1 and (suffix != "ion" or base[-1] in "st")
            return base if removable else word
    return word


def _tidy(word: str) -> str:
    if word.endswith("e"):
        measure = _measure(word[:-1])
        if measure > 1 or (measure == 1 and not _ends_short(word[:-1])):
            word = word[:-1]
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word
