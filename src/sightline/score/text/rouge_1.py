"""ROUGE-1: words in common."""

from __future__ import annotations

from collections.abc import Sequence

from sightline.score.context import Context
from sightline.score.text.document import Document
from sightline.score.text.prf import SCORES, Prf, Score, from_matches
from sightline.score.text.similarity import Over, compare, similarity


def rouge_1(prediction: str, references: Sequence[str], over: Over = "mean", score: Score = "f1") -> float:
    """F1 of m = Σ_w min(count in prediction, count in reference): P = m/|prediction|, R = m/|reference|.

    Equals rouge-score's rouge1 without stemming. No tokens on either side, or on both: 0.
    """
    return compare(_each, prediction, references, over, score=score)


@similarity("rouge-1", choices={"score": SCORES, "tokens": ("rouge", "words")})
def _each(
    prediction: Document,
    references: Sequence[Document],
    context: Context,
    score: Score = "f1",
    tokens: str = "rouge",
) -> list[float]:
    return [_match(prediction, reference, tokens).pick(score) for reference in references]


def _match(prediction: Document, reference: Document, tokens: str) -> Prf:
    if tokens == "words":
        a, b = prediction.counts, reference.counts
    else:
        a, b = prediction.rouge_counts, reference.rouge_counts
    common = a.keys() & b.keys()
    matches = sum(map(min, map(a.__getitem__, common), map(b.__getitem__, common)))
    return from_matches(matches, a.total(), b.total())
