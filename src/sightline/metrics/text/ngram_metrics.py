"""N-gram metrics: BLEU (clipped precision with a brevity penalty), chrF (characters), CIDEr-D (TF-IDF consensus)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from sightline.errors import UserError
from sightline.metrics.context import Context
from sightline.metrics.text.bag_of_words import DocumentFrequency, Ngram, ngrams
from sightline.metrics.text.document import TextDocument
from sightline.metrics.text.similarity import similarity

_BLEU_ORDERS = range(1, 5)
_CHRF_ORDERS = range(1, 7)
_BETA_SQUARED = 4
# (predicted, wanted, matched) for each order
_ChrfStatistics: TypeAlias = list[tuple[int, int, int]]
_CIDER_ORDERS = range(1, 5)
_CIDER_SIGMA = 6.0
_CIDER_SCALE = 10.0


@similarity("bleu")
def bleu(prediction: TextDocument, references: Sequence[TextDocument], context: Context) -> list[float]:
    """BP · exp(mean_n ln p_n), n = 1…4, BP = min(1, exp(1 - r/c)), against one reference at a time, in 0…1.

    Equals sacrebleu's sentence BLEU / 100: 13a tokens, case kept, orders that the prediction is too short for
    left out, and a p_n without a match smoothed to 1 / (2^k · total), k counting such orders ("exp").
    No unigram in common, or no tokens on either side: 0.
    """
    return [_bleu(prediction, reference) for reference in references]


def _clipped(prediction: TextDocument, reference: TextDocument, n: int) -> int:
    """How many of the prediction's n-grams occur in the reference, none more often than it does there."""
    own = Counter(ngrams(prediction.bleu, n))
    limit = Counter(filter(own.__contains__, ngrams(reference.bleu, n)))
    return sum(min(count, own[ngram]) for ngram, count in limit.items())


def _bleu(prediction: TextDocument, reference: TextDocument) -> float:
    length, logs, halvings = len(prediction.bleu), [], 1.0
    for n in _BLEU_ORDERS[:length]:
        correct = _clipped(prediction, reference, n)
        if n == 1 and not correct:
            return 0.0
        if not correct:
            halvings *= 2
        logs.append(math.log((correct or 1 / halvings) / (length - n + 1)))
    if not logs:
        return 0.0
    return math.exp(min(0.0, 1 - len(reference.bleu) / length) + math.fsum(logs) / len(logs))


@similarity("chrf")
def chrf(prediction: TextDocument, references: Sequence[TextDocument], context: Context) -> list[float]:
    """(1 + β²) P R / (β² P + R), β = 2, P and R means over character n-grams n = 1…6, in 0…1.

    Equals sacrebleu's chrF2 / 100: case kept, white space removed, orders longer than either text left out.
    No characters on either side, or on both: 0.
    """
    return [_chrf(_chrf_statistics(prediction, reference)) for reference in references]


def _chrf_statistics(prediction: TextDocument, reference: TextDocument) -> _ChrfStatistics:
    return [_chrf_order(prediction.characters, reference.characters, n) for n in _CHRF_ORDERS]


def _chrf_order(prediction: str, reference: str, n: int) -> tuple[int, int, int]:
    wanted = max(0, len(reference) - n + 1)
    predicted = max(0, len(prediction) - n + 1) if wanted else 0
    short, long = sorted((prediction, reference), key=len)
    # Of the longer text only what the shorter one has is counted, so a runaway text takes no memory.
    limit = Counter(_runs(short, n))
    found = Counter(filter(limit.__contains__, _runs(long, n)))
    return predicted, wanted, sum(min(count, limit[run]) for run, count in found.items())


def _runs(text: str, n: int) -> Iterator[str]:
    return (text[start : start + n] for start in range(len(text) - n + 1))


def _chrf(found: _ChrfStatistics) -> float:
    shares = [(match / predicted, match / wanted) for predicted, wanted, match in found if predicted and wanted]
    precision = sum(share for share, _ in shares) / max(len(shares), 1)
    recall = sum(share for _, share in shares) / max(len(shares), 1)
    if not precision + recall:
        return 0.0
    return (1 + _BETA_SQUARED) * precision * recall / (_BETA_SQUARED * precision + recall)


def _cider_uses(context: Context) -> str:
    return f"document frequencies over {_frequencies(context).documents} documents"


def _frequencies(context: Context) -> DocumentFrequency:
    found = context.idf
    if isinstance(found, DocumentFrequency) and found.order >= _CIDER_ORDERS[-1]:
        return found
    raise UserError(
        'metric "cider" needs document frequencies of n-grams up to four words, and none were given.',
        "give Context(idf=document_frequencies(references, order=4)), or leave the metric out",
    )


@similarity("cider", uses=_cider_uses)
def cider(prediction: TextDocument, references: Sequence[TextDocument], context: Context) -> list[float]:
    """10/4 · Σ_n e^(-(|c|-|s|)²/2σ²) · Σ min(g_n(c), g_n(s)) · g_n(s) / (‖g_n(c)‖ ‖g_n(s)‖), n = 1…4, σ = 6, in 0…10.

    g_n holds count × ln(N / max(1, df)) for each n-gram, df counted over the N tasks' references. An order
    without a vector on either side adds 0, so a text shorter than four words stays below 10; with N = 1 all is 0.
    """
    frequencies = _frequencies(context)
    own = _cider_vectors(prediction.words, frequencies)
    return [
        _cider_similarity(
            own, _cider_vectors(reference.words, frequencies), len(prediction.words) - len(reference.words)
        )
        for reference in references
    ]


def _cider_vectors(words: Sequence[str], frequencies: DocumentFrequency) -> list[dict[Ngram, float]]:
    documents = math.log(frequencies.documents)
    return [
        {
            ngram: count * (documents - math.log(max(1, frequencies.count(ngram))))
            for ngram, count in Counter(ngrams(words, n)).items()
        }
        for n in _CIDER_ORDERS
    ]


def _cider_similarity(
    prediction: Sequence[Mapping[Ngram, float]], reference: Sequence[Mapping[Ngram, float]], longer_by: int
) -> float:
    penalty = math.exp(-(longer_by**2) / (2 * _CIDER_SIGMA**2))
    cosines = math.fsum(_clipped_cosine(own, other) for own, other in zip(prediction, reference, strict=True))
    return _CIDER_SCALE * penalty * cosines / len(_CIDER_ORDERS)


def _clipped_cosine(own: Mapping[Ngram, float], other: Mapping[Ngram, float]) -> float:
    dot = math.fsum(min(own[ngram], other[ngram]) * other[ngram] for ngram in own.keys() & other.keys())
    norm = math.hypot(*own.values()) * math.hypot(*other.values())
    return dot / norm if norm else 0.0
