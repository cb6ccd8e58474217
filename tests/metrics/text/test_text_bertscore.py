from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from metrics.text.text_embedders import HashEmbedder, SentenceOnly
from metrics.text.text_functions import bertscore
from sightline.errors import UserError
from sightline.metrics.context import Context
from sightline.metrics.text.embedding import TokenEmbedder
from sightline.metrics.text.similarity import text_metric
from sightline.types import Trace, Traces

SENTENCES = st.lists(st.sampled_from(["the", "cat", "sat", "mat", "dog", "猫"]), min_size=1, max_size=10).map(" ".join)


def brute_force(embedder: TokenEmbedder, prediction: str, reference: str) -> float:
    """Every token against every other, in plain loops."""
    (x_tokens, xs), (y_tokens, ys) = embedder.tokens(prediction), embedder.tokens(reference)

    def cosine(x: NDArray[np.float32], y: NDArray[np.float32]) -> float:
        a, b = x.astype(float), y.astype(float)
        return float(a @ b / np.sqrt((a @ a) * (b @ b)))

    def side(tokens: Sequence[str], ones: NDArray[np.float32], others: NDArray[np.float32]) -> float:
        return sum(max(cosine(one, other) for other in others) for one in ones) / len(tokens)

    p, r = side(x_tokens, xs, ys), side(y_tokens, ys, xs)
    return 2 * p * r / (p + r) if p + r > 0 else 0.0


@given(SENTENCES, SENTENCES)
@settings(deadline=None, max_examples=60)
def test_equals_brute_force(hash_embedder: HashEmbedder, prediction: str, reference: str) -> None:
    expected = max(0.0, brute_force(hash_embedder, prediction, reference))
    assert bertscore(prediction, [reference], hash_embedder) == pytest.approx(expected, abs=1e-9)


def test_blocks_change_nothing(hash_embedder: HashEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    pair = "a cat sat on the mat while a dog slept", ["the dog slept on a mat", "cat"]
    whole = bertscore(*pair, hash_embedder)
    monkeypatch.setattr("sightline.metrics.text.embedding._BLOCK", 3)
    assert bertscore(*pair, hash_embedder) == pytest.approx(whole, abs=1e-12)


def test_edges(hash_embedder: HashEmbedder) -> None:
    assert bertscore("", ["a"], hash_embedder) == bertscore("a", ["?"], hash_embedder) == 0.0
    assert bertscore("", [""], hash_embedder) == 0.0
    assert bertscore("a cat", ["a cat"], hash_embedder) == pytest.approx(1.0, abs=1e-9)
    assert bertscore("a cat", ["a cat", ""], hash_embedder, "max") == pytest.approx(1.0, abs=1e-9)


def test_what_is_missing_is_named(hash_embedder: HashEmbedder, sentence_embedder: SentenceOnly) -> None:
    truth, prediction = Traces((Trace("", "a"),)), Trace("", "a")
    with pytest.raises(UserError, match="needs an embedder, and none"):
        text_metric("bertscore")(truth, prediction, Context())
    with pytest.raises(UserError, match="sentences embeds whole texts only"):
        text_metric("bertscore")(truth, prediction, Context(embedder=sentence_embedder))
    assert "by hash@1" in text_metric("bertscore").label(Context(embedder=hash_embedder))
