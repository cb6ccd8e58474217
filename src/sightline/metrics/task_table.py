"""Rows of attempts brought to one value per task and metric: the unit of every statistic."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from sightline.metrics.scores import UNLABELLED, TaskScore
from sightline.metrics.statistics.estimates import Column

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Codes = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class TaskTable:
    """One entry for each task, in order; attempts at a task are averaged first, a failed one as zero."""

    ids: tuple[str, ...]
    clusters: tuple[str | None, ...]
    labels: tuple[Mapping[str, tuple[str, ...]], ...]
    missing: Bools
    failed: Bools
    columns: Mapping[str, Column]
    weights: Floats | None = None
    "How much traffic each task stands for; None where that is not known."

    def slices(self) -> Iterator[tuple[str, str, Bools]]:
        """Every label, value and the tasks that have it; tasks without the label come last, as `unlabelled`."""
        for label in sorted({label for labels in self.labels for label in labels}):
            values = [labels.get(label) or (UNLABELLED,) for labels in self.labels]
            names = {value for several in values for value in several}
            for name in sorted(names, key=lambda value: (value == UNLABELLED, value)):
                yield label, name, np.array([name in several for several in values], dtype=np.bool_)

    def values(self) -> dict[str, Floats]:
        """The values of each metric."""
        return {metric: column.values for metric, column in self.columns.items()}

    def where(self, kept: Bools) -> TaskTable:
        """The table of only the kept tasks."""
        places = np.flatnonzero(kept).tolist()
        return TaskTable(
            ids=tuple(self.ids[place] for place in places),
            clusters=tuple(self.clusters[place] for place in places),
            labels=tuple(self.labels[place] for place in places),
            missing=self.missing[kept],
            failed=self.failed[kept],
            columns={name: column.where(kept) for name, column in self.columns.items()},
            weights=None if self.weights is None else self.weights[kept],
        )


def task_table(rows: Iterable[TaskScore], metrics: Sequence[str]) -> TaskTable:
    """The attempts of each task side by side, averaged."""
    rows = list(rows)
    of_task = [row.task_id for row in rows]
    tasks = dict(zip(reversed(of_task), reversed(rows), strict=True))
    places = {task: place for place, task in enumerate(dict.fromkeys(of_task))}
    first = [tasks[task] for task in places]
    statuses = np.array([row.status for row in rows])
    attempts = _Attempts(np.array([places[task] for task in of_task], np.intp), statuses == "answered", len(places))
    weights = np.array([row.weight for row in first], np.float64)
    return TaskTable(
        ids=tuple(places),
        clusters=tuple(row.cluster for row in first),
        labels=tuple(row.labels for row in first),
        missing=~attempts.any(statuses != "missing"),
        failed=attempts.any(statuses == "failed"),
        columns={metric: attempts.column([row.values.get(metric) for row in rows]) for metric in metrics},
        weights=weights if (weights != 1).any() else None,
    )


class _Attempts(NamedTuple):
    """The place of each attempt's task among `tasks`, and whether it answered."""

    place: Codes
    answered: Bools
    tasks: int

    def any(self, kept: Bools) -> Bools:
        """By task: is one of its attempts among the kept ones?"""
        return self._count(kept) > 0

    def column(self, values: Sequence[float | None]) -> Column:
        """The mean of each task over its attempts that have a value, and over the answered ones of these."""
        given = np.array(values, np.float64)
        defined = ~np.isnan(given)
        means = (self._mean(given, kept) for kept in (defined, defined & self.answered))
        return Column(next(means), self.any(defined & ~self.answered), next(means))

    def _mean(self, values: Floats, kept: Bools) -> Floats:
        count = self._count(kept)
        sums = np.bincount(self.place[kept], values[kept], self.tasks)
        means: Floats = np.divide(sums, count, out=np.full(self.tasks, np.nan), where=count > 0)
        return means

    def _count(self, kept: Bools) -> Codes:
        return np.bincount(self.place[kept], minlength=self.tasks)


class _Counted(Protocol):
    @property
    def n(self) -> int: ...


Part = TypeVar("Part", bound=_Counted)


def by_slice(table: TaskTable, compute: Callable[[Bools], Mapping[str, Part]]) -> dict[str, dict[str, dict[str, Part]]]:
    """Label → value → metric → what `compute` gives for those tasks, where there are any.

    `unlabelled` is left out for a metric none of whose tasks has the label: it would only repeat the whole.
    """
    found: dict[str, dict[str, dict[str, Part]]] = {}
    for label, value, kept in table.slices():
        known = {metric for parts in found.get(label, {}).values() for metric in parts}
        parts = {
            metric: part
            for metric, part in compute(kept).items()
            if part.n and (value != UNLABELLED or metric in known)
        }
        if parts:
            found.setdefault(label, {})[value] = parts
    return found


def attempts_table(rows: Iterable[TaskScore], metric: str) -> Floats:
    """Tasks × attempts of one metric; NaN where an attempt was not made or the metric is not defined."""
    rows = list(rows)
    places = {task: place for place, task in enumerate(dict.fromkeys(row.task_id for row in rows))}
    numbers = {number: place for place, number in enumerate(sorted({row.attempt for row in rows}))}
    table = np.full((len(places), len(numbers)), np.nan)
    for row in rows:
        value = row.values.get(metric)
        if value is not None:
            table[places[row.task_id], numbers[row.attempt]] = value
    return table
