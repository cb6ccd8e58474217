"""`sightline power`."""

from __future__ import annotations

from pathlib import Path

from sightline.cli.options import Common, described_by
from sightline.scoring import power as plan_sample


@described_by(plan_sample)
def power(
    *runs: Path,
    difference: float | None = None,
    tasks: int | None = None,
    metric: str | None = None,
    sd: float | None = None,
    disagreement: float | None = None,
    alpha: float = 0.05,
    chance: float = 0.8,
    design_effect: float = 1.0,
    common: Common = Common(),
) -> None:
    """Estimate how many tasks are needed to detect a difference, or what difference so many tasks can show."""
    common.ignores_limit()
    found = plan_sample(
        runs,
        difference=difference,
        tasks=tasks,
        metric=metric,
        sd=sd,
        disagreement=disagreement,
        alpha=alpha,
        chance=chance,
        design_effect=design_effect,
    )
    common.show(found)
