"""Two systems on the same tasks: difference, interval, p, effect sizes, wins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sightline.metrics.statistics.estimates import ClusterLabels, Codes, Column, cluster_codes, estimate_columns, narrow
from sightline.metrics.statistics.intervals import RESAMPLES, Floats, units_of
from sightline.metrics.statistics.significance import FLIPS, Significance, sign_flip_test
from sightline.types import Estimate

# Scores closer than this are a tie.
_TIE = 1e-12


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """Second minus first over the tasks that both have a value for; `p` is two-sided.

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
    """Paired bootstrap interval and paired randomisation test, both by cluster where clusters are given.

    Tasks with NaN on either side are left out. The interval is `cluster-bootstrap` or `bca` as in `estimate`, or
    `none` when all differences are the same.
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
    level: float = 0.95,
    seed: int = 0,
    resamples: int = RESAMPLES,
    flips: int = FLIPS,
    test: bool = True,
) -> dict[str, PairedDifference]:
    """`paired_difference` for many metrics over the same tasks, which share their resamples."""
    moved = {name: _without_rounding(second[name] - first[name]) for name in first}
    intervals = estimate_columns(
        {name: Column.of(differences, None) for name, differences in moved.items()},
        clusters=clusters,
        level=level,
        proportion=False,
        seed=seed,
        resamples=resamples,
    )
    codes = None if clusters is None else cluster_codes(clusters)
    found: dict[str, PairedDifference] = {}
    for name, differences in moved.items():
        defined = np.isfinite(differences)
        kept = differences[defined]
        tested = _test(kept, None if codes is None else codes[defined], seed, flips) if test else None
        found[name] = _described(kept, intervals[name], tested)
    return found


def _without_rounding(differences: Floats) -> Floats:
    return np.where(np.abs(differences) < _TIE, 0.0, differences)


def _test(differences: Floats, codes: Codes | None, seed: int, flips: int) -> Significance:
    units = units_of(differences[:, None], None if codes is None else narrow(codes))
    return sign_flip_test(units.sums[:, 0], seed=seed, flips=flips)


def _described(differences: Floats, interval: Estimate, tested: Significance | None) -> PairedDifference:
    n, wins, losses = len(differences), int((differences > 0).sum()), int((differences < 0).sum())
    ties = n - wins - losses
    return PairedDifference(
        mean=interval.mean,
        low=interval.low,
        high=interval.high,
        n=n,
        level=interval.level,
        method=interval.method,
        p=None if tested is None else tested.p,
        test=None if tested is None else tested.method,
        dz=cohen_dz(differences),
        wins=wins,
        ties=ties,
        losses=losses,
        win_rate=(wins + ties / 2) / n if n else None,
    )


def cohen_dz(differences: Floats) -> float | None:
    """Mean over standard deviation of the differences; None for fewer than two or when they don't vary."""
    if len(differences) < 2 or np.ptp(differences) <= _TIE:
        return None
    return float(differences.mean() / differences.std(ddof=1))
