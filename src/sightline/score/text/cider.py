"""CIDEr-D: consensus of TF-IDF-weighted n-grams with the references."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from sightline.errors import UserError
from sightline.score.context import Context
from sightline.score.text.document import Document
from sightline.score.text.idf import DocumentFrequency, Ngram, ngrams
from sightline.score.text.similarity import Over, compare, similarity

_ORDERS = range(1, 5)
_SIGMA = 6.0
_SCALE = 10.0


def cider(prediction: str, references: Sequence[str], frequencies: DocumentFrequency, over: Over = "mean") -> float:
    """10/4 · Σ_n e^(-(|c|-|s|)²/2σ²) · Σ min(g_n(c), g_n(s)) · g_n(s) / (‖g_n(c)‖ ‖g_n(s)‖), n = 1…4, σ = 6, in 0…10.

    g_n holds count × ln(N / max(1, df)) for each n-gram, df counted over the N tasks' references. An order
    without a vector on either side adds 0, so a text shorter than four words stays below 10; with N = 1 all is 0.
    """
    return compare(_each, prediction, references, over, Context(idf=frequencies))


def _uses(context: Context) -> str:
    return f"document frequencies over {_frequencies(context).documents} documents"


def _frequencies(context: Context) -> DocumentFrequency:
    found = context.idf
    if isinstance(found, DocumentFrequency) and found.order >= _ORDERS[-1]:
        return found
    raise UserError(
        'metric "cider" needs document frequencies of n-grams up to four words, and none were given.',
        "give Context(idf=document_frequencies(references, order=4)), or leave the metric out",
    )


@similarity("cider", uses=_uses)
def _each(prediction: Document, references: Sequence[Document], context: Context) -> list[float]:
    frequencies = _frequencies(context)
    own = _vectors(prediction.words, frequencies)
    return [
        _similarity(own, _vectors(reference.words, frequencies), len(prediction.words) - len(reference.words))
        for reference in references
    ]


def _vectors(words: Sequence[str], frequencies: DocumentFrequency) -> list[dict[Ngram, float]]:
    documents = math.log(frequencies.documents)
    return [
        {
            ngram: count * (documents - math.log(max(1, frequencies.count(ngram))))
            for ngram, count in Counter(ngrams(words, n)).items()
        }
        for n in _ORDERS
    ]


def _similarity(
    prediction: Sequence[Mapping[Ngram, float]], reference: Sequence[Mapping[Ngram, float]], longer_by: int
) -> float:
    penalty = math.exp(-(longer_by**2) / (2 * _SIGMA**2))
    cosines = math.fsum(_clipped_cosine(own, other) for own, other in zip(prediction, reference, strict=True))
    return _SCALE * penalty * cosines / len(_ORDERS)


def _clipped_cosine(own: Mapping[Ngram, float], other: Mapping[Ngram, float]) -> float:
    dot = math.fsum(min(own[ngram], other[ngram]) * other[ngram] for ngram in own.keys() & other.keys())
    norm = math.hypot(*own.values()) * math.hypot(*other.values())
    return dot / norm if norm else 0.0
