"""Cosine of the two texts' TF-IDF vectors."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from operator import mul

import numpy as np

from sightline.score.context import Context
from sightline.score.text.document import Document, profiles_of
from sightline.score.text.idf import DocumentFrequency, smooth_idf, unseen_weight
from sightline.score.text.profile import Profile
from sightline.score.text.similarity import Over, bounded, compare, similarity


def tfidf(
    prediction: str,
    references: Sequence[str],
    over: Over = "mean",
    idf: Mapping[str, float] | None = None,
) -> float:
    """Cosine of count × idf; idf over the given corpus, else over the prediction and its references.

    Equals scikit-learn's TfidfVectorizer (smooth_idf, l2) with our words and with a vocabulary that covers the two
    texts: a word that the given corpus lacks weighs as one of no document, so invented words lower the score.
    No words on either side, or on both: 0.
    """
    return compare(_each, prediction, references, over, Context(idf=idf))


def _uses(context: Context) -> str:
    if context.idf is None:
        return "idf over the prediction and its references"
    if isinstance(context.idf, DocumentFrequency):
        return f"idf over {context.idf.documents} documents"
    return "a given table of idf"


def _prefetch(documents: Sequence[Document], context: Context) -> None:
    if context.idf is None:
        profiles_of(documents)


@similarity("tfidf", prefetch=_prefetch, uses=_uses)
def _each(prediction: Document, references: Sequence[Document], context: Context) -> list[float]:
    if context.idf is None:
        return _own_cosines(profiles_of([prediction, *references]))
    own = _weights(prediction.counts, context.idf)
    return [_cosine(own, _weights(reference.counts, context.idf)) for reference in references]


def _own_cosines(documents: Sequence[Profile]) -> list[float]:
    """Of the first document with each other one, idf counted over these documents."""
    found = [np.ones(len(item.keys), dtype=np.int64) for item in documents]
    shared = {}
    for i, j in combinations(range(len(documents)), 2):
        in_i, in_j = shared[i, j] = documents[i].shared_with(documents[j])
        found[i][in_i] += 1
        found[j][in_j] += 1
    idf = np.array([smooth_idf(len(documents), count) for count in range(len(documents) + 1)])
    vectors = [item.counts * idf[count] for item, count in zip(documents, found, strict=True)]
    lengths = [math.sqrt(vector @ vector) or 1.0 for vector in vectors]
    return [
        bounded(float(vectors[0][shared[0, j][0]] @ vectors[j][shared[0, j][1]]) / (lengths[0] * lengths[j]))
        for j in range(1, len(documents))
    ]


def _weights(counts: Counter[str], idf: Mapping[str, float]) -> dict[str, float]:
    unseen = unseen_weight(idf)
    return {word: count * idf.get(word, unseen) for word, count in counts.items()}


def _cosine(a: Mapping[str, float], b: Mapping[str, float]) -> float:
    common = a.keys() & b.keys()
    dot = math.fsum(map(mul, map(a.__getitem__, common), map(b.__getitem__, common)))
    norm = math.sqrt(_squares(a) * _squares(b))
    return bounded(dot / norm) if norm else 0.0


def _squares(weights: Mapping[str, float]) -> float:
    return math.fsum(map(mul, weights.values(), weights.values()))
