"""How many tasks a benchmark needs: the spread of differences given, or learnt from two runs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sightline.display import Shown
from sightline.errors import UserError
from sightline.metrics.scores import Scores
from sightline.metrics.statistics.power import DifferenceSpread, detectable, spread, tasks_needed, tasks_needed_binary
from sightline.metrics.task_table import task_table
from sightline.types import ScoreWarning


@dataclass(frozen=True, slots=True, repr=False)
class SamplePlan(Shown):
    """So many tasks show so large a difference, with that chance; `asked` says which of the two was looked for."""

    difference: float
    tasks: int
    alpha: float
    power: float
    design_effect: float
    asked: str
    spread: DifferenceSpread
    warnings: tuple[ScoreWarning, ...] = ()
    "Of the runs: how many labels people should decide on, where labels are generated."

    def to_json(self) -> dict[str, Any]:
        """What `--json` prints."""
        return asdict(self)

    def __str__(self) -> str:
        return "\n".join([f"  {self._line()}", *(f"  {one.message} {one.fix}" for one in self.warnings)])

    def _line(self) -> str:
        verb = "are needed to see" if self.asked == "tasks" else "can show"
        return (
            f"{self.tasks:,} tasks {verb} a difference of {self.difference:.3g} with a chance of {self.power:.0%} "
            f"(paired, two-sided, α = {self.alpha:g}, design effect {self.design_effect:.2f})"
        )


def sample_plan(
    expected: DifferenceSpread,
    *,
    binary: bool = False,
    difference: float | None = None,
    tasks: int | None = None,
    alpha: float = 0.05,
    power: float = 0.8,
) -> SamplePlan:
    """How many tasks show `difference`, or what difference `tasks` show; `binary` for right/wrong tasks."""
    effect = expected.design_effect
    if difference is not None and tasks is None:
        if binary:
            needed = tasks_needed_binary(
                difference, expected.disagreement, alpha=alpha, power=power, design_effect=effect
            )
        else:
            needed = tasks_needed(difference, expected.sd, alpha=alpha, power=power, design_effect=effect)
        return SamplePlan(difference, needed, alpha, power, effect, "tasks", expected)
    if tasks is not None and difference is None:
        seen = detectable(tasks, expected.sd, alpha=alpha, power=power, design_effect=effect)
        return SamplePlan(seen, tasks, alpha, power, effect, "difference", expected)
    raise UserError(
        "give either a difference or a number of tasks.",
        "For example --difference 0.05 (difference=0.05), or --tasks 200 (tasks=200).",
    )


def given_spread(sd: float | None, disagreement: float | None, design_effect: float) -> DifferenceSpread:
    """A spread from what the user knows; of right/wrong tasks the differences are -1, 0 and 1."""
    if sd is None and disagreement is None:
        raise UserError(
            "the spread of differences is not known.",
            "Give two scored runs, --sd (sd=) or --disagreement (disagreement=).",
        )
    share = sd**2 if disagreement is None and sd is not None else disagreement or 0.0
    return DifferenceSpread(
        sd=share**0.5 if sd is None else sd, disagreement=min(share, 1.0), design_effect=design_effect, n=0
    )


def learnt_spread(first: Scores, second: Scores, metric: str | None = None) -> DifferenceSpread:
    """The spread of the per-task differences of two runs in a metric (the first that they share)."""
    shared = [name for name in first.metrics if name in second.metrics]
    chosen = metric or next(iter(shared), None)
    if chosen is None or chosen not in shared:
        raise UserError(f'the runs do not share a metric "{metric}".', f"shared: {', '.join(shared) or 'none'}")
    before, after = (task_table(scores.tasks, (chosen,)) for scores in (first, second))
    if before.ids != after.ids:
        raise UserError("the runs are not on the same tasks.", "score both on the same benchmark")
    differences = np.asarray(after.columns[chosen].values - before.columns[chosen].values)
    known = differences[np.isfinite(differences)]
    if len(known) > 1 and np.ptp(known) == 0:
        same = "the same value" if known[0] == 0 else "the same difference"
        raise UserError(
            f"The two runs have {same} of {chosen} on every task: nothing can be learnt about how differences vary.",
            "Give runs of two systems that differ, or say the standard deviation: --sd 0.3 (sd=0.3).",
        )
    return spread(differences, before.clusters if first.clustered_by is not None else None)
