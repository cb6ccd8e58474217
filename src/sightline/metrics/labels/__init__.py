"""Labels with error rates, and scores that know them: people's decisions correct what judges said. Numpy only.

- `label_model`: several judges and people's decisions → each pair's probability, each judge's error rates.
- `calibration`: what a judge's confidence is worth, and a calibrator.
- `sampling`: which pairs people are asked about, with known probabilities.
- `targets`, `corrected`: metrics with generated labels, corrected by a drawn sample of decisions, with intervals.
- `coverage`: which share of the relevant pictures the pools hold.
- `shares`: label precision and other shares among drawn decisions.
"""

from sightline.metrics.labels.calibration import (
    Calibrator,
    CrossFit,
    Reliability,
    ReliabilityBin,
    assign_folds,
    confidence_feature,
    cross_fit,
    fit_calibrator,
    reliability,
)
from sightline.metrics.labels.corrected import (
    LEAST_DECISIONS,
    Corrected,
    JudgedPairs,
    Worth,
    correct,
    correct_difference,
    correct_queries,
    corrected_difference,
    corrected_score,
    t_half_width,
    worths,
)
from sightline.metrics.labels.coverage import (
    Coverage,
    coverage_by_error_rates,
    coverage_by_people,
    coverage_by_positives,
)
from sightline.metrics.labels.label_model import JudgeErrors, LabelModel, SharedErrors, label_model
from sightline.metrics.labels.sampling import (
    Draw,
    draw_pairs,
    extend_draw,
    informative_rates,
    proportional_rates,
    stratified_rates,
)
from sightline.metrics.labels.shares import Share, weighted_share
from sightline.metrics.labels.targets import Target, frozen_relevant, ideal_dcg, target, target_name

__all__ = [
    "LEAST_DECISIONS",
    "Calibrator",
    "Corrected",
    "Coverage",
    "CrossFit",
    "Draw",
    "JudgeErrors",
    "JudgedPairs",
    "LabelModel",
    "Reliability",
    "ReliabilityBin",
    "Share",
    "SharedErrors",
    "Target",
    "Worth",
    "assign_folds",
    "confidence_feature",
    "correct",
    "correct_difference",
    "correct_queries",
    "corrected_difference",
    "corrected_score",
    "coverage_by_error_rates",
    "coverage_by_people",
    "coverage_by_positives",
    "cross_fit",
    "draw_pairs",
    "extend_draw",
    "fit_calibrator",
    "frozen_relevant",
    "ideal_dcg",
    "informative_rates",
    "label_model",
    "proportional_rates",
    "reliability",
    "stratified_rates",
    "t_half_width",
    "target",
    "target_name",
    "weighted_share",
    "worths",
]
