"""Resampling with replacement, fast: how often each unit comes up, times what it is worth.

A unit is a task, or a cluster of tasks. Units with equal values are interchangeable, so a few distinct values
need only a multinomial draw; many need one index for each unit. Both are the same exact distribution.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# A multinomial draw costs as much for one distinct value as an index draw does for about 30 units.
_UNITS_PER_CATEGORY = 30
# Draws held at once; counts of this size stay in the processor's cache.
_BLOCK = 1 << 17


class Units(NamedTuple):
    """What is resampled: each unit's sums (one column per metric) and its number of tasks."""

    sums: Floats
    sizes: Floats

    @property
    def means(self) -> Floats:
        """The mean over all tasks, one per column."""
        means: Floats = self.sums.sum(axis=0) / self.sizes.sum()
        return means


def units_of(values: Floats, clusters: NDArray[np.intp] | None = None) -> Units:
    """Tasks (rows of `values`) summed within their cluster; without clusters each task is a unit."""
    if clusters is None:
        return Units(values, np.ones(len(values)))
    sizes = np.bincount(clusters).astype(np.float64)
    sums = np.zeros((len(sizes), values.shape[1]))
    np.add.at(sums, clusters, values)
    return Units(sums, sizes)


def replicates(units: Units, resamples: int, seed: int) -> Floats:
    """Means of `resamples` resamples (rows), one column per metric.

    A column's are the same whatever the order of the units and whatever other columns there are.
    """
    means = np.empty((resamples, units.sums.shape[1]))
    pending: list[int] = []
    tables: list[Floats] = []
    for column, sums in enumerate(units.sums.T):
        # Sorted, so that the order of the tasks does not matter.
        table = np.column_stack([sums, units.sizes])[np.lexsort((units.sizes, sums))]
        fresh = np.flatnonzero(np.any(table[1:] != table[:-1], axis=1)) + 1
        if (len(fresh) + 1) * _UNITS_PER_CATEGORY > len(table):
            pending.append(column)
            tables.append(table)
            continue
        starts = np.concatenate([[0], fresh])
        multiplicity = np.diff(np.append(starts, len(table)))
        totals = _by_multinomial(table[starts], multiplicity, resamples, np.random.default_rng(seed))
        means[:, column] = totals[:, 0] / totals[:, 1]
    if pending:
        totals = _by_index(np.concatenate(tables, axis=1), resamples, np.random.default_rng(seed))
        means[:, pending] = totals[:, 0::2] / totals[:, 1::2]
    return means


def _by_multinomial(table: Floats, multiplicity: NDArray[np.intp], resamples: int, rng: np.random.Generator) -> Floats:
    """Column sums of resamples of units that have few distinct rows, each given with its number."""
    n = int(multiplicity.sum())
    totals = np.empty((resamples, table.shape[1]))
    block = max(1, _BLOCK // len(table))
    for start in range(0, resamples, block):
        rows = min(block, resamples - start)
        totals[start : start + rows] = rng.multinomial(n, multiplicity / n, size=rows) @ table
    return totals


def _by_index(table: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """Column sums of resamples of the rows."""
    n = len(table)
    totals = np.empty((resamples, table.shape[1]))
    block = max(1, _BLOCK // n)
    offsets = np.arange(block, dtype=np.intp)[:, None] * n
    for start in range(0, resamples, block):
        rows = min(block, resamples - start)
        drawn = rng.integers(0, n, size=(rows, n), dtype=np.uint32) + offsets[:rows]
        counts = np.bincount(drawn.ravel(), minlength=rows * n).reshape(rows, n)
        totals[start : start + rows] = counts.astype(np.float64) @ table
    return totals


def jackknife(units: Units) -> Floats:
    """The mean without each unit in turn (rows), in closed form; needs two units or more."""
    left: Floats = (units.sums.sum(axis=0) - units.sums) / (units.sizes.sum() - units.sizes)[:, None]
    return left
