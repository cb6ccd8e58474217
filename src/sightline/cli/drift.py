"""`sightline drift BENCH LOG`."""

from __future__ import annotations

from pathlib import Path

from sightline.cli.options import Common


def drift(benchmark: Path, log: Path, /, *, query_pattern: str | None = None, common: Common = Common()) -> None:
    """Say whether today's queries still look like those of the benchmark: coverage, words that came or went, a test.

    Parameters
    ----------
    benchmark:
        The folder of the benchmark.
    log:
        A list, a table or a log of queries, as --queries of `sightline make` takes it.
    query_pattern:
        Where a line of a log has its query: the name of a parameter of the address, or a regular expression.
    """
    from sightline.authoring.query_drift import drift as measure
    from sightline.authoring.query_sample import QueryLog

    common.ignores_limit()
    common.show(measure(benchmark, QueryLog(log, query_pattern), seed=common.seed or 0))
