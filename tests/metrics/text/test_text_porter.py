from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.stem.porter import PorterStemmer

from sightline.metrics.text.porter import stem

REFERENCE = PorterStemmer(PorterStemmer.ORIGINAL_ALGORITHM)
SUFFIXES = re.findall(
    r"\w+",
    "s ss es sses ies eed ed ing y ational tional enci anci izer abli alli entli eli ousli ization ation ator "
    "alism iveness fulness ousness aliti iviti biliti icate ative alize iciti ical ful ness al ance ence er ic "
    "able ible ant ement ment ent ion sion tion ou ism ate iti ous ive ize e l ll le bl at iz tt zz",
)
LETTERS = st.text("abcdefghijklmnopqrstuvwxyzaeiouyé1", max_size=8)
WORDS = st.builds(lambda head, tails: head + "".join(tails), LETTERS, st.lists(st.sampled_from(SUFFIXES), max_size=3))


@given(WORDS)
@settings(deadline=None, max_examples=2000)
def test_equals_nltk(word: str) -> None:
    assert stem(word) == REFERENCE.stem(word)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("caresses", "caress"),
        ("ponies", "poni"),
        ("agreed", "agre"),
        ("hopping", "hop"),
        ("falling", "fall"),
        ("filing", "file"),
        ("happy", "happi"),
        ("sky", "sky"),
        ("relational", "relat"),
        ("adoption", "adopt"),
        ("controll", "control"),
        ("roll", "roll"),
        ("", ""),
        ("yyyy", "yyyi"),
    ],
)
def test_examples_of_the_paper(word: str, expected: str) -> None:
    assert stem(word) == expected
