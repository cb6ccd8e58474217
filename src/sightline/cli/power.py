"""`sightline power`."""

from __future__ import annotations

from pathlib import Path

from sightline.cli.options import Common


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
    """Say how many tasks a difference needs to be seen, or what difference so many tasks can show.

    Parameters
    ----------
    runs:
        Two scored runs to learn the spread of differences from; otherwise give --sd or --disagreement.
    difference:
        The true difference that should be found.
    tasks:
        Instead: the number of tasks that there are.
    metric:
        Which metric of the runs.
    sd:
        Standard deviation of the per-task differences.
    disagreement:
        For right/wrong tasks: the share that only one of the two systems gets right.
    alpha:
        Chance of a false alarm that is accepted.
    chance:
        Chance of finding the difference that is wanted.
    design_effect:
        How much clusters (owners, events) inflate the variance.
    """
    from sightline.metrics.sample_size import power as plan_sample

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
