"""All stages, or one, by one call: what `sightline make` does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sightline.authoring import project as files
from sightline.authoring.annotate import AnnotateStage, TaxonomyStage
from sightline.authoring.assemble import FOLDER, AssembleStage
from sightline.authoring.audit import AuditStage
from sightline.authoring.cleanup import run_recorded
from sightline.authoring.cost_estimate import estimate_costs
from sightline.authoring.judge import JudgeStage
from sightline.authoring.pictures import PicturesStage
from sightline.authoring.plan import PlanStage
from sightline.authoring.project import Project, ProjectLoader
from sightline.authoring.publish import PublishStage
from sightline.authoring.query import QueryStage
from sightline.authoring.review import ReviewStage
from sightline.authoring.similarity import SimilarityStage
from sightline.authoring.stage import AuthoringStage, BatchOptions, StageResult, counts_text
from sightline.authoring.summary import SummaryStage
from sightline.benchmark.files import HEADER
from sightline.benchmark.folder import read_benchmark
from sightline.calls.plan import CostPlan, DryRunError, priced
from sightline.calls.session import Session
from sightline.display import Table, html_table, quiet
from sightline.engine.user_functions import UserFunction
from sightline.english import counted
from sightline.errors import UserError, did_you_mean, nearest
from sightline.io.files import PathLike, as_path, optional_path
from sightline.models.protocols import Embedder
from sightline.types import Benchmark

if TYPE_CHECKING:
    from sightline.authoring.query_sample import QueryLog
    from sightline.runs.systems.base import System
from sightline.authoring import annotate, query
from sightline.authoring.assemble import check_bench
from sightline.authoring.plan import check_quotas
from sightline.calls.chat import open_chat
from sightline.engine.event_loop import run_async
from sightline.models.built_in import find_built_in
from sightline.models.embedders.session import EmbedderSession

STAGES: Mapping[str, Callable[[Path | None, StageOptions], AuthoringStage]] = {
    "pictures": lambda folder, _: PicturesStage(folder),
    "taxonomy": lambda _, by: TaxonomyStage(by.model),
    "annotate": lambda _, by: AnnotateStage(by.model, by.batch),
    "plan": lambda _, by: PlanStage(by.vectors),
    "query": lambda _, by: QueryStage(by.model, by.batch),
    "judge": lambda _, by: JudgeStage(by.panel, by.batch, by.embedder),
    "similarity": lambda _, by: SimilarityStage(by.embedder),
    "similarity-retry": lambda _, by: SimilarityStage(by.embedder, retry=True, name="similarity-retry"),
    "audit": lambda *_: AuditStage(),
    "assemble": lambda *_: AssembleStage(),
    "review": lambda *_: ReviewStage(),
    "summary": lambda *_: SummaryStage(),
    "publish": lambda *_: PublishStage(dry_run=True),
}
"""The stages that can be named; what is sent to the hub is sent by a `PublishStage` that says so."""
_ALL = ("pictures", "annotate", "plan", "query", "judge", "similarity", "audit", "assemble")


@dataclass(frozen=True, slots=True)
class StageOptions:
    """By whom and by what the stages are done, as far as the configuration does not say it."""

    model: str | None = None
    judges: tuple[str | UserFunction, ...] = ()
    "The model judges when empty."
    embedder: str | Embedder | None = None
    vectors: Path | None = None
    batch: BatchOptions | None = None

    @property
    def panel(self) -> tuple[str | UserFunction, ...]:
        return self.judges or (() if self.model is None else (self.model,))


def one_stage(name: str, folder: Path | None, by: StageOptions) -> AuthoringStage:
    """The stage of that name."""
    if name not in STAGES:
        raise UserError(f'there is no stage "{name}".', did_you_mean(name, STAGES, f"There are: {', '.join(STAGES)}"))
    return STAGES[name](folder, by)


def priced_stages(listing: AuthoringStage, by: StageOptions, project: Callable[[], Project]) -> Iterator[StageResult]:
    """The pictures are listed, which costs nothing; then the price of each stage that asks, as far as it is known."""
    yield run_recorded(listing, project())
    yield from estimate_costs(
        AnnotateStage(by.model, by.batch),
        QueryStage(by.model, by.batch),
        JudgeStage(by.panel, by.batch, by.embedder),
        project(),
    )


def run_stages(stages: Iterable[AuthoringStage], project: Callable[[], Project]) -> Iterator[StageResult]:
    """Each stage's result as it comes; `project` is asked for again, because a stage may write to the configuration."""
    for stage in stages:
        yield run_recorded(stage, project())


@dataclass(frozen=True, slots=True, repr=False)
class Made(Table[StageResult]):
    """What the stages did, in their order, which are its rows, and the project's folder."""

    folder: Path
    stages: tuple[StageResult, ...]

    @property
    def warnings(self) -> tuple[str, ...]:
        return tuple(warning for stage in self.stages for warning in stage.warnings)

    @property
    def usd(self) -> float | None:
        """What all of it cost; None where a price is not known."""
        costs = [stage.usd for stage in self.stages]
        return None if None in costs else sum(cost for cost in costs if cost is not None)

    @property
    def price(self) -> CostPlan | None:
        """What all of it would cost, if it was only asked for that."""
        stages = tuple(one for stage in self.stages if stage.price is not None for one in stage.price.stages)
        return CostPlan(stages) if stages else None

    @property
    def bench(self) -> Path | None:
        """The folder of the benchmark, once it is assembled."""
        wrote = [path for stage in self.stages if stage.stage == "assemble" for path in stage.wrote]
        places = (*wrote[-1:], self.folder / FOLDER, self.folder)
        return next((place for place in places if (place / HEADER).is_file()), None)

    def benchmark(self) -> Benchmark:
        """The benchmark itself."""
        if self.bench is None:
            raise UserError(f"{self.folder} has no benchmark yet.", "assemble it: sightline make assemble")
        return read_benchmark(self.bench)

    def to_json(self) -> dict[str, Any]:
        """For `--json`."""
        return {"stages": [stage.to_json() for stage in self.stages]}

    def records(self) -> list[dict[str, Any]]:
        """One flat record for each stage: what it counted, what failed, what it cost."""
        return [
            {
                "stage": stage.stage,
                "counts": counts_text(stage.counts),
                "failures": sum(stage.failures.values()),
                "usd": stage.usd,
                "seconds": stage.seconds,
                "wrote": [str(path) for path in stage.wrote],
            }
            for stage in self.stages
        ]

    def __str__(self) -> str:
        return "\n".join(map(str, self.stages))

    def _rows(self) -> Sequence[StageResult]:
        return self.stages

    def _line(self) -> str:
        return f"{self.folder}: {counted(len(self.stages), 'stage')}"

    def _blocks(self) -> Iterable[str]:
        rows = [
            (one["stage"], one["counts"], f"{one['failures']:,}", _usd(one["usd"]), f"{one['seconds']:.1f} s")
            for one in self.records()
        ]
        yield html_table(("stage", "counts", "failures", "cost", "time"), rows, numeric={2, 3, 4}, most=100)
        if self.bench is not None:
            yield quiet(f"Benchmark: {self.bench}")


def _usd(cost: float | None) -> str:
    return "not known" if cost is None else f"${cost:.4f}"


@priced
def make(
    pictures: PathLike | None = None,
    stage: str | AuthoringStage | None = None,
    *,
    out: PathLike | None = None,
    given: Mapping[str, PathLike] | None = None,
    model: str | None = None,
    judges: str | Sequence[str | UserFunction] = (),
    embedder: str | Embedder | None = None,
    vectors: PathLike | None = None,
    batch: BatchOptions | None = None,
    queries: PathLike | QueryLog | None = None,
    pool: Mapping[str, PathLike | System | Embedder | UserFunction] | None = None,
    depth: int = 10,
    watch: Callable[[StageResult], None] | None = None,
    seed: int | None = None,
    limit: int | None = None,
    workspace: PathLike | None = None,
    session: Session | None = None,
) -> Made:
    """Make a benchmark of a folder of pictures: all stages, or the one that is named. Run it again to resume.

    Parameters
    ----------
    pictures:
        The folder with the pictures, which is never written to; `paths.pictures` of the configuration when not given.
    stage:
        The name of a stage, or a stage with settings or of your own, such as `PublishStage(dry_run=True)`; all stages
        when not given. With a folder, `annotate` lists its pictures first.
    out:
        The project's folder, `WORKSPACE/make/NAME` when not given; or, ending in .jsonl, the file that a stage writes.
    given:
        Files that lie elsewhere, such as {"annotations": "A.jsonl"}.
    model:
        The chat model that annotates, words queries and judges; as configured, else "builtin/photos", when not given.
    judges:
        Models that judge, or functions of `(query, picture)` that return a grade; `model` when not given. What a
        function raises is counted as a failure.
    embedder:
        Who compares queries and pictures; the configured one when not given.
    vectors:
        What `embed` wrote, to plan by.
    batch:
        Ask in a provider's batch, at half the price.
    queries:
        A file of your own queries, or a `QueryLog` that says how it is read: `out` is then a benchmark of them that
        people have still to judge, and no model is asked.
    pool:
        With `queries`: systems whose results are to be judged, by name. What `run` takes, or a run that is there: its
        folder, a file (TREC, ranx, CSV) or a folder of these. They are kept in `runs` of the benchmark's folder.
    depth:
        With `pool`: how many results of each system are to be judged.
    watch:
        Is told of each stage when it is done.
    seed:
        Makes random choices repeatable; the session's, else as configured, when not given.
    limit:
        Take only the first pictures or queries.
    workspace, session:
        Where it works and how models are called. The configuration's file is read again before each stage; it is
        `sightline.toml` where the session has no configuration.

    Returns
    -------
    Made
        What each stage did; `benchmark()` reads what it made. A budget that is used up raises `StoppedError`.

    Examples
    --------
    >>> import sightline
    >>> made = sightline.make("pictures", "pictures", out="project", workspace="ws")
    >>> made.stages[0].counts["pictures"]
    6
    """
    session = Session.of(session, workspace)
    random = session.seed if seed is None else seed
    if queries is not None:
        options = {"depth": depth, "seed": random, "limit": limit, "session": session}
        return _of_queries(queries, pool or {}, pictures, out, watch=watch or (lambda _: None), **options)
    place, folder = optional_path(out, "the project's folder"), optional_path(pictures, "a folder of pictures")
    loader = ProjectLoader(session, place, _named(given or {}), random, limit)
    panel = (judges,) if isinstance(judges, str) else tuple(judges)
    by = StageOptions(model, panel, embedder, optional_path(vectors, "a file of vectors"), batch)
    stages = _chosen(stage, folder, by)
    name = None if stage is None else stages[-1].name
    results = run_stages(stages, lambda: loader.project(name))
    if stage is None:
        check_settings(loader.project())
        if session.calls.plan:
            results = priced_stages(stages[0], by, loader.project)
        else:
            check_models(loader.project(), model, JudgeStage(by.panel, batch), SimilarityStage(embedder))
    done = []
    for result in results:
        done.append(result)
        if watch is not None:
            watch(result)
    made = Made(loader.project(name).folder, tuple(done))
    if made.price is not None:  # All stages in one table, with what they cost together.
        raise DryRunError(made.price)
    return made


def _of_queries(
    log: PathLike | QueryLog, pool: Mapping[str, Any], pictures: PathLike | None, out: PathLike | None, **options: Any
) -> Made:
    from sightline.authoring.queries_from_life import make_from_queries

    if out is None:
        raise UserError("No folder is given for the benchmark.", "sightline make DIR --queries FILE --out BENCH")
    place, folder = as_path(out, "the folder of the benchmark"), optional_path(pictures, "a folder of pictures")
    return Made(place, tuple(make_from_queries(log, pool, folder, place, **options)))


def _chosen(stage: str | AuthoringStage | None, folder: Path | None, by: StageOptions) -> tuple[AuthoringStage, ...]:
    if stage is None:
        meant = None if folder is None or folder.exists() else nearest(str(folder), STAGES)
        if meant is not None:
            raise UserError(f"there is no folder {folder}, and no stage of that name.", f'did you mean "{meant}"?')
        return (*(STAGES[name](folder, by) for name in _ALL), SummaryStage(png=False))
    chosen = one_stage(stage, folder, by) if isinstance(stage, str) else stage
    if folder is None or chosen.name == "pictures":
        return (chosen,)
    if chosen.name != "annotate":
        raise UserError(f"the stage {chosen.name} takes no folder of pictures.", 'list them first, by stage="pictures"')
    return one_stage("pictures", folder, by), chosen


def _named(given: Mapping[str, PathLike]) -> dict[str, Path]:
    for name in given:
        if name not in files.FILES:
            hint = did_you_mean(name, files.FILES, f"There are: {', '.join(files.FILES)}")
            raise UserError(f'a project has no file called "{name}".', hint)
    return {name: as_path(path, f"the file of {name}") for name, path in given.items()}


def check_settings(project: Project) -> None:
    """Refuse settings that a later stage could not work by."""
    config = project.config
    check_bench(project)
    check_quotas(config.plan)
    if not annotate.has_taxonomy(config) or project.path(files.ANNOTATIONS).is_file():
        return
    answers = {*config.annotate.taxonomy, *config.annotate.flags}
    for setting in ("core_facets", "off_facets", "diversity_facets"):
        for name in getattr(config.plan, setting):
            if name not in answers:
                hint = did_you_mean(name, answers, "Add it to [annotate.taxonomy] or annotate.flags.")
                raise UserError(f'plan.{setting} names "{name}", which no annotation will have.', hint)


def check_models(project: Project, model: str | None, judging: JudgeStage, similarity: SimilarityStage) -> None:
    """Open every model that a stage will ask, where one of them is paid for; nothing is sent.

    A missing key or package is then an error before anything is paid, and not after the annotations.
    """
    asked = dict.fromkeys(_chat_models(project, model, judging))
    if not asked:
        return
    for name in asked:
        run_async(_open(name, project.session))
    similarity.check(project)
    if project.config.plan.embedder is not None:
        with EmbedderSession(project.config.plan.embedder, project.session.with_calls(base_url=None, api=None)):
            pass


def _chat_models(project: Project, model: str | None, judging: JudgeStage) -> Iterator[str]:
    named = [annotate.chosen_model(model, project.config), query.chosen_model(model, project.config)]
    named += [judge.model for judge in judging.panel(project) if judge.function is None]
    yield from (name for name in named if name is not None and find_built_in(name) is None)


async def _open(name: str, session: Session) -> None:
    async with open_chat(name, session):
        pass
