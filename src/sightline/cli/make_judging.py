"""`sightline make judge|similarity|similarity-retry|audit|assemble`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from sightline.cli.asking import ChatOptions, Endpoint
from sightline.cli.common import Common, EngineOption
from sightline.cli.make_common import Batching, Places, run_stage

if TYPE_CHECKING:
    from sightline.make.project import Project

Many = Annotated[list[str] | None, Parameter(consume_multiple=False, negative="")]
Qrels = Annotated[Path | None, Parameter(help="The judgments, ours or benchmaker's qrels.jsonl.", group="Files")]


def judge(
    *,
    panel: Many = None,
    embedder: str | None = None,
    engine: EngineOption = "local",
    places: Places = Places(),
    batching: Batching = Batching(),
    asking: ChatOptions = ChatOptions(),
    common: Common = Common(),
) -> None:
    """Have every picture of each pool judged by those who see it, into qrels.jsonl, seeds first.

    Pools are deepened with what several searches find. A query whose seed is not relevant, or of which a picture could
    not be judged, goes to set_aside.jsonl with the reason; judging.json says how far judges agree and what is missed.

    Parameters
    ----------
    panel:
        A judge, such as openai/gpt-5-mini; repeat it for a panel, of which each judges everything.
    embedder:
        Who searches by vectors, to deepen the pools; the configured one when not given.
    """
    from sightline.make.judge import JudgeStage
    from sightline.make.project import JUDGMENTS

    judges = tuple(panel or ((asking.model,) if asking.model else ()))
    project = _seeded(places.project(common, JUDGMENTS), common)
    run_stage(JudgeStage(judges, batching.wish(), engine, embedder), project, asking.asking(common), common)


def similarity(
    *,
    embedder: str | None = None,
    qrels: Qrels = None,
    places: Places = Places(),
    endpoint: Endpoint = Endpoint(),
    common: Common = Common(),
) -> None:
    """Add to each judged pair how alike its query and its picture are, into qrels_with_score.jsonl.

    Parameters
    ----------
    embedder:
        Who compares them, such as photos or clip-vit-b32; the configured one when not given.
    """
    _similarity(embedder, qrels, places, endpoint, common, retry=False)


def similarity_retry(
    *,
    embedder: str | None = None,
    places: Places = Places(),
    endpoint: Endpoint = Endpoint(),
    common: Common = Common(),
) -> None:
    """Look again at the pairs of qrels_with_score.jsonl that have no similarity; all others stay as they are.

    Parameters
    ----------
    embedder:
        Who compares them; the same one as before.
    """
    _similarity(embedder, None, places, endpoint, common, retry=True)


def audit(*, qrels: Qrels = None, places: Places = Places(), common: Common = Common()) -> None:
    """Say what the benchmark is worth: blind baselines, look-alikes, lopsided queries, drift, checked labels.

    The whole of it goes to audit.json and audit.txt. What people decided is read from reviews.jsonl.
    """
    from sightline.make.audit import AuditStage
    from sightline.make.clean import run_noted
    from sightline.models.asking import Asking

    project = _seeded(_given(places.project(common), qrels), common)
    result = run_noted(AuditStage(), project, Asking())
    if common.json:
        common.warn(result.warnings)
        common.print_json(result.to_json())
    else:
        common.console.print(result.wrote[1].read_text("utf-8").rstrip(), markup=False, soft_wrap=True)


def assemble(
    *, bench: Path | None = None, qrels: Qrels = None, places: Places = Places(), common: Common = Common()
) -> None:
    """Put the files of the project together into a benchmark that `run`, `score` and `publish` take.

    Parameters
    ----------
    bench:
        The folder of the benchmark; `benchmark` in the project's folder when not given.
    """
    from sightline.make.assemble import AssembleStage
    from sightline.models.asking import Asking

    run_stage(AssembleStage(bench), _given(places.project(common), qrels), Asking(), common)


def _similarity(
    embedder: str | None, qrels: Path | None, places: Places, endpoint: Endpoint, common: Common, *, retry: bool
) -> None:
    from sightline.make.project import SIMILARITY
    from sightline.make.similarity import SimilarityStage

    project = _given(places.project(common, SIMILARITY), qrels)
    name = "similarity-retry" if retry else "similarity"
    run_stage(SimilarityStage(embedder, retry, name), project, endpoint.asking(common), common)


def _given(project: Project, qrels: Path | None) -> Project:
    """The project with its judgments elsewhere."""
    from sightline.make.project import JUDGMENTS

    return project if qrels is None else replace(project, given={**project.given, JUDGMENTS: qrels})


def _seeded(project: Project, common: Common) -> Project:
    if common.seed is None:
        return project
    judging = project.config.judge.model_copy(update={"random_seed": common.seed})
    return replace(project, config=project.config.model_copy(update={"judge": judging}))
