"""BLEU: clipped n-gram precision with a brevity penalty."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sightline.errors import UserError
from sightline.score.context import Context
from sightline.score.text.document import Document
from sightline.score.text.idf import Ngram, ngrams
from sightline.score.text.similarity import Over, checked, compare, similarity

_ORDERS = range(1, 5)


class _Statistics(NamedTuple):
    predicted: int
    wanted: int
    correct: tuple[int, ...]
    total: tuple[int, ...]


def bleu(prediction: str, references: Sequence[str], over: Over = "mean") -> float:
    """BP · exp(mean_n ln p_n), n = 1…4, BP = min(1, exp(1 - r/c)), against one reference at a time, in 0…1.

    Equals sacrebleu's sentence BLEU / 100: 13a tokens, case kept, orders that the prediction is too short for
    left out, and a p_n without a match smoothed to 1 / (2^k · total), k counting such orders ("exp").
    No unigram in common, or no tokens on either side: 0.
    """
    return compare(_each, prediction, references, over)


def corpus_bleu(
    predictions: Iterable[str], references: Iterable[Sequence[str]], effective_order: bool = False
) -> float:
    """BLEU of a whole corpus in 0…1, all references of an item together: sacrebleu's corpus BLEU / 100.

    With `effective_order` and one prediction: sacrebleu's sentence BLEU against several references.
    """
    sums: _Statistics | None = None
    for prediction, texts in zip(predictions, references, strict=True):
        found = _statistics(Document(prediction), [Document(text) for text in checked(texts)])
        sums = found if sums is None else _add(sums, found)
    if sums is None:
        raise UserError("there is no prediction to score.", "give at least one prediction")
    return _score(sums, effective_order)


@similarity("bleu")
def _each(prediction: Document, references: Sequence[Document], context: Context) -> list[float]:
    return [_score(_statistics(prediction, [reference]), effective_order=True) for reference in references]


def _statistics(prediction: Document, references: Sequence[Document]) -> _Statistics:
    length = len(prediction.bleu)
    lengths = (len(reference.bleu) for reference in references)
    return _Statistics(
        length,
        min(lengths, key=lambda other: (abs(length - other), other)),
        tuple(_clipped(prediction, references, n) for n in _ORDERS),
        tuple(max(0, length - n + 1) for n in _ORDERS),
    )


def _clipped(prediction: Document, references: Sequence[Document], n: int) -> int:
    """How many of the prediction's n-grams occur in a reference, none more often than it does there."""
    own = Counter(ngrams(prediction.bleu, n))
    limit: Counter[Ngram] = Counter()
    for reference in references:
        limit |= Counter(filter(own.__contains__, ngrams(reference.bleu, n)))
    return sum(min(count, own[ngram]) for ngram, count in limit.items())


def _add(a: _Statistics, b: _Statistics) -> _Statistics:
    return _Statistics(
        a.predicted + b.predicted,
        a.wanted + b.wanted,
        tuple(map(sum, zip(a.correct, b.correct, strict=True))),
        tuple(map(sum, zip(a.total, b.total, strict=True))),
    )


def _score(found: _Statistics, effective_order: bool) -> float:
    if not any(found.correct) or (not effective_order and not all(found.total)):
        return 0.0
    logs = []
    halvings = 1.0
    for correct, total in zip(found.correct, found.total, strict=True):
        if not total:
            break
        if not correct:
            halvings *= 2
        logs.append(math.log((correct or 1 / halvings) / total))
    brevity = min(0.0, 1 - found.wanted / found.predicted)
    return math.exp(brevity + math.fsum(logs) / len(logs))
