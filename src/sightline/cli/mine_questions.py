"""`sightline mine questions [WORKSPACE] --web W --model M --out BENCH`: questions about single pictures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from sightline.cli.asking import Positive, show_plan
from sightline.cli.common import Common, EngineOption
from sightline.cli.mine_common import Job, Workspace, failed
from sightline.english import counted
from sightline.errors import UserError

if TYPE_CHECKING:
    from sightline.agent.web import Web


def questions(
    workspace: Workspace = None,
    /,
    *,
    web: str,
    out: Path | None = None,
    count: Positive = 20,
    hops: Annotated[int, Parameter(validator=Number(gte=3, lte=8))] = 5,
    tries: Positive = 3,
    engine: EngineOption = "local",
    job: Job = Job(),
) -> None:
    """Mine questions about single pictures: chains of facts on the web, with a picture of a page on the way.

    Parameters
    ----------
    web:
        Which web: searxng:URL, serper, brave, mcp:…, frozen:FILE, or world:FOLDER for the web of a drawn world.
    out:
        The folder of the benchmark.
    count:
        Questions that are kept at most.
    hops:
        Facts of a chain at most.
    tries:
        How often the model is asked without the picture, and without search; one right answer refuses a question.
    """
    from sightline.corpus.view import open_corpus
    from sightline.mine.assembling import QUESTIONS, check_place
    from sightline.mine.files import QUESTIONS as FILE
    from sightline.mine.files import Files
    from sightline.mine.question_tasks import write_questions
    from sightline.mine.questions import QuestionSettings, mine_questions, plan_questions, starts
    from sightline.mine.spending import billed

    session, common = job.session(workspace, engine), job.common
    place, model = session.workspace, job.asking.chosen(session.config.annotate.model)
    scanned = open_corpus(place).pictures
    pictures = dict(islice(((each.id, each) for each in scanned.values()), common.limit))
    settings = QuestionSettings(model, count, hops, tries, common.seed or 0)
    if job.asking.plan:
        show_plan(plan_questions(list(pictures.values()), settings, session), common)
        return
    if out is None:
        raise UserError("there is no place for the benchmark.", "say where: --out BENCH")
    check_place(out, QUESTIONS, scanned)
    opened = _web(web, place, common)
    with billed(place) as bill:
        found = starts(list(pictures.values()), model, session, settings.seed)
        mined = mine_questions(found.clues, pictures, opened, settings, session)
    Files(place / "mine").write(FILE, mined.questions)
    failures = Counter(found.failures) + Counter(mined.failures)
    card = {"mined_by": model, "web": web.partition(":")[0]}
    benchmark = write_questions(out, mined, pictures, count, card, copied=_web_files(web))
    if common.json:
        told = {"counts": dict(mined.counts), "failures": dict(failures), **bill.to_json()}
        common.print_json({"tasks": len(benchmark.tasks), **told, "out": str(out)})
    else:
        counts = ", ".join(f"{name} {number:,}" for name, number in mined.counts.items())
        lines = [f"{counts} · {bill}", *failed(failures), f"{counted(len(benchmark.tasks), 'question')} → {out}"]
        common.console.print("\n".join(f"  {line}" for line in lines), markup=False, soft_wrap=True)
    if mined.stopped is not None:
        raise mined.stopped


def _web(spec: str, workspace: Path, common: Common) -> Web:
    """A web by its address, with what was seen kept in the workspace; or one that lies in a folder."""
    from sightline.agent.web import open_web
    from sightline.agent.webs import FROZEN, offline_web

    kind, _, folder = spec.partition(":")
    offline = offline_web(kind)
    if offline is not None:
        return offline.of_folder(folder)
    return open_web(spec, freeze=workspace / FROZEN, local_only=common.local_only)


def _web_files(spec: str) -> Mapping[str, Path]:
    """What of a web has to lie with the benchmark, so that agents find it there by its name."""
    from sightline.agent.webs import offline_web

    kind, _, folder = spec.partition(":")
    offline = offline_web(kind)
    return {} if offline is None else offline.files(folder)
