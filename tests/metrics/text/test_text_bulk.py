from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from metrics.text.text_embedders import HashEmbedder, SentenceOnly
from metrics.text.text_functions import bleu, chrf, cider, embedding, jaccard, meteor, overlap, rouge_1, rouge_l, tfidf
from sightline.errors import UserError
from sightline.metrics.context import Context
from sightline.metrics.text.bag_of_words import document_frequencies
from sightline.metrics.text.pairs import score_pairs

PREDICTIONS = ["a red car", "", "两只狗 run", "the dogs ran over the hill"]
REFERENCES = [["a red bus", "a car"], ["a"], ["两只猫", "dogs run"], ["dogs run over a hill", "", "hill"]]


def test_equals_the_plain_functions(hash_embedder: HashEmbedder) -> None:
    idf = document_frequencies(REFERENCES, order=4)
    context = Context(embedder=hash_embedder, idf=idf)
    plain: dict[str, Callable[[str, list[str]], float]] = {
        "rouge-1": rouge_1,
        "rouge-l": rouge_l,
        "jaccard": jaccard,
        "overlap": overlap,
        "bleu": bleu,
        "chrf": chrf,
        "meteor": meteor,
        "tfidf": lambda p, r: tfidf(p, r, idf=idf),
        "embedding": lambda p, r: embedding(p, r, hash_embedder),
        "cider": lambda p, r: cider(p, r, idf),
    }
    found = score_pairs(list(plain), PREDICTIONS, REFERENCES, context)
    assert list(found) == list(plain)
    for name, score in plain.items():
        expected = [score(p, r) for p, r in zip(PREDICTIONS, REFERENCES, strict=True)]
        assert found[name].dtype == np.float64
        assert found[name] == pytest.approx(expected, abs=1e-12)


def test_options_count_and_names_are_kept() -> None:
    found = score_pairs(["jaccard(over=max,part=thinking)"], PREDICTIONS, REFERENCES)
    assert found["jaccard(over=max,part=thinking)"][0] == jaccard(PREDICTIONS[0], REFERENCES[0], "max")


def test_a_text_is_taken_apart_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from sightline.metrics.text import tokens
    from sightline.metrics.text.document import TextDocument

    seen: list[str] = []

    def counted(text: str) -> list[str]:
        seen.append(text)
        return tokens.word_tokens(text)

    monkeypatch.setitem(TextDocument.__init__.__globals__, "word_tokens", counted)
    score_pairs(["rouge-1", "rouge-l", "jaccard", "overlap", "tfidf", "meteor"], ["one text"], [["another text"]])
    assert sorted(seen) == ["another text", "one text"]


def test_nothing_gives_nothing() -> None:
    assert score_pairs(["jaccard"], [], [])["jaccard"].shape == (0,)
    assert score_pairs([], PREDICTIONS, REFERENCES) == {}


@pytest.mark.parametrize(
    ("predictions", "references", "says"),
    [
        (["a", "b"], [["a"]], "prediction 2 has no references"),
        (["a"], [["a"], ["b"]], "more than the 1 predictions"),
        (["a"], [[]], "no reference to compare"),
    ],
)
def test_lengths_must_agree(predictions: list[str], references: list[list[str]], says: str) -> None:
    with pytest.raises(UserError, match=says):
        score_pairs(["jaccard"], predictions, references)


def test_memory_does_not_grow_with_the_number_of_pairs(sentence_embedder: SentenceOnly) -> None:
    names = ["rouge-l", "jaccard", "overlap", "tfidf", "embedding"]

    def peak(pairs: int) -> int:
        def texts() -> Iterator[str]:
            return (f"text {i} " + "word " * 60 for i in range(pairs))

        tracemalloc.start()
        score_pairs(names, texts(), ([text] for text in texts()), Context(embedder=sentence_embedder))
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    few, many = 130, 1000
    peak(few)
    # Only the scores themselves may take more: 8 bytes each, twice while they are copied.
    assert peak(many) - peak(few) < (many - few) * len(names) * 16 + 4096
