"""What is checked before the first paid call: settings, models, keys and packages that later stages need."""

from __future__ import annotations

from collections.abc import Iterator

from sightline.authoring import annotate, query
from sightline.authoring import project as files
from sightline.authoring.assemble import check_bench
from sightline.authoring.judge import JudgeStage
from sightline.authoring.plan import check_quotas
from sightline.authoring.project import Project
from sightline.authoring.similarity import SimilarityStage
from sightline.calls.chat import open_chat
from sightline.calls.session import Session
from sightline.engine.event_loop import run_async
from sightline.errors import UserError, nearest
from sightline.models.built_in import find_built_in
from sightline.models.embedders.session import EmbedderSession


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
                near = nearest(name, answers)
                hint = f'did you mean "{near}"?' if near else "add it to [annotate.taxonomy] or annotate.flags"
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
