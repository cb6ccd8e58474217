"""ROUGE-L: the longest common subsequence of words."""

from __future__ import annotations

from collections.abc import Sequence

from sightline.score.context import Context
from sightline.score.text.document import Document
from sightline.score.text.lcs import lcs_length
from sightline.score.text.prf import SCORES, Prf, Score, from_matches
from sightline.score.text.similarity import Over, compare, similarity


def rouge_l(prediction: str, references: Sequence[str], over: Over = "mean", score: Score = "f1") -> float:
    """F1 of m = length of the longest common subsequence: P = m/|prediction|, R = m/|reference|.

    Equals rouge-score's rougeL without stemming. No tokens on either side, or on both: 0.
    """
    return compare(_each, prediction, references, over, score=score)


@similarity("rouge-l", choices={"score": SCORES, "tokens": ("rouge", "words")})
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
        a, b = prediction.words, reference.words
    else:
        a, b = prediction.rouge, reference.rouge
    return from_matches(lcs_length(a, b), len(a), len(b))
