"""From one value per task to an Estimate: mean over all, interval, failures, mean over those that answered."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.metrics.statistics.distributions import check_fraction
from sightline.metrics.statistics.intervals import (
    RESAMPLES,
    BootstrapSampling,
    Floats,
    Interval,
    bootstrap_intervals,
    units_of,
    wilson,
)
from sightline.types import Estimate

# Below this many clusters a bootstrap over them can be narrow by luck.
FEW_CLUSTERS = 10

Codes = NDArray[np.intp]
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
            raise ValueError(f"{len(given)} values but {len(failed)} failure marks")
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

    Clusters with something to resample (two or more, not all of one task): BCa over clusters, `cluster-bootstrap`.
    Else `wilson` for 0/1 values (found by looking, unless `proportion` says), else `bca`. Values that don't differ
    leave nothing to resample: method `none` with low = high = mean, but Wilson for all-0 and all-1.
    No task at all: n = 0, method `none`, all zero.

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
    column = Column.of(values, failures)
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
    level: float = 0.95,
    proportion: bool | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> dict[str, Estimate]:
    """`estimate` for many metrics over the same tasks; those defined on the same tasks share their resamples."""
    check_fraction("level", level)
    codes = None if clusters is None else cluster_codes(clusters)
    together: dict[bytes, list[str]] = {}
    for name, column in columns.items():
        together.setdefault(np.isfinite(column.values).tobytes(), []).append(name)
    found: dict[str, Estimate] = {}
    for names in together.values():
        kept = np.isfinite(columns[names[0]].values)
        table = np.stack([columns[name].values[kept] for name in names], axis=1)
        part = None if codes is None else narrow(codes[kept])
        intervals = _intervals(table, part, proportion, BootstrapSampling(level, seed, resamples))
        for name, (interval, method) in zip(names, intervals, strict=True):
            found[name] = _assemble(columns[name], kept, interval, method, level)
    return {name: found[name] for name in columns}


def _intervals(
    table: Floats, codes: Codes | None, proportion: bool | None, sampling: BootstrapSampling
) -> list[tuple[Interval, str]]:
    """Interval and method of each column, by the ladder of `estimate`."""
    if codes is None:
        return _over_tasks(table, len(table), proportion, sampling)
    count = int(codes.max()) + 1
    clustered = bootstrap_intervals(units_of(table, codes), sampling, expand=True)
    if count >= FEW_CLUSTERS and None not in clustered:
        return [(interval, "cluster-bootstrap") for interval in clustered if interval is not None]
    # Clusters that agree exactly say no more than one trial each.
    trials = [len(table) if interval else count for interval in clustered]
    found = []
    for column, interval in enumerate(clustered):
        plain, method = _over_tasks(table[:, [column]], trials[column], proportion, sampling)[0]
        if interval is None:
            found.append((plain, method))
        elif count < FEW_CLUSTERS:
            found.append((Interval(min(interval.low, plain.low), max(interval.high, plain.high)), "cluster-bootstrap"))
        else:
            found.append((interval, "cluster-bootstrap"))
    return found


def _over_tasks(
    table: Floats, trials: int, proportion: bool | None, sampling: BootstrapSampling
) -> list[tuple[Interval, str]]:
    """Wilson for columns of 0/1, else BCa over tasks, else no interval."""
    n, columns = table.shape
    means = table.mean(axis=0).tolist() if n else [0.0] * columns
    share = [n > 0 and _is_proportion(column, proportion) for column in table.T]
    rest = [column for column in range(columns) if not share[column]]
    sampled = dict(zip(rest, bootstrap_intervals(units_of(table[:, rest]), sampling), strict=True))
    found: list[tuple[Interval, str]] = []
    for column, mean in enumerate(means):
        if share[column]:
            found.append((wilson(mean, trials, sampling.level), "wilson"))
        elif (interval := sampled[column]) is not None:
            found.append((interval, "bca"))
        else:
            found.append((Interval(mean, mean), "none"))
    return found


def _is_proportion(values: Floats, told: bool | None) -> bool:
    zero_or_one = bool(np.all((values == 0) | (values == 1)))
    if told and not zero_or_one:
        raise ValueError("proportion=True, but some values are neither 0 nor 1")
    return zero_or_one if told is None else told


def _assemble(column: Column, kept: NDArray[np.bool_], interval: Interval, method: str, level: float) -> Estimate:
    values, answered = column.values[kept], column.answered[kept]
    given = answered[np.isfinite(answered)]
    mean = float(values.mean()) if len(values) else 0.0
    return Estimate(
        mean=mean,
        # BCa of a few skewed values can miss the mean.
        low=min(interval.low, mean),
        high=max(interval.high, mean),
        n=len(values),
        failures=int(column.failed[kept].sum()),
        answered=float(given.mean()) if len(given) else None,
        level=level,
        method=method,
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
