"""Ranked metrics: one formula each, over a batch of queries or a single task."""

from sightline.score.ranked import (
    average_precision,
    average_precision_min,
    bpref,
    diversity,
    judged,
    ndcg,
    precision,
    r_precision,
    rbp,
    recall,
    reciprocal_rank,
    success,
)
from sightline.score.ranked.batch import RankedBatch, batch_of
from sightline.score.ranked.formula import Formula, formula

__all__ = [
    "Formula",
    "RankedBatch",
    "average_precision",
    "average_precision_min",
    "batch_of",
    "bpref",
    "diversity",
    "formula",
    "judged",
    "ndcg",
    "precision",
    "r_precision",
    "rbp",
    "recall",
    "reciprocal_rank",
    "success",
]
