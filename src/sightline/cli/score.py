"""`sightline score BENCH RUN` and `sightline score trec QRELS RUN`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyclopts import App

from sightline.cli.options import Common, Switch
from sightline.english import counted
from sightline.errors import UserError

if TYPE_CHECKING:
    from rich.table import Table

    from sightline.metrics.scores import Scores
    from sightline.types import Estimate

app = App(name="score", help="Score a run on its benchmark, or TREC files.")


@app.default
def score(
    benchmark: Path,
    run: Path,
    /,
    *,
    metrics: str | None = None,
    level: float = 0.95,
    cluster_by: str = "auto",
    by: str | None = None,
    other_version: Switch = False,
    common: Common = Common(),
) -> None:
    """Score a run on its benchmark, without running anything again; writes scores.json and per_task.csv to the run.

    Of an agent's run it also says why pictures were missed, and which errors were made (attribution.json).

    Parameters
    ----------
    benchmark:
        The folder of the benchmark.
    run:
        The folder of the run.
    metrics:
        Comma-separated names such as ndcg@10,map,f1; computed and shown beside the benchmark's own.
    level:
        Of the intervals.
    cluster_by:
        What tasks are clustered by: auto, none, owner, event, duplicate, or a label.
    by:
        Also show the scores broken down by this label.
    other_version:
        Score although the run was made on another version of the benchmark.
    """
    from sightline.metrics.evaluation import OtherVersionError
    from sightline.metrics.scores import failures_of, notes_of
    from sightline.runs.folder import read_attribution
    from sightline.scoring import score as score_run

    try:
        scores = score_run(
            benchmark,
            run,
            names(metrics),
            level=level,
            seed=common.seed or 0,
            cluster_by=None if cluster_by == "none" else cluster_by,
            allow_other_version=other_version,
            limit=common.limit,
        )
    except OtherVersionError as error:
        raise UserError(error.message, f"{error.fix}, or insist with --other-version") from None
    if by is not None:
        check_label(scores, by)
    # With --limit nothing is written, so what an earlier scoring wrote is not of these tasks.
    missed = None if common.limit is not None else read_attribution(run)
    asked = names(metrics) or scores.metrics
    common.note(f"none of the tasks that were scored is one for {name}" for name in asked if name not in scores.overall)
    if common.json:
        common.print_json({**scores.to_dict(tasks=False), **({} if missed is None else {"attribution": missed})})
        return
    wanted = [name for name in asked if name in scores.overall]
    if wanted:
        common.console.print(estimates_table({name: scores.overall[name] for name in wanted}))
    if by is not None:
        _print_slices(scores, by, common)
    failed = ", ".join(f"{kind} {count:,}" for kind, count in failures_of(scores, wanted).items())
    if failed:
        common.console.print(f"  failures, counted as zero: {failed}", markup=False)
    if missed is not None:
        common.console.print(_missed_table(missed))
    common.warn(notes_of(scores, wanted))


@app.command
def trec(
    qrels: Path,
    run: Path,
    /,
    *,
    metrics: str = "ndcg@10,map,rr,p@10,recall@100",
    intersection: Switch = False,
    level: float = 0.95,
    per_query: Path | None = None,
    common: Common = Common(),
) -> None:
    """Score a TREC run against TREC qrels, straight from the files (.gz too).

    Parameters
    ----------
    qrels:
        Lines of: query 0 document relevance.
    run:
        Lines of: query Q0 document rank score tag.
    metrics:
        Comma-separated names.
    intersection:
        Score only the queries that the run has; otherwise the others count as zero.
    level:
        Of the intervals.
    per_query:
        Also write a CSV file with a row for each query.
    """
    from sightline.metrics.trec.score_files import score_trec_files

    common.ignores_limit()
    result = score_trec_files(
        qrels, run, names(metrics) or (), intersection=intersection, level=level, seed=common.seed or 0
    )
    if per_query is not None:
        from sightline.metrics.trec.score_files import write_per_query

        write_per_query(result, per_query)
    if common.json:
        common.print_json({name: asdict(found) for name, found in result.estimates.items()})
        return
    common.console.print(estimates_table(result.estimates))
    common.console.print(
        f"  {result.queries:,} queries, {result.missing_queries:,} of them not in the run; "
        f"{result.unknown_queries:,} queries of the run are not in the qrels; "
        f"{result.duplicates:,} repeated documents; "
        + ("" if result.unjudged_rate is None else f"{result.unjudged_rate:.1%} of the results unjudged"),
        markup=False,
    )


def names(given: str | None) -> tuple[str, ...] | None:
    """`"a, b"` → ("a", "b"), where a comma inside brackets does not separate."""
    if given is None:
        return None
    found, depth, word = [], 0, ""
    for letter in given + ",":
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth <= 0:
            found.append(word.strip())
            word = ""
        else:
            word += letter
    return tuple(filter(None, found))


def estimates_table(estimates: Mapping[str, Estimate]) -> Table:
    """One metric a line, with its interval."""
    from rich.table import Table

    table = Table(
        "metric", "mean", "interval", "n", "failures", "answered", box=None, header_style="bold", padding=(0, 2)
    )
    for name, found in estimates.items():
        answered = "–" if found.answered is None else f"{found.answered:.3f}"
        interval = found.no_interval or f"[{found.low:.3f}, {found.high:.3f}] {found.level:.0%}"
        table.add_row(
            name, f"{found.mean:.3f}", interval.replace("[", "\\["), f"{found.n:,}", f"{found.failures:,}", answered
        )
    return table


def _missed_table(missed: Mapping[str, Any]) -> Table:
    """Why an agent missed pictures, and which errors its attempts made."""
    from rich.table import Table

    right, attempts = missed["right"], missed["attempts"]
    title = f"{right:,} of {counted(attempts, 'attempt')} {'is' if attempts == 1 else 'are'} right"
    table = Table(
        "missed pictures", "", "wrong attempts", "", box=None, header_style="bold", padding=(0, 2), title=title
    )
    reasons, errors = list(missed["misses"].items()), list(missed["errors"].items())
    for row in range(max(len(reasons), len(errors))):
        cells = [part for side in (reasons, errors) for part in (side[row] if row < len(side) else ("", ""))]
        table.add_row(*(f"{cell:,}" if isinstance(cell, int) else cell for cell in cells))
    return table


def check_label(scores: Scores, by: str) -> None:
    """Refuse a label that no task has."""
    from sightline.errors import UserError

    if by not in scores.by_label:
        raise UserError(f'no task has a label "{by}".', f"labels: {', '.join(scores.by_label) or 'none'}")


def _print_slices(scores: Scores, by: str, common: Common) -> None:
    for value, estimates in scores.by_label[by].items():
        common.console.print(f"  {by}: {value}", markup=False)
        common.console.print(estimates_table(estimates))
