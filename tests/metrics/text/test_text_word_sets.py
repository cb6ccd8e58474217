from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics.text.text_functions import jaccard, overlap

SENTENCES = st.lists(st.sampled_from(["the", "cat", "Cat", "sat", "猫", "!"]), max_size=8).map(" ".join)


def letters(text: str) -> set[str]:
    return {word for word in text.lower().split() if word != "!"}


@given(SENTENCES, SENTENCES)
@settings(deadline=None, max_examples=200)
def test_the_formulas(prediction: str, reference: str) -> None:
    a, b = letters(prediction), letters(reference)
    if a or b:
        assert jaccard(prediction, [reference]) == len(a & b) / len(a | b)
    if a and b:
        assert overlap(prediction, [reference]) == len(a & b) / min(len(a), len(b))
        assert jaccard(prediction, [reference]) <= overlap(prediction, [reference])
    assert jaccard(prediction, [reference]) == jaccard(reference, [prediction])
    assert overlap(prediction, [reference]) == overlap(reference, [prediction])


@pytest.mark.parametrize("score", [jaccard, overlap])
@pytest.mark.parametrize(
    ("prediction", "reference", "expected"), [("", "", 1), ("...", "?", 1), ("", "a", 0), ("a", "", 0), ("a", "A", 1)]
)
def test_edges(score: Callable[[str, list[str]], float], prediction: str, reference: str, expected: float) -> None:
    assert score(prediction, [reference]) == expected


def test_mean_and_max() -> None:
    assert jaccard("a b", ["a b", "c"]) == 0.5
    assert jaccard("a b", ["a b", "c"], "max") == 1.0
    assert overlap("a b", ["a", "c"]) == 0.5
    assert overlap("a b", ["a", "c"], "max") == 1.0
