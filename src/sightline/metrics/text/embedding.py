"""Metrics by embeddings: cosine of two sentence vectors; BERTScore, which matches each token with the nearest one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sightline.errors import UserError
from sightline.metrics.context import Context, TextEmbedder, Vectors
from sightline.metrics.text.document import TextDocument
from sightline.metrics.text.similarity import bounded, f1, similarity

# Tokens of either text that are compared at once, so that memory does not grow with the product of the lengths.
_BLOCK = 1024


def embedder_of(context: Context, metric: str) -> TextEmbedder:
    """The context's embedder; a metric that needs one can't be computed without it."""
    if context.embedder is None:
        raise UserError(
            f'metric "{metric}" needs an embedder, and none was given.',
            "give one as Context(embedder=…), or leave the metric out",
        )
    return context.embedder


def _embedding_uses(context: Context) -> str:
    embedder = embedder_of(context, "embedding")
    return f"{embedder.name}@{embedder.revision}"


def _prefetch_vectors(documents: Sequence[TextDocument], context: Context) -> None:
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


def _has_vector(item: TextDocument, embedder: TextEmbedder) -> bool:
    return item.embedded is not None and item.embedded[0] is embedder


@similarity("embedding", prefetch=_prefetch_vectors, uses=_embedding_uses)
def embedding(prediction: TextDocument, references: Sequence[TextDocument], context: Context) -> list[float]:
    """max(0, cosine) of the embedder's vectors. A blank text or a zero vector on either side: 0.

    Cut off at 0 because a failure counts as 0, and no answer may score below a failure.
    """
    _prefetch_vectors([prediction, *references], context)
    return [_cosine(prediction, reference) for reference in references]


def _cosine(a: TextDocument, b: TextDocument) -> float:
    if a.embedded is None or b.embedded is None:
        return 0.0
    return bounded(float(a.embedded[1] @ b.embedded[1]))


@runtime_checkable
class TokenEmbedder(Protocol):
    """Cuts a text into its own tokens and gives one vector for each, in their context."""

    name: str
    revision: str

    def tokens(self, text: str) -> tuple[Sequence[str], Vectors]: ...


def _token_embedder(context: Context) -> TokenEmbedder:
    embedder = embedder_of(context, "bertscore")
    if isinstance(embedder, TokenEmbedder):
        return embedder
    raise UserError(
        f'metric "bertscore" needs an embedder of tokens, and {embedder.name} embeds whole texts only.',
        "give an embedder that has tokens(text) → (tokens, vectors), or leave the metric out",
    )


def _bertscore_uses(context: Context) -> str:
    embedder = _token_embedder(context)
    return f"{embedder.name}@{embedder.revision}"


@similarity("bertscore", uses=_bertscore_uses)
def bertscore(prediction: TextDocument, references: Sequence[TextDocument], context: Context) -> list[float]:
    """F1 of P, the mean over predicted tokens x of max_y cos(x, y), and R, the same over y; not below 0.

    No weights, no rescaling to a baseline. No tokens on either side, or on both: 0.
    """
    embedder = _token_embedder(context)
    own = embedder.tokens(prediction.text)
    return [bounded(_match(own, embedder.tokens(reference.text))) for reference in references]


def _match(prediction: tuple[Sequence[str], Vectors], reference: tuple[Sequence[str], Vectors]) -> float:
    if not prediction[0] or not reference[0]:
        return 0.0
    rows, columns = _nearest(prediction[1], reference[1])
    return f1(float(rows.mean()), float(columns.mean()))


def _nearest(a: Vectors, b: Vectors) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """For each row of `a`, and for each row of `b`, the highest cosine with a row of the other."""
    rows, columns = np.full(len(a), -1.0), np.full(len(b), -1.0)
    for i in range(0, len(a), _BLOCK):
        left = _unit(a[i : i + _BLOCK])
        for j in range(0, len(b), _BLOCK):
            cosines = left @ _unit(b[j : j + _BLOCK]).T
            np.maximum(rows[i : i + _BLOCK], cosines.max(axis=1), out=rows[i : i + _BLOCK])
            np.maximum(columns[j : j + _BLOCK], cosines.max(axis=0), out=columns[j : j + _BLOCK])
    return rows, columns


def _unit(vectors: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    wide = np.asarray(vectors, dtype=np.float64)
    lengths: NDArray[np.float64] = np.linalg.norm(wide, axis=1, keepdims=True)
    return wide / np.where(lengths > 0, lengths, 1.0)
