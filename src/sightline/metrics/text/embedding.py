"""Metrics by embeddings: cosine of two sentence vectors; BERTScore, which matches each token with the nearest one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sightline.errors import UserError
from sightline.metrics.context import Context, TextEmbedder, Vectors
from sightline.metrics.text.bag_of_words import unseen_weight
from sightline.metrics.text.document import TextDocument
from sightline.metrics.text.similarity import SCORES, Over, Prf, Score, bounded, checked, compare, prf, similarity
from sightline.metrics.text_metric import combine

# Tokens of either text that are compared at once, so that memory does not grow with the product of the lengths.
_BLOCK = 1024


def embedding(prediction: str, references: Sequence[str], embedder: TextEmbedder, over: Over = "mean") -> float:
    """max(0, cosine) of the embedder's vectors. A blank text or a zero vector on either side: 0.

    Cut off at 0 because a failure counts as 0, and no answer may score below a failure.
    """
    return compare(_embedding_scores, prediction, references, over, Context(embedder=embedder))


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
def _embedding_scores(prediction: TextDocument, references: Sequence[TextDocument], context: Context) -> list[float]:
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


def bertscore(
    prediction: str,
    references: Sequence[str],
    embedder: TokenEmbedder,
    over: Over = "mean",
    idf: Mapping[str, float] | None = None,
    score: Score = "f1",
) -> float:
    """P = Σ_x w(x) · max_y cos(x, y) / Σ_x w(x) over predicted tokens x, R the same over y; F1, not below 0.

    w is 1, or the token's idf; a token that the corpus lacks weighs as one of no document. No rescaling to a baseline.
    No tokens on either side, or on both: 0.
    """
    others = [embedder.tokens(text) for text in checked(references)]
    own = embedder.tokens(prediction)
    return combine([bounded(_match(own, other, idf).pick(score)) for other in others], over)


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


@similarity("bertscore", choices={"score": SCORES, "weights": ("equal", "idf")}, uses=_bertscore_uses)
def _bertscore_scores(
    prediction: TextDocument,
    references: Sequence[TextDocument],
    context: Context,
    score: Score = "f1",
    weights: str = "equal",
) -> list[float]:
    embedder = _token_embedder(context)
    if weights == "idf" and context.idf is None:
        raise UserError(
            'metric "bertscore(weights=idf)" needs the words\' idf, and none was given.',
            "give Context(idf=document_frequencies(references)), or leave weights=idf out",
        )
    own = embedder.tokens(prediction.text)
    idf = context.idf if weights == "idf" else None
    return [bounded(_match(own, embedder.tokens(reference.text), idf).pick(score)) for reference in references]


def _match(
    prediction: tuple[Sequence[str], Vectors],
    reference: tuple[Sequence[str], Vectors],
    idf: Mapping[str, float] | None,
) -> Prf:
    if not prediction[0] or not reference[0]:
        return Prf(0.0, 0.0, 0.0)
    rows, columns = _nearest(prediction[1], reference[1])
    return prf(_average(rows, prediction[0], idf), _average(columns, reference[0], idf))


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


def _average(values: NDArray[np.float64], tokens: Sequence[str], idf: Mapping[str, float] | None) -> float:
    if idf is None:
        return float(values.mean())
    unseen = unseen_weight(idf)
    weights = np.array([idf.get(token, unseen) for token in tokens])
    total = float(weights.sum())
    return float(values @ weights) / total if total > 0 else 0.0
