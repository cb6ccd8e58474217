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
    from dataclasses import asdict

    from sightline.errors import UserError
    from sightline.metrics.sample_size import given_spread, learnt_spread, sample_plan
    from sightline.metrics.scores import read_scores

    common.ignores_limit()
    if runs and len(runs) != 2:
        raise UserError(f"{len(runs)} runs were given.", "give two scored runs, or none and --sd")
    if runs:
        first, second = map(read_scores, runs)
        expected = learnt_spread(first, second, metric)
    else:
        expected = given_spread(sd, disagreement, design_effect)
    found = sample_plan(
        expected,
        binary=disagreement is not None,
        difference=difference,
        tasks=tasks,
        alpha=alpha,
        power=chance,
    )
    if common.json:
        common.print_json(asdict(found) | {"spread": asdict(expected)})
    else:
        common.console.print(f"  {found}", markup=False, soft_wrap=True)
