"""Several stages, one after the other, over the same project."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from sightline.make.annotate.stage import AnnotateStage
from sightline.make.asking import BatchWish
from sightline.make.assemble.stage import AssembleStage
from sightline.make.audit.stage import AuditStage
from sightline.make.clean import run_noted
from sightline.make.judge.stage import JudgeStage
from sightline.make.pictures import PicturesStage
from sightline.make.plan.stage import PlanStage
from sightline.make.project import Project
from sightline.make.query.stage import QueryStage
from sightline.make.similarity.stage import SimilarityStage
from sightline.make.stages import Stage, StageResult
from sightline.make.summary.stage import SummaryStage
from sightline.models.asking import Asking


def first_stages(
    folder: Path | None = None,
    *,
    model: str | None = None,
    batch: BatchWish | None = None,
    engine: str = "local",
    vectors: Path | None = None,
) -> tuple[Stage, ...]:
    """From a folder to planned and worded queries."""
    return (
        PicturesStage(folder),
        AnnotateStage(model, batch, engine),
        PlanStage(vectors),
        QueryStage(model, batch, engine),
    )


def judging_stages(
    *, judges: tuple[str, ...] = (), batch: BatchWish | None = None, engine: str = "local"
) -> tuple[Stage, ...]:
    """From planned and worded queries to an audited benchmark."""
    return (JudgeStage(judges, batch, engine), SimilarityStage(), AuditStage(), AssembleStage())


def all_stages(
    folder: Path | None = None,
    *,
    model: str | None = None,
    batch: BatchWish | None = None,
    engine: str = "local",
    vectors: Path | None = None,
) -> tuple[Stage, ...]:
    """From a folder to an audited benchmark and the page about it; what is published is a step of its own."""
    judges = () if model is None else (model,)
    return (
        *first_stages(folder, model=model, batch=batch, engine=engine, vectors=vectors),
        *judging_stages(judges=judges, batch=batch, engine=engine),
        SummaryStage(png=False),
    )


def run_stages(
    stages: Iterable[Stage],
    project: Callable[[], Project],
    asking: Asking,
) -> Iterator[StageResult]:
    """Each stage's result as it comes; `project` is asked for anew, because a stage may write to the configuration."""
    for stage in stages:
        yield run_noted(stage, project(), asking)
