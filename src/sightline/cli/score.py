"""`sightline score BENCH RUN` and `sightline score trec QRELS RUN`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

from cyclopts import App, Parameter

from sightline.cli.options import Common, EndpointArguments, Switch
from sightline.errors import UserError

TrecFile: TypeAlias = Annotated[Path, Parameter(allow_leading_hyphen=True)]
"""A file, or `-` for standard input."""

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
    judge: str | None = None,
    spending: EndpointArguments = EndpointArguments(),
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
        The level of the intervals.
    cluster_by:
        What tasks are clustered by: auto, none, owner, event, duplicate, or a label.
    by:
        Also show the scores broken down by this label.
    other_version:
        Score although the run was made on another version of the benchmark.
    judge:
        A chat model, such as openai/gpt-5-mini, that judges the answers that rules do not find right; its reasons
        are kept in the run's judged_answers.csv. Fill in the first column there to check and correct it.
    """
    from sightline.metrics.scores import notes_of
    from sightline.metrics.tables import warning_text
    from sightline.scoring import score as score_run

    if spending.plan and judge is None:
        raise UserError("Only a judge costs money here.", "Name one: --judge MODEL.")
    scores = score_run(
        benchmark,
        run,
        metrics,
        level=level,
        seed=common.seed,
        cluster_by=None if cluster_by == "none" else cluster_by,
        allow_other_version=other_version,
        limit=common.limit,
        judge=judge,
        session=None if judge is None else common.session(spending.calls(common)),
    )
    table = scores.table(by)
    left_out = (name for name in scores.asked or scores.metrics if name not in scores.overall)
    common.note(f"none of the tasks that were scored is one for {name}" for name in left_out)
    if common.json:
        common.print_json(scores.to_json())
        return
    common.print(table)
    common.warn((*notes_of(scores, scores.shown), *map(warning_text, scores.warnings)))


@app.command
def trec(
    qrels: TrecFile,
    run: TrecFile,
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
        Lines of: query 0 document relevance. "-" is standard input.
    run:
        Lines of: query Q0 document rank score tag. "-" is standard input.
    metrics:
        Comma-separated names.
    intersection:
        Score only the queries that the run has; otherwise the others count as zero.
    level:
        The level of the intervals.
    per_query:
        Also write a CSV file with a row for each query.
    """
    from sightline.metrics.trec.score_files import score_trec

    common.ignores_limit()
    result = score_trec(
        qrels,
        run,
        metrics,
        intersection=intersection,
        level=level,
        seed=common.seed or 0,
        per_query=per_query,
    )
    common.show(result)
