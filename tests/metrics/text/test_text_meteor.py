from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.stem.porter import PorterStemmer
from nltk.translate.meteor_score import meteor_score, single_meteor_score

from sightline.metrics.text.meteor import meteor
from sightline.metrics.text.tokens import word_tokens

STEMMER = PorterStemmer(PorterStemmer.ORIGINAL_ALGORITHM)
WORDS = ["the", "cat", "cats", "run", "running", "runs", "dog", "pet", "hound", "a", "on", "mat"]
SENTENCES = st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join)
# Words that are their own stems, since nltk looks up nothing but stems.
SYNONYMS = {"dog": ["hound", "pet"], "cat": ["pet"], "pet": ["dog"]}


class Lemma:
    def __init__(self, word: str) -> None:
        self.word = word

    def name(self) -> str:
        return self.word


class Synset:
    def __init__(self, words: list[str]) -> None:
        self.words = words

    def lemmas(self) -> list[Lemma]:
        return [Lemma(word) for word in self.words]


class WordList:
    """Stands in for wordnet, which is not to be had without a download."""

    def __init__(self, table: dict[str, list[str]]) -> None:
        self.table = table

    def synsets(self, word: str) -> list[Synset]:
        return [Synset(self.table[word])] if word in self.table else []


@given(SENTENCES, SENTENCES, st.sampled_from([{}, SYNONYMS]))
@settings(deadline=None, max_examples=300)
def test_equals_nltk(prediction: str, reference: str, synonyms: dict[str, list[str]]) -> None:
    expected = single_meteor_score(
        word_tokens(reference), word_tokens(prediction), stemmer=STEMMER, wordnet=WordList(synonyms)
    )
    assert meteor(prediction, [reference], synonyms=synonyms) == pytest.approx(expected, abs=1e-12)


@given(SENTENCES, st.lists(SENTENCES, min_size=1, max_size=3))
@settings(deadline=None, max_examples=100)
def test_max_over_references_equals_nltk(prediction: str, references: list[str]) -> None:
    tokens = [word_tokens(text) for text in references]
    expected = meteor_score(tokens, word_tokens(prediction), stemmer=STEMMER, wordnet=WordList({}))
    assert meteor(prediction, references, "max") == pytest.approx(expected, abs=1e-12)


def test_edges() -> None:
    assert meteor("", [""]) == meteor("", ["a"]) == meteor("a", [""]) == meteor("a", ["b"]) == 0.0
    assert meteor("a", ["a"]) == 0.5
    assert meteor("a cat on it", ["a cat on it"]) == pytest.approx(1 - 0.5 / 64)
    assert meteor("dog", ["hound"]) == 0.0
    assert meteor("dog", ["hound"], synonyms=SYNONYMS) == 0.5
    assert meteor("dogs", ["hounds"], synonyms=SYNONYMS) == 0.5
    assert meteor("happy", ["gladly"], synonyms={"happy": ["gladly"]}) == 0.5
    assert meteor("a", ["a", "b"]) == 0.25
