"""A weak, cheap judge: does a picture fit a query? Marked as weak wherever its verdicts go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sightline.models.photos.annotate import BY
from sightline.models.photos.calibration import calibration
from sightline.models.photos.embedder import Photos
from sightline.models.protocols import Pixels, Vectors

_SURE = 0.75


@dataclass(frozen=True, slots=True)
class WeakJudgment:
    """The chance that the picture fits the query in a pool where half do, and what follows from it, if anything."""

    chance: float
    verdict: Literal["relevant", "not relevant", "unknown"]
    by: str = BY
    weak: Literal[True] = True


def judge(embedder: Photos, query: str, pictures: Sequence[Pixels]) -> list[WeakJudgment]:
    """One judgment for each picture. English queries; colours, counts and who does what to whom are beyond it."""
    return judge_vectors(embedder.texts([query]), embedder.pictures(pictures))


def judge_vectors(query: Vectors, pictures: Vectors) -> list[WeakJudgment]:
    """The same from vectors that are there already: one row for the query, one for each picture."""
    chances = calibration().sentences(query, pictures)[:, 0]
    return [WeakJudgment(round(float(chance), 3), _verdict(float(chance))) for chance in chances]


def _verdict(chance: float) -> Literal["relevant", "not relevant", "unknown"]:
    if chance >= _SURE:
        return "relevant"
    return "not relevant" if chance <= 1 - _SURE else "unknown"
