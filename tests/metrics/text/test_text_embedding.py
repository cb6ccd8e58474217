from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from metrics.text.text_embedders import HashEmbedder
from metrics.text.text_functions import embedding
from sightline.errors import UserError
from sightline.metrics.context import Context
from sightline.metrics.text.pairs import score_pairs
from sightline.metrics.text.similarity import text_metric
from sightline.types import Trace, Traces

TEXTS = ["a cat on a mat", "the dog barks", "cat", "猫 on a mat"]


def test_is_the_cosine(hash_embedder: HashEmbedder) -> None:
    vectors = hash_embedder.texts(TEXTS).astype(float)
    cosines = [
        max(0.0, float(vectors[0] @ vectors[i] / np.linalg.norm(vectors[0]) / np.linalg.norm(vectors[i])))
        for i in (1, 2, 3)
    ]
    assert embedding(TEXTS[0], TEXTS[1:], hash_embedder) == pytest.approx(np.mean(cosines), abs=1e-9)
    assert embedding(TEXTS[0], TEXTS[1:], hash_embedder, "max") == pytest.approx(max(cosines), abs=1e-9)
    assert embedding(TEXTS[0], [TEXTS[0]], hash_embedder) == pytest.approx(1.0, abs=1e-9)


class Fixed:
    """Gives the vectors that it was made with."""

    name, revision = "fixed", "0"

    def __init__(self, **vectors: list[float]) -> None:
        self.vectors = vectors

    def texts(self, batch: Sequence[str]) -> NDArray[np.float32]:
        return np.array([self.vectors[text] for text in batch], dtype=np.float32)


def test_opposite_and_zero_vectors_score_zero() -> None:
    embedder = Fixed(up=[0, 2], down=[0, -1], nothing=[0, 0], right=[3, 0])
    assert embedding("up", ["up"], embedder) == 1.0
    assert embedding("up", ["down"], embedder) == 0.0
    assert embedding("up", ["nothing"], embedder) == 0.0
    assert embedding("up", ["right"], embedder) == 0.0


def test_blank_texts_are_not_sent() -> None:
    embedder = Fixed(up=[0, 1])
    assert embedding(" ", ["up"], embedder) == embedding("up", [""], embedder) == embedding("", [""], embedder) == 0.0


def test_another_embedder_gets_its_own_vectors() -> None:
    """The same two texts, twice through the registered metric: nothing of the first embedder may stay."""
    near, far = Fixed(up=[0, 1], down=[0, 1]), Fixed(up=[0, 1], down=[1, 0])
    truth, prediction = Traces((Trace("", "up"),)), Trace("", "down")
    metric = text_metric("embedding")
    assert metric(truth, prediction, Context(embedder=near)) == 1.0
    assert metric(truth, prediction, Context(embedder=far)) == 0.0


def test_without_an_embedder_the_fix_is_named() -> None:
    metric = text_metric("embedding")
    with pytest.raises(UserError, match=r"Context\(embedder="):
        metric(Traces((Trace("", "a"),)), Trace("", "a"), Context())
    with pytest.raises(UserError, match="needs an embedder"):
        text_metric("embedding").label(Context())


def test_a_wrong_shape_is_refused() -> None:
    class Short:
        name, revision = "short", "0"

        def texts(self, batch: Sequence[str]) -> NDArray[np.float32]:
            return np.ones((1, 2), dtype=np.float32)

    with pytest.raises(UserError, match="short returned"):
        embedding("a", ["b"], Short())


def test_the_label_says_which_embedder(hash_embedder: HashEmbedder) -> None:
    assert text_metric("embedding").label(Context(embedder=hash_embedder)).endswith("by hash@1")


def test_pairs_go_to_the_embedder_in_batches(hash_embedder: HashEmbedder) -> None:
    before = hash_embedder.calls
    predictions = [f"text {i}" for i in range(100)]
    references = [[f"text {i + 1}", "cat"] for i in range(100)]
    scores = score_pairs(["embedding"], predictions, references, Context(embedder=hash_embedder))["embedding"]
    assert hash_embedder.calls - before == 2
    assert scores[3] == pytest.approx(embedding("text 3", ["text 4", "cat"], hash_embedder), abs=1e-9)
