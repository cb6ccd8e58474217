"""Which language a text is in: by script, and among Latin scripts by their commonest words."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from pathlib import Path

from sightline.errors import UserError
from sightline.metrics.answers.numerals import ascii_words

_LETTERS = {
    "ja": re.compile("[\u3040-\u30ff]"),
    "ko": re.compile("[\uac00-\ud7af]"),
    "zh": re.compile("[\u3400-\u9fff]"),
    "ru": re.compile("[\u0400-\u04ff]"),
    "ar": re.compile("[\u0600-\u06ff]"),
    "hi": re.compile("[\u0900-\u097f]"),
    "el": re.compile("[\u0370-\u03ff]"),
    "he": re.compile("[\u0590-\u05ff]"),
    "th": re.compile("[\u0e00-\u0e7f]"),
}
_COMMON: dict[str, str] = tomllib.loads((Path(__file__).parent / "common_words.toml").read_text("utf-8"))
_LISTS = {code: frozenset(words.split()) for code, words in _COMMON.items()}
_ENGLISH = _LISTS["en"]
_SPEAKING = {
    word: tuple(code for code, theirs in _LISTS.items() if word in theirs)
    for words in _COMMON.values()
    for word in words.split()
}
LANGUAGES = frozenset({*_LETTERS, *_COMMON})
"""Those that can be told apart, by their codes in ISO 639-1."""
_ACCENT = re.compile("[\u00c0-\u024f\u1e00-\u1eff]")
_WORD = re.compile(r"[^\W\d_]+")
_FEWEST_WORDS = 8
_ENOUGH_WORDS = 12
_MOST_WORDS = 150
_MOST_LETTERS = 2_000
"""In which these words are, unless they are uncommonly long; to take 8,000 apart takes four times as long."""
_OTHER_SCRIPT = 0.2
_KANA_SHARE = 0.1
_FEWEST_VOTES = 0.08
_PLAINLY = 0.4
_ENGLISH_VOTES = 0.15
"""Its short words occur elsewhere, and the list is long."""


def known_language(code: str) -> str | None:
    """A code as rules have it; `any` is None, and what can't be told is refused before all of it is rejected."""
    if code != "any" and code not in LANGUAGES:
        raise UserError(
            f'"{code}" is not a language that can be told.', f"say {', '.join(sorted(LANGUAGES))}, or any for all"
        )
    return None if code == "any" else code


def speaks(language: str, text: str) -> bool:
    """Is a text in this language, as far as can be told? From twelve words on, it must have some of its words."""
    found = language_of(text)
    return found == language or (found is None and (language not in _COMMON or len(_words(text)) < _ENOUGH_WORDS))


def language_of(text: str) -> str | None:
    """An ISO 639-1 code; None where the text says too little. A fifth in another script makes it that language."""
    sample = text[:8_000]
    if not sample.isascii() and (code := _by_script(sample)) is not None:
        return code
    words = _words(sample)
    if len(words) < _FEWEST_WORDS:
        return None
    accented = 0 if sample.isascii() else sum(_ACCENT.search(word) is not None for word in words)
    english = sum(map(_ENGLISH.__contains__, words)) - accented / 2  # English has accents only in names and loans.
    if english >= _PLAINLY * len(words):
        return "en"
    # A word that English has, too, says nothing for another language by itself.
    told = {code for word in words if word not in _ENGLISH for code in _SPEAKING.get(word, ())}
    votes = Counter(code for word in words for code in _SPEAKING.get(word, ()) if code in told)
    votes["en"] = int(english) if english >= _ENGLISH_VOTES * len(words) else 0
    code, most = max(votes.items(), key=lambda pair: pair[1])
    return code if most >= max(1, _FEWEST_VOTES * len(words)) else None


def _by_script(sample: str) -> str | None:
    letters = sum(map(str.isalpha, sample))
    counts = {code: len(pattern.findall(sample)) for code, pattern in _LETTERS.items()}
    # Japanese is mostly Chinese characters; its own letters tell.
    if counts["ja"] > _KANA_SHARE * (counts["ja"] + counts["zh"]) and counts["ja"]:
        counts["ja"] += counts.pop("zh")
    code, most = max(counts.items(), key=lambda pair: pair[1])
    return code if most >= max(_FEWEST_WORDS, _OTHER_SCRIPT * letters) else None


def _words(text: str) -> list[str]:
    start = text[:_MOST_LETTERS]
    if start.isascii():
        return ascii_words(start)[:_MOST_WORDS]
    return _WORD.findall(start.lower())[:_MOST_WORDS]
