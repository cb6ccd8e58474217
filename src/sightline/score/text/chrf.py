"""chrF: F-score of character n-grams, recall counting twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from sightline.errors import UserError
from sightline.score.context import Context
from sightline.score.text.document import Document
from sightline.score.text.similarity import Over, checked, compare, similarity

_ORDERS = range(1, 7)
_BETA_SQUARED = 4

# (predicted, wanted, matched) for each order
_Statistics: TypeAlias = list[tuple[int, int, int]]


def chrf(prediction: str, references: Sequence[str], over: Over = "mean") -> float:
    """(1 + β²) P R / (β² P + R), β = 2, P and R means over character n-grams n = 1…6, in 0…1.

    Equals sacrebleu's chrF2 / 100: case kept, white space removed, orders longer than either text left out.
    No characters on either side, or on both: 0.
    """
    return compare(_each, prediction, references, over)


def corpus_chrf(predictions: Iterable[str], references: Iterable[Sequence[str]]) -> float:
    """chrF of a whole corpus in 0…1, the best reference of each item: sacrebleu's corpus chrF2 / 100."""
    sums: _Statistics | None = None
    for prediction, texts in zip(predictions, references, strict=True):
        own = Document(prediction)
        found = max((_statistics(own, Document(text)) for text in checked(texts)), key=_score)
        sums = found if sums is None else _add(sums, found)
    if sums is None:
        raise UserError("there is no prediction to score.", "give at least one prediction")
    return _score(sums)


@similarity("chrf")
def _each(prediction: Document, references: Sequence[Document], context: Context) -> list[float]:
    return [_score(_statistics(prediction, reference)) for reference in references]


def _statistics(prediction: Document, reference: Document) -> _Statistics:
    return [_order(prediction.characters, reference.characters, n) for n in _ORDERS]


def _order(prediction: str, reference: str, n: int) -> tuple[int, int, int]:
    wanted = max(0, len(reference) - n + 1)
    predicted = max(0, len(prediction) - n + 1) if wanted else 0
    short, long = sorted((prediction, reference), key=len)
    # Of the longer text only what the shorter one has is counted, so a runaway text takes no memory.
    limit = Counter(_runs(short, n))
    found = Counter(filter(limit.__contains__, _runs(long, n)))
    return predicted, wanted, sum(min(count, limit[run]) for run, count in found.items())


def _runs(text: str, n: int) -> Iterator[str]:
    return (text[start : start + n] for start in range(len(text) - n + 1))


def _add(a: _Statistics, b: _Statistics) -> _Statistics:
    return [(x[0] + y[0], x[1] + y[1], x[2] + y[2]) for x, y in zip(a, b, strict=True)]


def _score(found: _Statistics) -> float:
    shares = [(match / predicted, match / wanted) for predicted, wanted, match in found if predicted and wanted]
    precision = sum(share for share, _ in shares) / max(len(shares), 1)
    recall = sum(share for _, share in shares) / max(len(shares), 1)
    if not precision + recall:
        return 0.0
    return (1 + _BETA_SQUARED) * precision * recall / (_BETA_SQUARED * precision + recall)
