"""Precision, recall and their harmonic mean."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

Score: TypeAlias = Literal["f1", "precision", "recall"]
SCORES: tuple[Score, ...] = ("f1", "precision", "recall")


class Prf(NamedTuple):
    """Three views of one match."""

    precision: float
    recall: float
    f1: float

    def pick(self, score: Score) -> float:
        """The one asked for by name."""
        return float(getattr(self, score))


def prf(precision: float, recall: float) -> Prf:
    """With F1 = 2PR / (P + R); 0 where P + R is not positive."""
    both = precision + recall
    return Prf(precision, recall, 2 * precision * recall / both if both > 0 else 0.0)


def from_matches(matches: int, predicted: int, wanted: int) -> Prf:
    """From counts; all 0 where either side is empty."""
    if not predicted or not wanted:
        return Prf(0.0, 0.0, 0.0)
    return prf(matches / predicted, matches / wanted)
