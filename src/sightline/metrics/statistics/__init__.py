"""Intervals, tests, corrections, tie groups and power: numpy only, deterministic in a seed."""

from sightline.metrics.statistics.estimates import Column, cluster_codes, estimate, estimate_columns
from sightline.metrics.statistics.intervals import RESAMPLES, wilson
from sightline.metrics.statistics.paired import PairedDifference, cohen_dz, paired_difference, paired_differences
from sightline.metrics.statistics.power import (
    Spread,
    detectable,
    paired_power,
    simulated_power,
    spread,
    tasks_needed,
    tasks_needed_binary,
)
from sightline.metrics.statistics.repeats import Repeated, repeated
from sightline.metrics.statistics.significance import holm, tie_letters
from sightline.metrics.statistics.splits import FLIPS, Significance, mcnemar_exact, sign_flip_test

__all__ = [
    "FLIPS",
    "RESAMPLES",
    "Column",
    "PairedDifference",
    "Repeated",
    "Significance",
    "Spread",
    "cluster_codes",
    "cohen_dz",
    "detectable",
    "estimate",
    "estimate_columns",
    "holm",
    "mcnemar_exact",
    "paired_difference",
    "paired_differences",
    "paired_power",
    "repeated",
    "sign_flip_test",
    "simulated_power",
    "spread",
    "tasks_needed",
    "tasks_needed_binary",
    "tie_letters",
    "wilson",
]
