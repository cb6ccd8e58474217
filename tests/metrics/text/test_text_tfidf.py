from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

from metrics.text.text_functions import tfidf
from sightline.errors import UserError
from sightline.metrics.text.bag_of_words import document_frequencies
from sightline.metrics.text.tokens import word_tokens

WORDS = ["the", "cat", "cat", "sat", "mat", "dog", "猫", "42", "a", "on"]
SENTENCES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join)
MAYBE_EMPTY = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)


def vectorizer(vocabulary: list[str] | None = None) -> TfidfVectorizer:
    return TfidfVectorizer(
        vocabulary=vocabulary, tokenizer=word_tokens, token_pattern=None, lowercase=False, smooth_idf=True, norm="l2"
    )


@given(SENTENCES, st.lists(MAYBE_EMPTY, min_size=1, max_size=4))
@settings(deadline=None, max_examples=150)
def test_over_its_own_collection_equals_scikit_learn(prediction: str, references: list[str]) -> None:
    rows = vectorizer().fit_transform([prediction, *references])
    cosines = (rows[1:] @ rows[0].T).toarray().ravel()
    assert tfidf(prediction, references) == pytest.approx(cosines.mean(), abs=1e-12)
    assert tfidf(prediction, references, "max") == pytest.approx(cosines.max(), abs=1e-12)


@given(st.lists(SENTENCES, min_size=1, max_size=6), MAYBE_EMPTY, st.lists(MAYBE_EMPTY, min_size=1, max_size=3))
@settings(deadline=None, max_examples=150)
def test_over_a_corpus_equals_scikit_learn(corpus: list[str], prediction: str, references: list[str]) -> None:
    fitted = vectorizer(sorted(set(WORDS))).fit(corpus)
    cosines = (fitted.transform(references) @ fitted.transform([prediction]).T).toarray().ravel()
    idf = document_frequencies([[text] for text in corpus])
    assert tfidf(prediction, references, idf=idf) == pytest.approx(cosines.mean(), abs=1e-12)


def test_several_references_of_a_task_are_one_document() -> None:
    found = document_frequencies([["a b", "a c"], ["a"]], order=2)
    assert found.documents == 2
    assert [found.count((word,)) for word in "abcz"] == [2, 1, 1, 0]
    assert set(found) == {"a", "b", "c"}


def test_edges() -> None:
    assert tfidf("", [""]) == tfidf("", ["a"]) == tfidf("a", [""]) == tfidf("a", ["", ""]) == 0.0
    assert tfidf("a b b", ["b a b"]) == pytest.approx(1.0)
    assert tfidf("a", ["a"], idf={"a": 0.0}) == 0.0
    assert tfidf("a", ["a"], idf={}) == 1.0


def test_words_that_the_corpus_lacks_lower_the_score() -> None:
    idf = document_frequencies([["a cat"], ["a dog"]])
    assert tfidf("a cat zzz zzz zzz", ["a cat"], idf=idf) < 0.5 < tfidf("a cat dog", ["a cat"], idf=idf)
    assert tfidf("a cat zzz", ["a cat"], idf={"a": 1.0, "cat": 2.0}) == pytest.approx((5 / 9) ** 0.5)


def test_no_corpus_is_refused() -> None:
    with pytest.raises(UserError, match="no document"):
        document_frequencies([])
