"""From one value per task to an Estimate: mean over all, interval, failures, mean over those that answered."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sightline.errors import UserError, require_at_least
from sightline.metrics.statistics.clustered import cluster_intervals
from sightline.metrics.statistics.distributions import check_fraction, normal_quantile
from sightline.metrics.statistics.intervals import (
    RESAMPLES,
    BootstrapSampling,
    Codes,
    Floats,
    Interval,
    bootstraps,
    differing,
    effective_count,
    expanded_quantile,
    units_of,
    wilson,
)
from sightline.types import Estimate, fewest_units

FEW_CLUSTERS = "too few clusters"

ClusterLabels = Sequence[Hashable | None]


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One metric over all tasks: NaN where it is undefined, zero where it failed.

    `failed` marks tasks with a failed or missing attempt; `answered` holds the mean over a task's answered attempts,
    NaN where there is none.
    """

    values: Floats
    failed: NDArray[np.bool_]
    answered: Floats

    @classmethod
    def of(cls, values: Sequence[float | None] | Floats, failures: Sequence[bool] | NDArray[np.bool_] | None) -> Column:
        """One attempt for each task; a failure counts as zero even where the value is undefined."""
        given = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
        failed = np.zeros(len(given), dtype=np.bool_) if failures is None else np.asarray(failures, np.bool_)
        if failed.shape != given.shape:
            raise UserError(f"{len(given)} values but {len(failed)} failure marks.", "Give one for each value.")
        return cls(np.where(failed, 0.0, given), failed, np.where(failed, np.nan, given))

    def where(self, kept: NDArray[np.bool_]) -> Column:
        """Only the kept tasks."""
        return Column(self.values[kept], self.failed[kept], self.answered[kept])


def estimate(
    values: Sequence[float | None] | Floats,
    *,
    failures: Sequence[bool] | NDArray[np.bool_] | None = None,
    clusters: ClusterLabels | None = None,
    level: float = 0.95,
    proportion: bool | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Estimate:
    """The mean over all tasks with a failure as zero, and its interval; undefined values (None, NaN) are left out.

    Clusters with something to resample (two or more, not all of one task): `cluster-bootstrap`, which holds for
    clusters of unequal sizes (`clustered`). Else `wilson` for 0/1 values (found by looking, unless `proportion` says),
    else `bca`. Values that don't differ leave nothing to resample: method `none` with low = high = mean, but Wilson for
    all-0 and all-1. No task at all: n = 0, method `none`, all zero.

    `Estimate.interval` is None where there are too few tasks or clusters; `no_interval` says so.

    Parameters
    ----------
    values:
        The score of each task.
    failures:
        Which tasks failed: they count as zero in the mean, and not in `answered`.
    clusters:
        The cluster of each task, such as its owner; tasks of one cluster are resampled together.
    level:
        The confidence level of the interval.
    proportion:
        Whether values are right/wrong; found by looking at them when not given.
    seed, resamples:
        Of the bootstrap.

    Returns
    -------
    Estimate
        The mean with its interval, n, failures and method.

    Examples
    --------
    >>> import sightline
    >>> found = sightline.estimate([1.0, 1.0, 0.0, 1.0])
    >>> f"{found.mean:.2f} [{found.low:.2f}, {found.high:.2f}] {found.method}"
    '0.75 [0.30, 0.95] wilson'
    """
    require_at_least(1, resamples=resamples)
    column = Column.of(values, failures)
    if clusters is not None and len(clusters) != len(column.values):
        raise UserError(f"{len(column.values)} values but {len(clusters)} clusters.", "Give one for each value.")
    found = estimate_columns(
        {"": column},
        clusters=clusters,
        level=level,
        proportion=proportion,
        seed=seed,
        resamples=resamples,
    )
    return found[""]


def estimate_columns(
    columns: Mapping[str, Column],
    *,
    clusters: ClusterLabels | None = None,
    weights: Floats | None = None,
    level: float = 0.95,
    proportion: bool | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> dict[str, Estimate]:
    """`estimate` for many metrics over the same tasks; those defined on the same tasks share their resamples.

    With `weights` the mean is Σ w v / Σ w. The same ladder gives its interval: the bootstrap draws tasks with their
    weights, and Wilson's n is the number of tasks of equal weight that they are worth (`effective_count`).
    """
    check_fraction("level", level)
    codes = None if clusters is None else cluster_codes(clusters)
    sampling = BootstrapSampling(level, seed, resamples)
    found: dict[str, Estimate] = {}
    for names, kept, table in together({name: column.values for name, column in columns.items()}):
        part, weight = None if codes is None else narrow(codes[kept]), weights_of(weights, kept)
        for name, ends in zip(names, _intervals(table, part, weight, proportion, sampling), strict=True):
            found[name] = _assemble(columns[name], kept, weight, ends, level)
    return {name: found[name] for name in columns}


def weights_of(weights: Floats | None, kept: NDArray[np.bool_]) -> Floats | None:
    """The weights of the kept tasks with a mean of 1; None where all weigh the same."""
    part = None if weights is None else weights[kept]
    return None if part is None or not len(part) or np.ptp(part) == 0 else part / part.mean()


def together(columns: Mapping[str, Floats]) -> Iterator[tuple[list[str], NDArray[np.bool_], Floats]]:
    """Columns that are defined on the same tasks: their names, those tasks, and their values side by side."""
    alike: dict[bytes, list[str]] = {}
    for name, values in columns.items():
        alike.setdefault(np.isfinite(values).tobytes(), []).append(name)
    for names in alike.values():
        kept = np.isfinite(columns[names[0]])
        yield names, kept, np.stack([columns[name][kept] for name in names], axis=1)


class Ends(NamedTuple):
    """An interval, how it was found, and why not to read it."""

    interval: Interval
    method: str
    reason: str | None = None


def _intervals(
    table: Floats, codes: Codes | None, weights: Floats | None, proportion: bool | None, sampling: BootstrapSampling
) -> list[Ends]:
    """The ends of each column, by the ladder of `estimate`."""
    worth = float(len(table)) if weights is None else effective_count(weights)
    if codes is None:
        found = _over_tasks(table, worth, weights, proportion, sampling)
        few = weights is not None and worth < fewest_units(sampling.level)
        return [ends._replace(reason=f"too few tasks by weight ({worth:.0f})") for ends in found] if few else found
    return _by_cluster(table, codes, weights, proportion, sampling)


def _by_cluster(
    table: Floats, codes: Codes, weights: Floats | None, proportion: bool | None, sampling: BootstrapSampling
) -> list[Ends]:
    units = units_of(table, codes, weights)
    count = int(effective_count(units.sizes)) if weights is not None else len(units.sizes)
    varied = differing(units)
    found: dict[int, Ends] = {}
    for column in np.flatnonzero(~varied).tolist():
        # Clusters that agree exactly say no more than one trial each.
        found[column] = _over_tasks(table[:, [column]], count, weights, proportion, sampling)[0]
    kept = np.flatnonzero(varied).tolist()
    over_clusters = _over_clusters if count >= fewest_units(sampling.level) else _over_few_clusters
    ends = over_clusters(table[:, kept], codes, weights, proportion, sampling) if kept else ()
    found |= dict(zip(kept, ends, strict=True))
    reason = too_few_clusters(count, sampling.level)
    return [found[column]._replace(reason=reason) for column in range(table.shape[1])]


def too_few_clusters(count: int, level: float) -> str | None:
    """Why so many clusters carry no interval at a level; None where they do."""
    return f"{FEW_CLUSTERS} ({count})" if count < fewest_units(level) else None


def _over_clusters(
    table: Floats, codes: Codes, weights: Floats | None, _: bool | None, sampling: BootstrapSampling
) -> list[Ends]:
    return [
        Ends(interval, "cluster-bootstrap")
        for interval in cluster_intervals(table, codes, sampling, weights)
        if interval is not None
    ]


def _over_few_clusters(
    table: Floats, codes: Codes, weights: Floats | None, proportion: bool | None, sampling: BootstrapSampling
) -> list[Ends]:
    """Figures that are not for reading: BCa over clusters, never narrower than the interval over tasks."""
    z = expanded_quantile(sampling.level, int(codes.max()) + 1)
    units = units_of(table, codes, weights)
    clustered = [found.interval(z) for found in bootstraps(units, sampling) if found is not None]
    plain = [ends.interval for ends in _over_tasks(table, len(table), weights, proportion, sampling)]
    return [
        Ends(Interval(min(one.low, other.low), max(one.high, other.high)), "cluster-bootstrap")
        for one, other in zip(clustered, plain, strict=True)
    ]


def _over_tasks(
    table: Floats, trials: float, weights: Floats | None, proportion: bool | None, sampling: BootstrapSampling
) -> list[Ends]:
    """Wilson for columns of 0/1, else BCa over tasks, else no interval."""
    n, columns = table.shape
    means = np.average(table, axis=0, weights=weights).tolist() if n else [0.0] * columns
    share = [n > 0 and _is_proportion(column, proportion) for column in table.T]
    rest = [column for column in range(columns) if not share[column]]
    sampled = dict(zip(rest, bootstraps(units_of(table[:, rest], None, weights), sampling), strict=True))
    z = normal_quantile((1 + sampling.level) / 2)
    found: list[Ends] = []
    for column, mean in enumerate(means):
        if share[column]:
            found.append(Ends(wilson(mean, trials, sampling.level), "wilson"))
        elif (resampled := sampled[column]) is not None:
            found.append(Ends(resampled.interval(z), "bca"))
        else:
            found.append(Ends(Interval(mean, mean), "none"))
    return found


def _is_proportion(values: Floats, told: bool | None) -> bool:
    zero_or_one = bool(np.all((values == 0) | (values == 1)))
    if told and not zero_or_one:
        raise UserError("proportion=True, but some values are neither 0 nor 1.", "Leave proportion out.")
    return zero_or_one if told is None else told


def _assemble(column: Column, kept: NDArray[np.bool_], weights: Floats | None, ends: Ends, level: float) -> Estimate:
    values, answered = column.values[kept], column.answered[kept]
    told = np.isfinite(answered)
    given, weight = answered[told], None if weights is None else weights[told]
    mean = float(np.average(values, weights=weights)) if len(values) else 0.0
    return Estimate(
        mean=mean,
        # BCa of a few skewed values can miss the mean.
        low=min(ends.interval.low, mean),
        high=max(ends.interval.high, mean),
        n=len(values),
        failures=int(column.failed[kept].sum()),
        answered=float(np.average(given, weights=weight)) if len(given) else None,
        level=level,
        method=ends.method,
        reason=ends.reason,
    )


def cluster_codes(labels: ClusterLabels) -> Codes:
    """Labels as numbers 0, 1, …; None is a cluster of its own each time."""
    known: dict[object, int] = {}
    return np.array(
        [known.setdefault(object() if label is None else ("", label), len(known)) for label in labels],
        dtype=np.intp,
    )


def narrow(codes: Codes) -> Codes | None:
    """The clusters that are left, from 0; None when nothing is clustered: one cluster, or each of one task."""
    _, dense = np.unique(codes, return_inverse=True)
    count = int(dense.max()) + 1 if len(dense) else 0
    return None if count < 2 or count == len(dense) else dense.astype(np.intp)
