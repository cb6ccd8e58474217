"""The words of a sentence as contradictions are looked for in it: in English and Chinese, numbers by their value."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from sightline.score.answers.normalise import fold
from sightline.score.answers.numerals import find_numbers
from sightline.score.answers.units import COUNTERS


def words_in(listed: str) -> frozenset[str]:
    """The words of a list with spaces in between."""
    return frozenset(listed.split())


_TOKEN = re.compile(r"#[^\s#]+#|[^\W\d_\u4e00-\u9fff]+(?:'[a-z]+)?|[\u4e00-\u9fff]|\d+")
# The same for ASCII in lower case, in two thirds of the time.
_ASCII_TOKEN = re.compile(r"#[^\s#]+#|[a-z]+(?:'[a-z]+)?|[0-9]+")
_COUNTED = {"both": "#2#", "single": "#1#", "gray": "grey"}
COLOURS = words_in(
    "red blue green yellow black white orange purple pink brown grey gold silver beige turquoise "
    "红 蓝 绿 黄 黑 白 橙 紫 粉 棕 灰 金 银"
)
NEGATIONS = words_in("not no never without neither nor none cannot 不 没 无 未 非")
LINKS = words_in("is are was were be looks look appears appear seems seem 是 为 呈")
ARTICLES = words_in("a an the its his her their this that these those")
PREPOSITIONS = words_in("of in on at with by from near behind beside under above below inside beneath")
_FILLERS = words_in(
    "of in on at to for with by from and or it as there has have had very quite also i we can see "
    "的 色 了 在 有 和 与 也 就 都 着"
)
_HOLDING = _FILLERS | ARTICLES | LINKS | NEGATIONS | COLOURS
_GENERIC = words_in("picture image photo photograph scene visible seen shown show here 图 片")
_REACH = 3
"""Words after a negation that it may deny."""


@lru_cache(maxsize=1_024)
def tokens_of(text: str) -> tuple[str, ...]:
    """Lower-case words and Chinese characters in order; a number is `#value#` in whatever way it was written."""
    text = fold(text)
    for number in reversed(find_numbers(text)):
        text = f"{text[: number.start]} #{number.value}# {text[number.end :]}"
    words = (_ASCII_TOKEN if text.isascii() else _TOKEN).findall(text.lower().replace("n't", " not"))
    return tuple([_COUNTED.get(word, word) for word in words if word not in COUNTERS])


def is_content(token: str) -> bool:
    """Does a word name something, or say what it does? Numbers, colours and what holds a sentence together do not."""
    return token not in _HOLDING and not token.startswith("#")


def subject_words(tokens: Sequence[str]) -> frozenset[str]:
    """What a sentence is about: the words that name something, in the singular; that it is a picture goes unsaid."""
    return frozenset(singular(token) for token in tokens if is_content(token)) - _GENERIC


def is_denied(tokens: Sequence[str], place: int) -> bool:
    """Does a negation stand shortly before a word?"""
    return not NEGATIONS.isdisjoint(tokens[max(0, place - _REACH) : place])


def singular(token: str) -> str:
    """The word without the s of a plural or a verb."""
    return token[:-1] if len(token) > 3 and token.endswith("s") and not token.endswith("ss") else token
