"""Words by which a text says in other languages than English which option is right; replies and steps are read by it.

All (in `languages.toml`) are parts of patterns that ignore case and white space (`re.IGNORECASE | re.VERBOSE`).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from sightline.metrics.answers.reply import MOST_STATEMENTS, Statement, Strength

FLAGS = re.IGNORECASE | re.VERBOSE
_LONGEST_CONTENT = 300
_SHORT, _SHORT_UNSPACED = 2, 1
_ENDS = r"(?=\s*(?:$|[.,;:!)\n]))"
COPULA = r"(?:です|だ(?!け)|である|でしょう|になり|となり|번|입니다|이다|이에요|예요|이며|이고)"
"""What stands behind an option that is said to be it, where that is no word of its own."""
OPTION = r"(?:opción|opção|opzione|letra|lettre|lettera|buchstabe|вариант|선택지|選択肢)"
_SIGN = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_UNSPACED = re.compile(f"[{_SIGN}]")
# Korean has spaces, but what English says by small words is written to the end of a word.
_OPEN_BEHIND = re.compile(f"[{_SIGN}\uac00-\ud7af]")


class _Language(NamedTuple):
    """What stands before a key ("the answer is"), behind it ("is right"), and before a conclusion ("so it is").

    `either` stands between two options of which one is right, `denied` before a wrong one, `supposed` before what is
    not said to be so, `example` before an example.
    """

    answer: str
    right: str
    so: str
    either: str
    denied: str
    supposed: str
    example: str


def _languages() -> Iterator[_Language]:
    table = tomllib.loads(Path(__file__).with_name("languages.toml").read_text("utf-8"))
    for words in table.values():
        yield _Language(**{name: pattern.replace("{ends}", _ENDS) for name, pattern in words.items()})


_ALL = tuple(_languages())


def _any(parts: Iterator[str]) -> str:
    return f"(?:{'|'.join(dict.fromkeys(parts))})"


IS_RIGHT = _any(words.right for words in _ALL)
SO = _any(words.so for words in _ALL)
OR = _any(words.either for words in _ALL)
NOT = _any(words.denied for words in _ALL)
IF = _any(words.supposed for words in _ALL)
EXAMPLE = _any(words.example for words in _ALL)

_ANSWER_IS = re.compile(rf"{_any(words.answer for words in _ALL)}\s*(?:[:：=]|[-–—](?=\s))?", FLAGS)


def answers_stated(text: str) -> Iterator[Statement]:
    """What stands behind the last fifty of "the answer is" in any of the languages, up to the end of the line."""
    for found in list(_ANSWER_IS.finditer(text))[-MOST_STATEMENTS:]:
        first = text[found.end() : found.end() + _LONGEST_CONTENT].partition("\n")[0]
        yield Statement(first.strip(), Strength.PHRASE, found.end())


def is_common(text: str) -> bool:
    """Is an option's text so short that it occurs in other senses? Without spaces, a word has fewer signs."""
    return len(text) <= (_SHORT_UNSPACED if is_open_behind(text) else _SHORT)


def is_open_behind(text: str) -> bool:
    """May other words follow an option's text without a space?"""
    return _OPEN_BEHIND.match(text[-1:]) is not None


def bounded(text: str) -> str:
    """A pattern for a text as whole words; where words are not set apart by spaces, for the text anywhere."""
    left = "" if _UNSPACED.match(text) else r"(?<!\w)"
    right = "" if is_open_behind(text) else r"(?!\w)"
    return left + re.escape(text) + right
