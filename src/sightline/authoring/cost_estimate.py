"""What the stages after `annotate` will cost, told before there is anything to ask them about: from the settings."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from sightline.authoring import judge_photos, query_templates
from sightline.authoring import project as files
from sightline.authoring.annotate import AnnotateStage, TaxonomyStage, has_taxonomy
from sightline.authoring.judge import JudgeStage
from sightline.authoring.judge_pool import check_retrievers
from sightline.authoring.judge_requests import STAGE as JUDGE
from sightline.authoring.judge_requests import JudgeQuestions, group_pool
from sightline.authoring.project import Project
from sightline.authoring.project_files import SeededQuery, read_images, read_seeds
from sightline.authoring.query import STAGE as QUERY
from sightline.authoring.query import QueryStage, chosen_model, query_specs, request
from sightline.authoring.stage import StageResult, free_plan
from sightline.calls.ask_many import price_many
from sightline.calls.plan import CostPlan, StagePlan
from sightline.config import Config
from sightline.english import counted
from sightline.types import Annotation, ChatRequest, Picture

_SAMPLE = 50
"""Calls of which the sizes are looked at; there may be many thousands."""
_SUMMARY = "A red car stands in front of an old house, beside a tree; two people walk by on the wet pavement."
_TAG = "street lamp"
_WORDS = "a red car in front of an old house by the sea"
"""About as long as what is said of a picture, and as a query: only their length matters."""


def estimate_costs(
    annotate: AnnotateStage, query: QueryStage, judge: JudgeStage, project: Project
) -> Iterator[StageResult]:
    """The price of every stage that asks: exact where what it asks about is there, else an estimate that says so."""
    annotated = annotate.run(project)
    if not has_taxonomy(project.config) and annotated.price is not None and annotated.price.stages[0].calls:
        yield TaxonomyStage(annotate.model).run(project)
    yield annotated
    listed, _ = read_images(project.existing(files.IMAGES), project.config)
    pictures = dict(islice(listed.items(), project.limit))
    queries = _queries(project, pictures)
    is_planned = all(project.path(name).is_file() for name in (files.ANNOTATIONS, files.PLAN))
    if is_planned:
        yield query.run(project)
    else:
        yield StageResult(query.name, price=_of_queries(query, queries, pictures, project))
    if is_planned and project.path(files.QUERIES).is_file():
        yield judge.run(project)
    else:
        yield StageResult(judge.name, price=_of_judgments(judge, queries, pictures, project))


def _queries(project: Project, pictures: Iterable[str]) -> list[SeededQuery]:
    """Those that are given; else as many as are to be chosen, whichever pictures that will be."""
    path = project.path(files.SEEDS)
    if path.is_file():
        return list(islice(read_seeds(path, project.config)[0], project.limit))
    return [SeededQuery(f"query_{id_}", (id_,)) for id_ in islice(pictures, project.config.plan.seeds)]


def _of_queries(
    stage: QueryStage, queries: Sequence[SeededQuery], pictures: dict[str, Picture], project: Project
) -> CostPlan:
    config = project.config
    model = chosen_model(stage.model, config)
    if model is None:
        return free_plan(QUERY, query_templates.BY)
    notes = {id_: _likely_note(id_, config) for query in queries[:_SAMPLE] for id_ in query.seeds}
    specs, _ = query_specs(queries[:_SAMPLE], notes, pictures, config)
    asked = [request(spec, model, config) for spec in specs]
    return _estimate(QUERY, asked, len(queries), counted(len(queries), "seed"), model, project)


def _likely_note(id_: str, config: Config) -> Annotation:
    """As long as an annotation by these questions may become."""
    settings = config.annotate
    facets = {name: max(values, key=len) for name, values in settings.taxonomy.items() if values}
    return Annotation(
        id_,
        _SUMMARY,
        facets,
        dict.fromkeys(settings.flags, True),
        tuple(f"{_TAG} {n}" for n in range(settings.max_tags)),
    )


def _of_judgments(
    stage: JudgeStage, queries: Sequence[SeededQuery], pictures: dict[str, Picture], project: Project
) -> CostPlan:
    """As if each tier were filled, and everything that the searches find were new: so at most."""
    size = pool_size(project.config, len(pictures))
    stages: list[StagePlan] = []
    for questions in stage.panel(project):
        if questions.function is not None or questions.model == judge_photos.NAME:
            stages += free_plan(JUDGE, questions.model).stages
            continue
        together = len(next(iter(_groups(questions, list(pictures.values())[:size], project.config))))
        basis = f"{counted(len(queries), 'seed')} × {size:,} pictures at most, {together:,} in a call"
        calls = len(queries) * math.ceil(size / together)
        groups = islice(_groups(questions, list(pictures.values()), project.config), _SAMPLE)
        asked = [questions.request(_WORDS, shown) for shown in groups]
        stages += _estimate(JUDGE, asked, calls, basis, questions.model, project).stages
    return CostPlan(tuple(stages))


def pool_size(config: Config, pictures: int) -> int:
    """How many pictures are judged for a query at most, by the settings."""
    plan, judge = config.plan, config.judge
    tiers = 1 + plan.positives + plan.neutrals + plan.hard + plan.near + plan.easy + plan.random
    found = min(tiers, pictures) + len(check_retrievers(judge)) * judge.depth
    capped = found if judge.max_candidates is None else min(found, judge.max_candidates)
    return min(capped + judge.outside, pictures)


def _groups(questions: JudgeQuestions, pictures: Sequence[Picture], config: Config) -> Iterator[Sequence[Picture]]:
    settings = config.judge
    for group in group_pool("", _WORDS, questions.model, pictures, settings.together, settings.random_seed):
        yield group.pictures


def _estimate(
    stage: str, sample: Sequence[ChatRequest], calls: int, basis: str, model: str, project: Project
) -> CostPlan:
    fresh = project.session.with_calls(fresh=True)  # These very calls will not be made: the journal can't have them.
    found = price_many(sample, model, stage, fresh, calls)
    return CostPlan((replace(found, basis=f"the settings, an estimate: {basis}"),))
