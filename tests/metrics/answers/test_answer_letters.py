"""Words of ASCII text beside the pattern that they stand for."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.metrics.answers.numerals import ascii_words


@settings(deadline=None, max_examples=200)
@given(st.text(st.characters(max_codepoint=127), max_size=60))
def test_words_are_the_runs_of_letters(text: str) -> None:
    assert ascii_words(text) == re.findall("[a-z]+", text.lower())
