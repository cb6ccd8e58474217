from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.stem.porter import PorterStemmer
from nltk.translate.meteor_score import meteor_score, single_meteor_score

from metrics.text.text_functions import meteor
from sightline.metrics.text.tokens import word_tokens

STEMMER = PorterStemmer(PorterStemmer.ORIGINAL_ALGORITHM)
WORDS = ["the", "cat", "cats", "run", "running", "runs", "dog", "pet", "hound", "a", "on", "mat"]
SENTENCES = st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join)


class NoWords:
    """Stands in for wordnet, which is not to be had without a download."""

    def synsets(self, word: str) -> list[str]:
        return []


@given(SENTENCES, SENTENCES)
@settings(deadline=None, max_examples=300)
def test_equals_nltk(prediction: str, reference: str) -> None:
    expected = single_meteor_score(word_tokens(reference), word_tokens(prediction), stemmer=STEMMER, wordnet=NoWords())
    assert meteor(prediction, [reference]) == pytest.approx(expected, abs=1e-12)


@given(SENTENCES, st.lists(SENTENCES, min_size=1, max_size=3))
@settings(deadline=None, max_examples=100)
def test_max_over_references_equals_nltk(prediction: str, references: list[str]) -> None:
    tokens = [word_tokens(text) for text in references]
    expected = meteor_score(tokens, word_tokens(prediction), stemmer=STEMMER, wordnet=NoWords())
    assert meteor(prediction, references, "max") == pytest.approx(expected, abs=1e-12)


def test_edges() -> None:
    assert meteor("", [""]) == meteor("", ["a"]) == meteor("a", [""]) == meteor("a", ["b"]) == 0.0
    assert meteor("a", ["a"]) == 0.5
    assert meteor("a cat on it", ["a cat on it"]) == pytest.approx(1 - 0.5 / 64)
    assert meteor("dog", ["hound"]) == 0.0
    assert meteor("a", ["a", "b"]) == 0.25
