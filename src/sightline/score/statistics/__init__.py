"""Intervals, tests, corrections, tie groups and power: numpy only, deterministic in a seed."""

from sightline.score.statistics.correction import holm
from sightline.score.statistics.estimates import Column, cluster_codes, estimate, estimate_columns
from sightline.score.statistics.groups import tie_letters
from sightline.score.statistics.intervals import RESAMPLES, wilson
from sightline.score.statistics.paired import Difference, cohen_dz, paired_difference, paired_differences
from sightline.score.statistics.power import (
    Spread,
    detectable,
    paired_power,
    simulated_power,
    spread,
    tasks_needed,
    tasks_needed_binary,
)
from sightline.score.statistics.repeats import Repeated, repeated
from sightline.score.statistics.significance import FLIPS, Significance, mcnemar_exact, sign_flip_test

__all__ = [
    "FLIPS",
    "RESAMPLES",
    "Column",
    "Difference",
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
