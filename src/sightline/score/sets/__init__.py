"""Set metrics, and what repeated attempts and abstentions are worth."""

from sightline.score.sets import exact_match, f1, iou, precision, recall
from sightline.score.sets.abstention import Abstention, abstention
from sightline.score.sets.overlap import Overlap, SetReport, check, overlap
from sightline.score.sets.repeated import best_at_k, majority_vote, verifier_choice

__all__ = [
    "Abstention",
    "Overlap",
    "SetReport",
    "abstention",
    "best_at_k",
    "check",
    "exact_match",
    "f1",
    "iou",
    "majority_vote",
    "overlap",
    "precision",
    "recall",
    "verifier_choice",
]
