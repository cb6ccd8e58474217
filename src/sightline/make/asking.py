"""What every stage that asks a chat model shares: a price before, and a batch at half the price."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from sightline.config.making import AskingSettings
from sightline.engine import EngineChoice
from sightline.engine.plan import Plan, Range, StagePlan
from sightline.errors import StoppedError, UserError
from sightline.make.project import Project
from sightline.models.asking import Asking
from sightline.models.batches.desk import Desk, Making, Requests
from sightline.models.batches.following import EVERY, LONGEST, Tell
from sightline.models.batches.job import MANIFEST
from sightline.models.batches.making import MAX_REQUESTS


@dataclass(frozen=True, slots=True)
class BatchWish:
    """How a batch is followed: how often the server is asked, how long, and whether to wait at all."""

    wait: bool = True
    every: float = EVERY
    deadline: float = LONGEST
    tell: Tell = lambda _: None


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
