from __future__ import annotations

import math
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics.text.text_functions import cider
from sightline.errors import UserError
from sightline.metrics.context import Context
from sightline.metrics.text.bag_of_words import document_frequencies
from sightline.metrics.text.similarity import text_metric
from sightline.types import Trace, Traces

SENTENCES = st.lists(st.sampled_from(["a", "cat", "sat", "on", "the", "mat", "dog"]), max_size=9).map(" ".join)
CORPORA = st.lists(st.lists(SENTENCES, min_size=1, max_size=3), min_size=1, max_size=4)


def published(candidate: str, references: list[str], corpus: list[list[str]]) -> list[float]:
    """CIDEr-D written out from the paper's formula with dense vectors over all n-grams that occur."""

    def grams(text: str, n: int) -> list[str]:
        words = text.split()
        return ["_".join(words[i : i + n]) for i in range(len(words)) if i + n <= len(words)]

    scores = []
    for reference in references:
        total = 0.0
        for n in (1, 2, 3, 4):
            space = sorted({*grams(candidate, n), *grams(reference, n)})
            weight = []
            for gram in space:
                containing = sum(any(gram in grams(text, n) for text in item) for item in corpus)
                weight.append(math.log(len(corpus) / max(1.0, containing)))
            c = [grams(candidate, n).count(gram) * w for gram, w in zip(space, weight, strict=True)]
            s = [grams(reference, n).count(gram) * w for gram, w in zip(space, weight, strict=True)]
            length = math.sqrt(sum(x * x for x in c)) * math.sqrt(sum(x * x for x in s))
            if length > 0:
                clipped = sum(min(x, y) * y for x, y in zip(c, s, strict=True))
                gap = len(candidate.split()) - len(reference.split())
                total += 10 * math.exp(-(gap**2) / (2 * 6.0**2)) * clipped / length
        scores.append(total / 4)
    return scores


@given(SENTENCES, CORPORA, st.data())
@settings(deadline=None, max_examples=150)
def test_equals_the_published_formula(candidate: str, corpus: list[list[str]], data: st.DataObject) -> None:
    references = data.draw(st.sampled_from(corpus))
    expected = published(candidate, references, corpus)
    frequencies = document_frequencies(corpus, order=4)
    assert cider(candidate, references, frequencies) == pytest.approx(sum(expected) / len(expected), abs=1e-9)
    assert cider(candidate, references, frequencies, "max") == pytest.approx(max(expected), abs=1e-9)


def test_an_identical_text_of_four_rare_words_scores_ten() -> None:
    frequencies = document_frequencies([["a cat sat down"], ["the dog"]], order=4)
    assert cider("a cat sat down", ["a cat sat down"], frequencies) == pytest.approx(10.0)
    assert cider("the dog", ["the dog"], frequencies) == pytest.approx(5.0)


def test_edges() -> None:
    frequencies = document_frequencies([["a cat"], ["the dog"]], order=4)
    assert cider("", [""], frequencies) == cider("", ["a cat"], frequencies) == cider("a", [""], frequencies) == 0.0
    alone = document_frequencies([["a cat"]], order=4)
    assert cider("a cat", ["a cat"], alone) == 0.0


@pytest.mark.parametrize("idf", [None, {"a": 1.0}, document_frequencies([["a"]], order=3)])
def test_without_frequencies_the_fix_is_named(idf: Mapping[str, float] | None) -> None:
    with pytest.raises(UserError, match="order=4"):
        text_metric("cider")(Traces((Trace("", "a"),)), Trace("", "a"), Context(idf=idf))


def test_the_label_says_over_how_many_documents() -> None:
    context = Context(idf=document_frequencies([["a"], ["b"]], order=4))
    assert text_metric("cider").label(context).endswith("over 2 documents")
