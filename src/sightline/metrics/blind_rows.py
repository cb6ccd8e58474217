"""Baselines that see no pixel, beside a score: how far each gets, and whether the system is above it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sightline.metrics.statistics.paired import PairedDifference, paired_differences
from sightline.types import Estimate

if TYPE_CHECKING:
    from sightline.metrics.task_table import TaskTable

NOT_BEATEN = "blind-not-beaten"
SAME_SOURCE = "same-source"


@dataclass(frozen=True, slots=True)
class BaselineScore:
    """One baseline in one metric, and the system minus the baseline, paired over the tasks that both have.

    It is `beaten` where the lower limit of the difference is above zero.
    """

    by: str
    metric: str
    estimate: Estimate
    difference: PairedDifference
    beaten: bool

    @property
    def name(self) -> str:
        """As the system that it is: `blind:by=captions`."""
        return f"blind:by={self.by}"


def beside_baselines(
    table: TaskTable,
    baselines: Mapping[str, Mapping[str, tuple[Estimate, Mapping[str, float]]]],
    *,
    clustered: bool,
    level: float,
    seed: int,
) -> tuple[BaselineScore, ...]:
    """The system's tasks beside every baseline: `baselines[by][metric]` is its estimate and its value of each task.

    A metric that no task has a value in has no row.
    """
    found = []
    for by, metrics in baselines.items():
        shared = [name for name in metrics if name in table.columns]
        before = {name: _column(table.ids, metrics[name][1]) for name in shared}
        after = {name: table.columns[name].values for name in shared}
        clusters = table.clusters if clustered else None
        differences = paired_differences(
            before, after, clusters=clusters, weights=table.weights, level=level, seed=seed
        )
        found += [
            BaselineScore(by, name, metrics[name][0], differences[name], _is_above(differences[name]))
            for name in shared
            if differences[name].n
        ]
    return tuple(found)


def _is_above(difference: PairedDifference) -> bool:
    return difference.reason is None and difference.n > 0 and difference.low > 0


def _column(ids: Sequence[str], values: Mapping[str, float]) -> np.typing.NDArray[np.float64]:
    return np.array([values.get(id_, np.nan) for id_ in ids], np.float64)


def unbeaten(rows: Iterable[BaselineScore], metric: str | None = None) -> tuple[BaselineScore, ...]:
    """The baselines that the system is not above, best first; in one metric where that is given.

    One that knows of too few tasks to be compared says nothing either way.
    """
    known = (row for row in rows if row.difference.reason is None and row.difference.n)
    kept = [row for row in known if not row.beaten and metric in (None, row.metric)]
    return tuple(sorted(kept, key=lambda row: -row.estimate.mean))
