"""`sightline make [DIR]` and its stages, from pictures to review; those that publish are in `make_publish`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from cyclopts import App

from sightline.cli import make_publish as publishing
from sightline.cli.make_common import ChatJob, JudgedJob, MakeJob, OwnQueries, show
from sightline.cli.options import ChatOptions, Common, EndpointArguments, Repeated, Switch
from sightline.errors import UserError

if TYPE_CHECKING:
    from sightline.authoring.pipeline import Made
    from sightline.authoring.stage import StageResult

app = App(name="make", help="Make a benchmark of a folder of pictures, all of it or one stage.")


@app.default
def make(
    directory: Path | None = None,
    /,
    *,
    vectors: Path | None = None,
    own: OwnQueries = OwnQueries(),
    job: ChatJob = ChatJob(),
) -> None:
    """Run the stages one after the other. Run it again to go on after a stop: what is done is not done twice.

    With --queries FILE --out BENCH, make a benchmark of your own queries instead, for people to judge
    (`sightline assess BENCH`); --pool names the systems whose results they see.

    Parameters
    ----------
    directory:
        The folder with the pictures; paths.pictures of the configuration when not given. Nothing is written to it.
    vectors:
        What `sightline embed pictures` wrote, to plan by.
    """
    from sightline.authoring.pipeline import make as make_all

    common, file = job.common, job.places.queries
    if file is None and own != OwnQueries():
        raise UserError("--pool and the like are about your own queries.", "Name their file: --queries FILE.")
    options: dict[str, Any] = {"given": job.places.given()} if file is None else own.options(file)
    made = make_all(
        directory,
        out=job.places.out,
        **options,
        model=job.chat.model,
        vectors=vectors,
        batch=job.batching.wish(),
        watch=lambda result: _show_done(result, common),
        limit=common.limit,
        session=job.session(job.chat.calls(common)),
    )
    if common.json:
        common.print_json(made.to_json())
    elif file is not None:
        more = f"sightline view {made.folder} (or, in the terminal: sightline assess {made.folder})"
        common.note([f"Next step: {more if own.pool else 'the same with --pool NAME=SPEC for each system'}"])
    elif made.bench is not None:
        common.print(f"  next: {_next_step(made)}")


def _next_step(made: Made) -> str:
    from sightline.benchmark.grade import grade_of

    place = quote(str(made.bench))
    if grade_of(made.benchmark()).has_checked_labels:
        return f"sightline run {place} --system retriever --out RUN"
    return f"sightline view {place} (check labels)"


def _show_done(result: StageResult, common: Common) -> None:
    if result.price is None and not common.json:
        show(result, common)
    else:
        common.warn(result.warnings)


@app.command(sort_key=1)
def pictures(directory: Path | None = None, /, *, job: MakeJob = MakeJob()) -> None:
    """List the pictures of a folder, with rights, hashes and metadata, into images.jsonl.

    Parameters
    ----------
    directory:
        The folder with the pictures; paths.pictures of the configuration when not given. Nothing is written to it.
    """
    from sightline.authoring.pictures import PicturesStage

    job.run(PicturesStage(directory))


@app.command(sort_key=2)
def taxonomy(*, job: MakeJob = MakeJob(), chat: ChatOptions = ChatOptions()) -> None:
    """Propose facets, flags and a vocabulary from a sample of the pictures, into the configuration file."""
    from sightline.authoring.annotate import TaxonomyStage

    job.run(TaxonomyStage(chat.model), chat.calls(job.common))


@app.command(sort_key=3)
def annotate(directory: Path | None = None, /, *, job: ChatJob = ChatJob()) -> None:
    """Annotate each picture by the questions of [annotate], into annotations.jsonl.

    Pictures that are annotated already, under the same questions, are not asked about again.

    Parameters
    ----------
    directory:
        A folder whose pictures are listed first, as by `make pictures`.
    """
    from sightline.authoring.annotate import AnnotateStage
    from sightline.authoring.cleanup import run_recorded
    from sightline.authoring.pictures import PicturesStage

    stage = AnnotateStage(job.chat.model, job.batching.wish())
    if directory is not None:
        listed = run_recorded(PicturesStage(directory), job.project(stage.name))
        job.common.warn(listed.warnings)
    job.ask(stage)


@app.command(sort_key=4)
def plan(*, vectors: Path | None = None, job: MakeJob = MakeJob()) -> None:
    """Choose seeds, and the pool of candidates that is judged for each, into query_plan.jsonl. No model is called.

    Parameters
    ----------
    vectors:
        What `sightline embed pictures` wrote: similarity is then that of vectors too.
    """
    from sightline.authoring.plan import PlanStage

    job.run(PlanStage(vectors))


@app.command(sort_key=5)
def query(*, job: ChatJob = ChatJob()) -> None:
    """Write each query from its seeds alone, into queries.jsonl: by a chat model, or by templates when none is set."""
    from sightline.authoring.query import QueryStage

    job.ask(QueryStage(job.chat.model, job.batching.wish()))


@app.command(sort_key=6)
def judge(
    bench: Path | None = None, /, *, panel: Repeated = None, embedder: str | None = None, job: ChatJob = ChatJob()
) -> None:
    """Judge every picture of each pool, into qrels.jsonl, seeds first. Judges see the pictures.

    Pools are deepened with what several searches find. A query whose seed is not relevant, or of which a picture could
    not be judged, goes to set_aside.jsonl with the reason; judging.json says how far judges agree and what is missed.

    With a benchmark, its pool is judged before people do: `sightline assess` then needs fewer of their decisions. The
    grades go to judgments.jsonl, and its labels stay as they are.

    Parameters
    ----------
    bench:
        A benchmark with a pool, as `make --queries --pool` makes it; the project's files when not given.
    panel:
        A judge, such as openai/gpt-5-mini; repeat it for a panel, of which each judges everything.
    embedder:
        The embedder that deepens the pools by vector search; the configured one when not given.
    """
    from sightline.authoring.judge import JudgeStage

    model = job.chat.model
    judges = tuple(panel or ((model,) if model else ()))
    job.ask(JudgeStage(judges, job.batching.wish(), embedder, bench))


@app.command(sort_key=7)
def similarity(
    *, embedder: str | None = None, job: JudgedJob = JudgedJob(), endpoint: EndpointArguments = EndpointArguments()
) -> None:
    """Add the similarity of query and picture to each judged pair, into qrels_with_score.jsonl.

    Parameters
    ----------
    embedder:
        The embedder, such as photos or clip-vit-b32; the configured one when not given.
    """
    from sightline.authoring.similarity import SimilarityStage

    job.run(SimilarityStage(embedder), endpoint.calls(job.common))


@app.command(sort_key=8)
def similarity_retry(
    *, embedder: str | None = None, job: MakeJob = MakeJob(), endpoint: EndpointArguments = EndpointArguments()
) -> None:
    """Compute the similarities that are missing in qrels_with_score.jsonl; all others stay as they are.

    Parameters
    ----------
    embedder:
        The embedder; the same one as before.
    """
    from sightline.authoring.similarity import SimilarityStage

    job.run(SimilarityStage(embedder, retry=True, name="similarity-retry"), endpoint.calls(job.common))


@app.command(sort_key=9)
def audit(bench: Path | None = None, /, *, job: JudgedJob = JudgedJob()) -> None:
    """Audit the benchmark: blind baselines, near-duplicates, one-sided queries, drift, checked labels.

    It is written to audit.json and audit.txt. People's decisions are read from reviews.jsonl.

    Parameters
    ----------
    bench:
        A benchmark that was imported, mined or reviewed; what the project's files make when not given.
    """
    from sightline.authoring.audit import AuditStage

    result = job.result(AuditStage(bench))
    if job.common.json:
        show(result, job.common)
    else:
        job.common.print(result.wrote[1].read_text("utf-8").rstrip())


@app.command(sort_key=10)
def assemble(*, bench: Path | None = None, job: JudgedJob = JudgedJob()) -> None:
    """Assemble the files of the project into a benchmark for `run`, `score` and `publish`.

    Parameters
    ----------
    bench:
        The folder of the benchmark; `benchmark` in the project's folder when not given.
    """
    from sightline.authoring.assemble import AssembleStage

    job.run(AssembleStage(bench))


@app.command(sort_key=11)
def review(
    source: Path | None = None,
    /,
    *,
    bench: Path | None = None,
    people: int = 2,
    accepted_only: Switch = False,
    dry_run: Switch = False,
    job: MakeJob = MakeJob(),
) -> None:
    """Apply people's decisions, as the next version of a benchmark; the version before stays as it is.

    Works on any benchmark, also on one that was imported or mined. Labels that enough people agree on replace those of
    the judges, missed pictures that they found become labels, queries get their better words, and rejected ones are
    left out. review.json in the new folder says what was changed, by whom, and what it was before.

    Parameters
    ----------
    source:
        The benchmark that was reviewed; that of the project when not given.
    bench:
        The folder of the new version; the old one's name with the version behind it when not given.
    people:
        How many people must agree; 1 where one person's decision is enough.
    accepted_only:
        Leave out queries that were not accepted as a whole, too.
    dry_run:
        List what would change, and write nothing.
    """
    from sightline.authoring.review import ReviewStage

    if people < 1:
        raise UserError(f"--people must be at least 1, not {people}.", "Leave it out for one person.")
    if source is not None and job.places.out is not None:
        raise UserError(
            f"--out names the folder of a project, and {source} is the benchmark to review.",
            f"Name the folder of the new version: --bench {job.places.out}",
        )
    job.run(ReviewStage(source, bench, people, accepted_only, dry_run))


_LATER: tuple[Callable[..., None], ...] = (
    publishing.read_batch,
    publishing.add_metadata,
    publishing.summary,
    publishing.publish,
    publishing.takedown,
    publishing.status,
    publishing.check_urls,
    publishing.clean,
)
for _order, _command in enumerate(_LATER, 20):
    app.command(_command, sort_key=_order)
