"""The stages by their names, and several of them one after the other over the same project."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from sightline.errors import UserError, nearest
from sightline.make import project as files
from sightline.make.annotate.stage import AnnotateStage, TaxonomyStage, has_taxonomy
from sightline.make.asking import BatchWish
from sightline.make.assemble.stage import AssembleStage, check_bench
from sightline.make.audit.stage import AuditStage
from sightline.make.clean import run_noted
from sightline.make.foreseeing import foresee
from sightline.make.judge.stage import JudgeStage
from sightline.make.pictures import PicturesStage
from sightline.make.plan.stage import PlanStage, check_quotas
from sightline.make.project import Project
from sightline.make.publish.stage import PublishStage
from sightline.make.query.stage import QueryStage
from sightline.make.review.stage import ReviewStage
from sightline.make.similarity.stage import SimilarityStage
from sightline.make.stages import Stage, StageResult
from sightline.make.summary.stage import SummaryStage
from sightline.models.asking import Asking
from sightline.models.protocols import Embedder


@dataclass(frozen=True, slots=True)
class Means:
    """By whom and by what the stages are done, as far as the configuration does not say it."""

    model: str | None = None
    judges: tuple[str, ...] = ()
    "The model judges when empty."
    embedder: str | Embedder | None = None
    vectors: Path | None = None
    batch: BatchWish | None = None
    engine: str = "local"

    @property
    def panel(self) -> tuple[str, ...]:
        return self.judges or (() if self.model is None else (self.model,))


STAGES: Mapping[str, Callable[[Path | None, Means], Stage]] = {
    "pictures": lambda folder, _: PicturesStage(folder),
    "taxonomy": lambda _, by: TaxonomyStage(by.model),
    "annotate": lambda _, by: AnnotateStage(by.model, by.batch, by.engine),
    "plan": lambda _, by: PlanStage(by.vectors),
    "query": lambda _, by: QueryStage(by.model, by.batch, by.engine),
    "judge": lambda _, by: JudgeStage(by.panel, by.batch, by.engine, by.embedder),
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


def all_stages(folder: Path | None, by: Means) -> tuple[Stage, ...]:
    """From a folder to an audited benchmark and the page about it; what is published is a step of its own."""
    return (*(STAGES[name](folder, by) for name in _ALL), SummaryStage(png=False))


def one_stage(name: str, folder: Path | None, by: Means) -> Stage:
    """The stage of that name."""
    if name not in STAGES:
        near = nearest(name, STAGES)
        hint = f'did you mean "{near}"?' if near else f"there are: {', '.join(STAGES)}"
        raise UserError(f'there is no stage "{name}".', hint)
    return STAGES[name](folder, by)


def check_settings(project: Project) -> None:
    """Refuse settings that a later stage could not work by, before an earlier one has been paid for."""
    config = project.config
    check_bench(project)
    check_quotas(config.plan)
    if not has_taxonomy(config) or project.path(files.ANNOTATIONS).is_file():
        return
    answers = {*config.annotate.taxonomy, *config.annotate.flags}
    for setting in ("core_facets", "off_facets", "diversity_facets"):
        for name in getattr(config.plan, setting):
            if name not in answers:
                near = nearest(name, answers)
                hint = f'did you mean "{near}"?' if near else "add it to [annotate.taxonomy] or annotate.flags"
                raise UserError(f'plan.{setting} names "{name}", which no annotation will have.', hint)


def priced_stages(listing: Stage, by: Means, project: Callable[[], Project], asking: Asking) -> Iterator[StageResult]:
    """The pictures are listed, which costs nothing; then the price of each stage that asks, as far as it is known."""
    yield run_noted(listing, project(), asking)
    yield from foresee(
        AnnotateStage(by.model, by.batch, by.engine),
        QueryStage(by.model, by.batch, by.engine),
        JudgeStage(by.panel, by.batch, by.engine, by.embedder),
        project(),
        asking,
    )


def run_stages(stages: Iterable[Stage], project: Callable[[], Project], asking: Asking) -> Iterator[StageResult]:
    """Each stage's result as it comes; `project` is asked for anew, because a stage may write to the configuration."""
    for stage in stages:
        yield run_noted(stage, project(), asking)
