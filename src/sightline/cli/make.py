"""`sightline make [DIR]` and its stages: pictures, taxonomy, annotate, plan, query, and those of the second half."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cyclopts import App

from sightline.cli.asking import ChatOptions, show_plan
from sightline.cli.common import Common
from sightline.cli.make_common import AskingJob, Job, show

if TYPE_CHECKING:
    from sightline.make.stages import StageResult

app = App(name="make", help="Make a benchmark of a folder of pictures, all of it or one stage.")


@app.default
def make(
    directory: Path | None = None,
    /,
    *,
    vectors: Path | None = None,
    job: AskingJob = AskingJob(),
) -> None:
    """Run the stages one after the other. Run it again to go on after a stop: what is done is not done twice.

    Parameters
    ----------
    directory:
        The folder with the pictures; paths.pictures of the configuration when not given. Nothing is written to it.
    vectors:
        What `sightline embed pictures` wrote, to plan by.
    """
    from sightline.make.making import make as make_all

    opening, asking, common = job.opening, job.asking.asking(job.common), job.common
    made = make_all(
        directory,
        out=opening.out,
        given=opening.given,
        model=job.asking.model,
        vectors=vectors,
        batch=job.batching.wish(),
        engine=job.engine,
        seed=opening.seed,
        limit=opening.limit,
        workspace=opening.workspace,
        config=opening.config,
        asking=asking,
        watch=None if common.json else lambda result: _show_done(result, common),
    )
    if common.json:
        common.warn(made.warnings)
    if made.price is not None:  # All stages in one table, with what they cost together.
        show_plan(made.price, common)
    elif common.json:
        common.print_json(made.to_json())


def _show_done(result: StageResult, common: Common) -> None:
    if result.price is None:
        show(result, common)
    else:
        common.warn(result.warnings)


@app.command(sort_key=1)
def pictures(directory: Path | None = None, /, *, job: Job = Job()) -> None:
    """List the pictures of a folder, with rights, hashes and metadata, into images.jsonl.

    Parameters
    ----------
    directory:
        The folder with the pictures; paths.pictures of the configuration when not given. Nothing is written to it.
    """
    from sightline.make.pictures import PicturesStage

    job.run(PicturesStage(directory))


@app.command(sort_key=2)
def taxonomy(*, job: Job = Job(), asking: ChatOptions = ChatOptions()) -> None:
    """Propose facets, flags and a vocabulary from a sample of the pictures, into the configuration file."""
    from sightline.make.annotate.stage import TaxonomyStage

    job.run(TaxonomyStage(asking.model), asking.asking(job.common))


@app.command(sort_key=3)
def annotate(directory: Path | None = None, /, *, job: AskingJob = AskingJob()) -> None:
    """Say what is in each picture, by the questions of [annotate], into annotations.jsonl.

    Pictures that are annotated already, under the same questions, are not asked about again.

    Parameters
    ----------
    directory:
        A folder whose pictures are listed first, as by `make pictures`.
    """
    from sightline.make.annotate.stage import AnnotateStage
    from sightline.make.clean import run_noted
    from sightline.make.pictures import PicturesStage
    from sightline.models.asking import Asking

    stage = AnnotateStage(job.asking.model, job.batching.wish(), job.engine)
    if directory is not None:
        listed = run_noted(PicturesStage(directory), job.project(stage.name), Asking())
        job.common.warn(listed.warnings)
    job.ask(stage)


@app.command(sort_key=4)
def plan(*, vectors: Path | None = None, job: Job = Job()) -> None:
    """Choose seeds, and the pool of candidates that is judged for each, into query_plan.jsonl. Asks nobody.

    Parameters
    ----------
    vectors:
        What `sightline embed pictures` wrote: similarity is then that of vectors too.
    """
    from sightline.make.plan.stage import PlanStage

    job.run(PlanStage(vectors))


@app.command(sort_key=5)
def query(*, job: AskingJob = AskingJob()) -> None:
    """Word each query from its seeds alone, into queries.jsonl: by a chat model, or by templates when none is set."""
    from sightline.make.query.stage import QueryStage

    job.ask(QueryStage(job.asking.model, job.batching.wish(), job.engine))


for _order, (_name, _line) in enumerate(
    (
        ("judge", "Have every picture of each pool judged by those who see it, into qrels.jsonl."),
        ("similarity", "Add to each judged pair how alike its query and its picture are."),
        ("similarity-retry", "Look again at the pairs that have no similarity."),
        ("audit", "Say what the benchmark is worth: blind baselines, look-alikes, drift, checked labels."),
        ("assemble", "Put the files of the project together into a benchmark."),
        ("review", "Make what people decided count, as a new version of a benchmark."),
    ),
    6,
):
    app.command(f"sightline.cli.make_judging:{_name.replace('-', '_')}", name=_name, help=_line, sort_key=_order)

for _order, (_name, _line) in enumerate(
    (
        ("read-batch", "Take in what a batch answered to benchmaker."),
        ("add-metadata", "Copy what is known of the pictures into annotations and judgments."),
        ("summary", "Count and draw what the benchmark holds: one page, CSV and PNG files."),
        ("publish", "Build the data set as others get it, and put it on the Hugging Face hub."),
        ("takedown", "Publish again without a picture, and name the scores that it touches."),
        ("status", "Say how far the project is, and what comes next."),
        ("check-urls", "Ask for every picture at its web address."),
        ("clean", "Take away files that stages wrote, and nothing else."),
    ),
    20,
):
    app.command(f"sightline.cli.make_publishing:{_name.replace('-', '_')}", name=_name, help=_line, sort_key=_order)
