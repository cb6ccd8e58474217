"""Rows of attempts brought to one value per task and metric: the unit of every statistic."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from sightline.metrics.scores import UNLABELLED, TaskScore
from sightline.metrics.statistics.estimates import Column

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]


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
    attempts: dict[str, list[TaskScore]] = {}
    for row in rows:
        attempts.setdefault(row.task_id, []).append(row)
    tasks = list(attempts.values())
    weights = np.array([task[0].weight for task in tasks], np.float64)
    return TaskTable(
        ids=tuple(attempts),
        clusters=tuple(task[0].cluster for task in tasks),
        labels=tuple(task[0].labels for task in tasks),
        missing=np.array([all(row.status == "missing" for row in task) for task in tasks], dtype=np.bool_),
        failed=np.array([any(row.status == "failed" for row in task) for task in tasks], dtype=np.bool_),
        columns={metric: _column(tasks, metric) for metric in metrics},
        weights=weights if (weights != 1).any() else None,
    )


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


def _column(tasks: Sequence[Sequence[TaskScore]], metric: str) -> Column:
    values, failed, answered = [], [], []
    for task in tasks:
        defined = [(row, value) for row in task if (value := row.values.get(metric)) is not None]
        values.append(_mean([value for _, value in defined]))
        answered.append(_mean([value for row, value in defined if row.status == "answered"]))
        failed.append(any(row.status != "answered" for row, _ in defined))
    return Column(np.array(values, np.float64), np.array(failed, np.bool_), np.array(answered, np.float64))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else float("nan")
