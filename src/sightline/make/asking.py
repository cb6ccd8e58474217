"""What every stage that asks a chat model shares: a price before, and a batch at half the price."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from sightline.config import Config
from sightline.config.making import AskingSettings
from sightline.engine import EngineChoice
from sightline.engine.budget import Budget
from sightline.engine.plan import Plan, Range, StagePlan
from sightline.errors import StoppedError, UserError
from sightline.make.project import Project
from sightline.models.asking import Asking
from sightline.models.batches.desk import Desk, Making, Requests
from sightline.models.batches.following import EVERY, LONGEST, Tell
from sightline.models.batches.job import MANIFEST
from sightline.models.batches.making import MAX_REQUESTS
from sightline.models.chat import open_chat
from sightline.types import ChatRequest


@dataclass(frozen=True, slots=True)
class BatchWish:
    """How a batch is followed: how often the server is asked, how long, and whether to wait at all."""

    wait: bool = True
    every: float = EVERY
    deadline: float = LONGEST
    tell: Tell = lambda _: None


def price(
    requests: Iterable[ChatRequest],
    model: str,
    config: Config,
    workspace: Path,
    asking: Asking,
    stage: str,
    *,
    calls: int | None = None,
) -> Plan:
    """What these calls would cost, or so many `calls` like them; nobody is asked."""

    async def planned() -> Plan:
        asked = replace(asking, plan=True)
        async with open_chat(model, config, workspace=workspace, asking=asked, stage=stage) as caller:
            return Plan((caller.plan(requests, calls),))

    return asyncio.run(planned())


def budget_of(asking: Asking) -> Budget | None:
    """The budget, as the engine shares it out; any other purse would be ignored there, so it is refused."""
    if asking.budget is None or isinstance(asking.budget, Budget):
        return asking.budget
    raise TypeError(f"a stage keeps to an engine.Budget, not to a {type(asking.budget).__name__}")


def free(stage: str, who: str) -> Plan:
    """The price of what asks no server."""
    nothing = Range(0.0, 0.0, 0.0)
    return Plan((StagePlan(stage, who, 0, 0, nothing, nothing, nothing, None, "done on this machine"),))


def refuse_elsewhere(model: str, batch: BatchWish | None, engine: str) -> None:
    """For a model that is no chat model: it looks at pictures in this process, and nowhere else."""
    if batch is not None:
        raise UserError(f"{model} works on this machine, and has no batches.", "leave --batch out")
    if EngineChoice.parse(engine).kind != "local":
        raise UserError(
            f"{model} works on this machine, in this process: there is nothing for --engine {engine} to spread.",
            "leave --engine out, or ask a chat model: --model …",
        )


def batch_first(
    requests: Requests,
    model: str,
    stage: str,
    settings: AskingSettings,
    project: Project,
    asking: Asking,
    wish: BatchWish,
) -> None:
    """Have a provider's batch answer into the journal; the same requests are the same job, in `batches/`.

    What a batch leaves unanswered is asked for live afterwards. Without waiting, nothing is answered yet: that ends
    with `StoppedError`, and the next call goes on with the same job.
    """
    desk = Desk(project.workspace, project.config, asking, wish.tell)
    job = project.folder / "batches" / f"{stage}-{_fingerprint(requests)}"
    if not (job / MANIFEST).is_file():
        job.parent.mkdir(parents=True, exist_ok=True)
        making = Making(stage, settings.batch_size or MAX_REQUESTS, window=settings.batch_window)
        desk.make(requests, model, job, making)
    desk.submit(job)
    if not wish.wait:
        raise StoppedError(
            f"the batches of {job} are submitted; nothing is answered yet, so nothing was written.",
            "later, run the same command without --no-wait: it goes on with them",
        )
    desk.wait(job, wish.every, wish.deadline)
    desk.download(job)
    desk.parse(job, partial=True)


def _fingerprint(requests: Requests) -> str:
    """What tells one job from another: ids, words and where pictures lie."""
    found = hashlib.sha256()
    for id_, request in requests():
        found.update(f"{id_}\0{request!r}\0".encode("utf-8", "surrogatepass"))
    return found.hexdigest()[:12]
