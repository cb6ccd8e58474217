"""Cosine of two sentence embeddings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sightline.errors import UserError
from sightline.score.context import Context, TextEmbedder
from sightline.score.text.document import Document
from sightline.score.text.similarity import Over, bounded, compare, similarity


def embedding(prediction: str, references: Sequence[str], embedder: TextEmbedder, over: Over = "mean") -> float:
    """max(0, cosine) of the embedder's vectors. A blank text or a zero vector on either side: 0.

    Cut off at 0 because a failure counts as 0, and no answer may score below a failure.
    """
    return compare(_each, prediction, references, over, Context(embedder=embedder))


def embedder_of(context: Context, metric: str) -> TextEmbedder:
    """The context's embedder; a metric that needs one can't be computed without it."""
    if context.embedder is None:
        raise UserError(
            f'metric "{metric}" needs an embedder, and none was given.',
            "give one as Context(embedder=…), or leave the metric out",
        )
    return context.embedder


def _uses(context: Context) -> str:
    embedder = embedder_of(context, "embedding")
    return f"{embedder.name}@{embedder.revision}"


def _prefetch(documents: Sequence[Document], context: Context) -> None:
    """Give every document its unit vector with one call of the embedder; a blank text gets none."""
    embedder = embedder_of(context, "embedding")
    wanting = [item for item in documents if item.text.strip() and not _has_vector(item, embedder)]
    if not wanting:
        return
    vectors = np.asarray(embedder.texts([item.text for item in wanting]), dtype=np.float64)
    if vectors.ndim != 2 or len(vectors) != len(wanting):
        raise UserError(
            f"embedder {embedder.name} returned an array of shape {vectors.shape} for {len(wanting)} texts.",
            "an embedder returns one row for each text",
        )
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    for item, vector in zip(wanting, vectors / np.where(lengths > 0, lengths, 1.0), strict=True):
        item.embedded = embedder, vector


def _has_vector(item: Document, embedder: TextEmbedder) -> bool:
    return item.embedded is not None and item.embedded[0] is embedder


@similarity("embedding", prefetch=_prefetch, uses=_uses)
def _each(prediction: Document, references: Sequence[Document], context: Context) -> list[float]:
    _prefetch([prediction, *references], context)
    return [_cosine(prediction, reference) for reference in references]


def _cosine(a: Document, b: Document) -> float:
    if a.embedded is None or b.embedded is None:
        return 0.0
    return bounded(float(a.embedded[1] @ b.embedded[1]))
