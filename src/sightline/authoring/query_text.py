"""What the words of a query say about it: the key under which near-duplicates meet, its language, personal data."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Literal, TypeAlias

Policy: TypeAlias = Literal["mask", "drop", "keep"]
"""What becomes of personal data: replaced by its kind in brackets, dropped with its query, or kept."""

_WORD = re.compile(r"[\w']+")
_PLURALS = (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch"), ("shes", "sh"))
_SINGULAR = ("ss", "us", "is")
_SHORTEST_PLURAL = 4


def clean(text: str) -> str:
    """A query as it is asked: one form of Unicode, no control characters, single spaces."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())


@lru_cache(maxsize=1 << 16)
def query_key(text: str) -> str:
    """What near-duplicates share: case, accents, punctuation and English plurals don't matter, order does.

    "Red Bicycles!" and "red bicycle" have the same key; "dog bites man" and "man bites dog" don't.
    """
    return " ".join(terms(text)) or text.casefold()


def terms(text: str) -> list[str]:
    """The words of a query in the form in which they are compared."""
    if not text.isascii():
        split = unicodedata.normalize("NFKD", text)
        text = unicodedata.normalize("NFC", "".join(sign for sign in split if not unicodedata.combining(sign)))
    return [
        _singular(word.strip("_'").removesuffix("'s")) for word in _WORD.findall(text.casefold()) if word.strip("_'")
    ]


def _singular(word: str) -> str:
    if len(word) < _SHORTEST_PLURAL or word[-1] != "s" or word.endswith(_SINGULAR) or not word.isascii():
        return word
    ending = next((pair for pair in _PLURALS if word.endswith(pair[0])), ("s", ""))
    return word.removesuffix(ending[0]) + ending[1]


# By the name that Unicode gives to a sign; the first that fits counts, so kana before the signs of Chinese.
_SCRIPTS = {
    "HIRAGANA": "ja", "KATAKANA": "ja", "HANGUL": "ko", "CJK": "zh", "ARABIC": "ar", "HEBREW": "he", "GREEK": "el",
    "THAI": "th", "DEVANAGARI": "hi", "BENGALI": "bn", "TAMIL": "ta", "GEORGIAN": "ka", "ARMENIAN": "hy",
    "CYRILLIC": "ru",
}  # fmt: skip
_SMALL_WORDS = {
    "en": "the of and with on in at a an for from by to my is no near under between",
    "de": "der die das und mit im am auf ein eine einer von vor bei für ohne zu unter über nach meine ist",
    "fr": "le la les un une des et avec dans sur au aux du pour sans chez sous mon ma est",
    "es": "el la los las una y con en del al para sin por mi sobre de",
    "it": "il lo la gli e con nel nella sulla di da della per senza che al una",
    "pt": "o os as um uma e com no na do da em para sem meu minha ao",
    "nl": "de het een en met op van bij voor zonder onder naar mijn in",
    "sv": "en ett och med på av för utan under min vid",
    "pl": "i z na w do bez pod przy dla nad",
}
_LANGUAGES = {name: frozenset(words.split()) for name, words in _SMALL_WORDS.items()}
_SIGNS = {
    "de": "ßäöü", "fr": "çœèêëîïûàâ", "es": "ñ¿¡", "pt": "ãõ", "sv": "å", "pl": "łąęśżźćń", "uk": "іїєґ", "it": "ìò",
}  # fmt: skip
UNKNOWN = "und"


def language_of(text: str) -> str:
    """An ISO 639 code by script, small words and telling letters; `und` where a query is too short to say."""
    folded = text.casefold()
    if not folded.isascii() and (script := _script(folded)) is not None:
        return "uk" if script == "ru" and not set(_SIGNS["uk"]).isdisjoint(folded) else script
    words = _WORD.findall(folded)
    votes = {name: sum(word in small for word in words) for name, small in _LANGUAGES.items()}
    for name, signs in _SIGNS.items():
        votes[name] = votes.get(name, 0) + 2 * sum(sign in signs for sign in folded)
    best, second = sorted(votes.values())[-1:-3:-1]
    return next(name for name, count in votes.items() if count == best) if best > second else UNKNOWN


def _script(text: str) -> str | None:
    names = {unicodedata.name(sign, "").partition(" ")[0] for sign in text if sign.isalpha() and not sign.isascii()}
    return next((language for script, language in _SCRIPTS.items() if script in names), None)


_GIVEN_NAMES = """
    adam ahmed alan albert alejandro alex alexander alice ali amanda amy ana andrea andreas andrew angela anita ann anna
    anne anthony antonio barbara ben benjamin brian carlos carol carolina catherine charles chris christian christine
    christopher claudia daniel david deborah diana diego donald dorothy edward elena elizabeth emily emma eric eva
    fatima felix fernando francisco frank gary george giovanni giulia hans heather helen henry ibrahim ines isabel ivan
    jack jacob james jan jane jason jean jennifer jessica jesus joao john jonathan jorge jose joseph joshua juan julia
    julie karen kate katharina kelly kenneth kevin klaus laura lena linda lisa lucas luis lukas manuel marco margaret
    maria marie mario mark markus marta martin mary matthew melissa michael michelle miguel mohamed mohammed monica
    nancy natalia nicholas nicole nina olga oliver olivia pablo patricia paul paula pedro peter philip pierre rachel
    rafael rebecca richard robert roberto ronald rosa ruth ryan samuel sandra sara sarah scott sergio sofia sophie
    stefan stephanie stephen steven susan susanne sven teresa thomas timothy tom ursula victoria walter wei william
    yusuf
"""
_NAMES = "|".join(_GIVEN_NAMES.split())
_DIGITS = re.compile(r"\d")
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
    if "@" not in text and not _DIGITS.search(text):
        return text, ()
    kinds: list[str] = []
    for kind, pattern in _PERSONAL:
        text, count = pattern.subn(f" [{kind}] ", text)
        kinds += [kind] * bool(count)
    return (clean(text), tuple(dict.fromkeys(kinds))) if kinds else (text, ())
