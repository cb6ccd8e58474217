"""`sightline compare RUN RUN…`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from sightline.cli.options import Common, Switch, described_by
from sightline.scoring import compare as compare_runs


@described_by(compare_runs)
def compare(
    *runs: Path,
    metrics: str | None = None,
    benchmark: Path | None = None,
    fail_if_worse: Annotated[str, Parameter()] | None = None,
    failures_may_differ: Switch = False,
    rehearsal: Switch = False,
    level: float = 0.95,
    common: Common = Common(),
) -> None:
    """Say which of several runs is better, by how much, and whether that can be trusted. The first is the baseline.

    Parameters
    ----------
    runs:
        Folders of runs on the same benchmark; those without scores are scored now.
    metrics:
        Comma-separated names; all that the runs have in common when not given.
    fail_if_worse:
        Exit with 4 when a later run is worse than the first in this metric, and not by chance.
    failures_may_differ:
        Compare although the runs failed on different tasks.
    """
    from sightline.errors import FoundError, UserError
    from sightline.metrics.registry import split_names
    from sightline.metrics.tables import warning_text

    common.ignores_limit()
    wanted = None if metrics is None else split_names(metrics)
    if fail_if_worse is not None and wanted is not None and fail_if_worse not in wanted:
        wanted = (*wanted, fail_if_worse)
    comparison = compare_runs(
        runs,
        wanted,
        benchmark=benchmark,
        allow_failures_differ=failures_may_differ,
        rehearsal=rehearsal,
        level=level,
        seed=common.seed,
    )
    common.show(comparison)
    if not common.json:
        common.warn(map(warning_text, comparison.warnings))
    if fail_if_worse is not None and any(not pair.difference.n for pair in comparison.of(fail_if_worse)):
        raise UserError(
            f"{fail_if_worse} was not measured: no task of {comparison.benchmark} has a label for it.",
            "Judge its pictures first (sightline assess BENCH), "
            "then score by the decisions: sightline make review BENCH --people 1.",
        )
    if fail_if_worse is not None and (worse := comparison.worse(fail_if_worse)):
        listed = ", ".join(f"{pair.second} ({pair.difference.mean:+.3f})" for pair in worse)
        raise FoundError(f"worse than {comparison.systems[0]} in {fail_if_worse}: {listed}.")
