"""What the words of a query say about it: the key under which near-duplicates meet, its language, personal data."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from functools import lru_cache
from pathlib import Path
from typing import Literal, TypeAlias

Policy: TypeAlias = Literal["mask", "drop", "keep"]
"""What becomes of personal data: replaced by its kind in brackets, dropped with its query, or kept."""
UNKNOWN = "und"
_KNOWN = tomllib.loads(Path(__file__).with_name("query_words.toml").read_text("utf-8"))
_WORD = re.compile(r"[\w']+")
_PLURALS = (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch"), ("shes", "sh"), ("s", ""))
_SINGULAR = ("ss", "us", "is")
_SHORTEST_PLURAL = 4


def clean(text: str) -> str:
    """A query as it is asked: one form of Unicode, no control characters, single spaces."""
    text = text if text.isascii() else unicodedata.normalize("NFC", text)
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())


@lru_cache(maxsize=1 << 16)
def query_key(text: str) -> str:
    """What near-duplicates share: case, accents, punctuation and English plurals don't matter, order does.

    "Red Bicycles!" and "red bicycle" have the same key; "dog bites man" and "man bites dog" don't.
    """
    plain = text
    if not text.isascii():
        split = unicodedata.normalize("NFKD", text)
        plain = unicodedata.normalize("NFC", "".join(sign for sign in split if not unicodedata.combining(sign)))
    words = (word.strip("_'").removesuffix("'s") for word in _WORD.findall(plain.casefold()))
    return " ".join(_singular(word) for word in words if word) or text.casefold()


def _singular(word: str) -> str:
    if len(word) < _SHORTEST_PLURAL or word[-1] != "s" or word.endswith(_SINGULAR) or not word.isascii():
        return word
    ending, instead = next(pair for pair in _PLURALS if word.endswith(pair[0]))
    return word.removesuffix(ending) + instead


_SMALL_WORDS = {name: frozenset(words.split()) for name, words in _KNOWN["small_words"].items()}


def language_of(text: str) -> str:
    """An ISO 639 code by script, small words and telling letters; `und` where a query is too short to say."""
    folded = text.casefold()
    names = {unicodedata.name(sign, "").partition(" ")[0] for sign in folded if sign.isalpha() and not sign.isascii()}
    script = next((language for script, language in _KNOWN["scripts"].items() if script in names), None)
    if script is not None:
        return "uk" if script == "ru" and not set(_KNOWN["letters"]["uk"]).isdisjoint(folded) else str(script)
    words = _WORD.findall(folded)
    votes = {name: sum(word in small for word in words) for name, small in _SMALL_WORDS.items()}
    for name, letters in _KNOWN["letters"].items():
        votes[name] = votes.get(name, 0) + 2 * sum(sign in letters for sign in folded)
    best, second = sorted(votes.values())[-1:-3:-1]
    return next(name for name, count in votes.items() if count == best) if best > second else UNKNOWN


_DIGIT = re.compile(r"\d")
_NAMES = "|".join(_KNOWN["given_names"].split())
_PERSONAL: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("e-mail", re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")),
    ("coordinates", re.compile(r"[-+]?\d{1,2}\.\d{3,}°?\s*[NSns]?\s*[,;/ ]\s*[-+]?\d{1,3}\.\d{3,}°?\s*[EWOewo]?\b")),
    ("coordinates", re.compile(r"\d{1,3}°\s*\d{1,2}['′]\s*[\d.]*[\"″]?\s*[NSEWnsewo]\b")),
    ("number", re.compile(r"\b[A-Z]{2}\d{2}(?:\s?[A-Z\d]{4}){3,7}(?:\s?[A-Z\d]{1,3})?\b")),
    # Digits in groups: a leading + or 0, or ten and more of them; a date or two years have fewer.
    ("phone", re.compile(r"(?<![\w./-])(?:\+|00?|\(0)\d{1,4}\)?(?:[ ./()-]{0,2}\d{2,}){2,}(?![\w.])")),
    ("phone", re.compile(r"(?<![\w.])\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}(?![\w.])")),
    ("number", re.compile(r"(?<![\w./-])\d(?:[ -]?\d){8,18}(?![\w.:])")),
    ("name", re.compile(rf"\b(?:{_NAMES})\s+[^\W\d_]{{2,}}(?:[\s,]+\S+)?[\s,]+(?:\d[\d./-]+\d)\b", re.IGNORECASE)),
)


def masked(text: str) -> tuple[str, tuple[str, ...]]:
    """The query with each piece of personal data replaced by its kind in brackets, and those kinds.

    Found are e-mail addresses, telephone numbers, coordinates, long numbers (cards, accounts) and names with a number.
    """
    if "@" not in text and not _DIGIT.search(text):
        return text, ()
    kinds: dict[str, None] = {}
    for kind, pattern in _PERSONAL:
        text, count = pattern.subn(f" [{kind}] ", text)
        kinds |= {kind: None} if count else {}
    return (clean(text), tuple(kinds)) if kinds else (text, ())
