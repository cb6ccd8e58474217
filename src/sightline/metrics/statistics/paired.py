"""Two systems on the same tasks: difference, interval, p, effect sizes, wins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sightline.metrics.statistics.distributions import check_fraction, student_quantile, student_tail
from sightline.metrics.statistics.estimates import (
    ClusterLabels,
    cluster_codes,
    narrow,
    together,
    too_few_clusters,
    weights_of,
)
from sightline.metrics.statistics.intervals import (
    RESAMPLES,
    Bca,
    BootstrapSampling,
    Codes,
    Floats,
    Interval,
    Units,
    bootstraps,
    effective_count,
    units_of,
)
from sightline.metrics.statistics.splits import FLIPS, Significance, Splits, split_means
from sightline.types import fewest_units

# Scores closer than this are a tie.
_TIE = 1e-12
# With fewer tasks that differ, a bootstrap of their differences finds one too often where there is none.
_ENOUGH_TO_RESAMPLE = 60


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """Second minus first over the tasks that both have a value for; `p` is two-sided.

    Interval and p come from one test: zero lies outside of [low, high] exactly when p < 1 - level. Where there are too
    few tasks or clusters for an interval, `reason` says so and low and high hold all that is possible.
    `dz` is Cohen's d of the differences (None when they don't vary); `win_rate` is the share of tasks that the
    second wins, a tie counting half (None without tasks); `p` is None where no test was asked for.
    """

    mean: float
    low: float
    high: float
    n: int
    level: float
    method: str
    p: float | None
    test: str | None
    dz: float | None
    wins: int
    ties: int
    losses: int
    win_rate: float | None
    reason: str | None = None

    @property
    def no_interval(self) -> str | None:
        """Why there is no interval to read, in a few words; None where there is one."""
        return self.reason or ("no spread" if self.method == "none" else None)


def paired_difference(
    first: Floats,
    second: Floats,
    *,
    clusters: ClusterLabels | None = None,
    level: float = 0.95,
    seed: int = 0,
    resamples: int = RESAMPLES,
    flips: int = FLIPS,
    test: bool = True,
) -> PairedDifference:
    """The interval of the difference and its p, both by cluster where clusters are given.

    Tasks with NaN on either side are left out. `cluster-bootstrap` and, for fewer than 60 tasks that differ,
    `sign-flip` are the sign-flip test and its inversion (`splits`), over clusters or over tasks; `bca` is the bootstrap
    with Student's quantile, and its inversion at zero; `none` when all differences are the same.
    """
    found = paired_differences(
        {"": first},
        {"": second},
        clusters=clusters,
        level=level,
        seed=seed,
        resamples=resamples,
        flips=flips,
        test=test,
    )
    return found[""]


def paired_differences(
    first: Mapping[str, Floats],
    second: Mapping[str, Floats],
    *,
    clusters: ClusterLabels | None = None,
    weights: Floats | None = None,
    level: float = 0.95,
    seed: int = 0,
    resamples: int = RESAMPLES,
    flips: int = FLIPS,
    test: bool = True,
) -> dict[str, PairedDifference]:
    """`paired_difference` for many metrics over the same tasks, which share their resamples.

    With `weights` the mean is Σ w d / Σ w, and so are interval and p; wins, losses and `dz` stay those of tasks.
    """
    check_fraction("level", level)
    moved = {name: _without_rounding(second[name] - first[name]) for name in first}
    sampling = BootstrapSampling(level, seed, resamples)
    codes = None if clusters is None else cluster_codes(clusters)
    found: dict[str, PairedDifference] = {}
    for names, kept, table in together(moved):
        part, weight = None if codes is None else narrow(codes[kept]), weights_of(weights, kept)
        inverted = _inverted(table, part, weight, sampling, flips)
        for name, differences, one in zip(names, table.T, inverted, strict=True):
            found[name] = _described(differences, weight, one, level, test)
    return {name: found[name] for name in first}


class _Inverted(NamedTuple):
    """What one test says: the interval by its inversion, and p."""

    interval: Interval
    method: str
    significance: Significance
    reason: str | None = None


def _inverted(
    table: Floats, codes: Codes | None, weights: Floats | None, sampling: BootstrapSampling, flips: int
) -> list[_Inverted]:
    """Each column of differences by the test that fits it."""
    if not len(table):
        return [_Inverted(Interval(0.0, 0.0), "none", Significance(1.0, "exact"))] * table.shape[1]
    units = units_of(table, codes, weights)
    differ = [len(column[column != 0]) if weights is None else _worth(column, weights) for column in table.T]
    many = [column for column in range(table.shape[1]) if codes is None and differ[column] >= _ENOUGH_TO_RESAMPLE]
    few = [column for column in range(table.shape[1]) if column not in many]
    found: dict[int, _Inverted] = {}
    for column, bca in zip(many, bootstraps(Units(units.sums[:, many], units.sizes), sampling), strict=True):
        if bca is None:
            few.append(column)
        else:
            found[column] = _by_bootstrap(bca, differ[column] - 1, sampling)
    if few:
        splits = split_means(Units(units.sums[:, few], units.sizes), flips, sampling.seed)
        for column, one in zip(few, splits, strict=True):
            found[column] = _by_flips(one, table[:, column], codes, sampling.level)
    return [found[column] for column in range(table.shape[1])]


def _worth(differences: Floats, weights: Floats) -> int:
    """How many tasks of equal weight those that differ are worth."""
    return int(effective_count(weights[differences != 0]))


def _by_bootstrap(bca: Bca, df: int, sampling: BootstrapSampling) -> _Inverted:
    interval = bca.interval(student_quantile((1 + sampling.level) / 2, df))
    p = 2 * student_tail(bca.quantile_of_zero(), df)
    return _Inverted(interval, "bca", Significance(max(p, 1 / (sampling.resamples + 1)), "bootstrap"))


def _by_flips(splits: Splits, differences: Floats, codes: Codes | None, level: float) -> _Inverted:
    interval, significance = splits.interval(level), splits.significance()
    if interval is None:
        widest = Interval(min(-1.0, float(differences.min())), max(1.0, float(differences.max())))
        return _Inverted(widest, "none", significance, _too_few(len(differences), codes, level))
    if interval.high - interval.low <= _TIE:
        return _Inverted(Interval(splits.mean, splits.mean), "none", significance)
    return _Inverted(interval, "sign-flip" if codes is None else "cluster-bootstrap", significance)


def _too_few(tasks: int, codes: Codes | None, level: float) -> str:
    """Why a sign-flip test excludes nothing."""
    if codes is not None and (reason := too_few_clusters(int(codes.max()) + 1, level)) is not None:
        return reason
    return f"too few tasks ({tasks})" if tasks < fewest_units(level) else "too few random flips"


def _without_rounding(differences: Floats) -> Floats:
    return np.where(np.abs(differences) < _TIE, 0.0, differences)


def _described(
    differences: Floats, weights: Floats | None, found: _Inverted, level: float, test: bool
) -> PairedDifference:
    n, wins, losses = len(differences), int((differences > 0).sum()), int((differences < 0).sum())
    ties, mean = n - wins - losses, float(np.average(differences, weights=weights)) if n else 0.0
    return PairedDifference(
        mean=mean,
        low=min(found.interval.low, mean),
        high=max(found.interval.high, mean),
        n=n,
        level=level,
        method=found.method,
        p=found.significance.p if test else None,
        test=found.significance.method if test else None,
        dz=cohen_dz(differences),
        wins=wins,
        ties=ties,
        losses=losses,
        win_rate=(wins + ties / 2) / n if n else None,
        reason=found.reason,
    )


def cohen_dz(differences: Floats) -> float | None:
    """Mean over standard deviation of the differences; None for fewer than two or when they don't vary."""
    if len(differences) < 2 or np.ptp(differences) <= _TIE:
        return None
    return float(differences.mean() / differences.std(ddof=1))
