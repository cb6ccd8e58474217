"""Asking a chat model for many things: journaled, within a budget, here or on a cluster; and the price beforehand."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

from sightline.config import Config
from sightline.engine.budget import Budget
from sightline.engine.mapping import Stage
from sightline.engine.plan import StagePlan
from sightline.engine.purposes import purpose
from sightline.engine.spreading import Shared, StageSpec, run_spread
from sightline.errors import StoppedError
from sightline.models.asking import Asking
from sightline.models.chat import chat_in, open_chat
from sightline.types import ChatReply, ChatRequest, Failure

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Ask:
    """One call; `about` is what its ledger lines are for."""

    about: str
    request: ChatRequest


@dataclass(frozen=True, slots=True)
class Gathered(Generic[Item]):
    """What came of many calls: replies and failures with what they were for, and what ended the work early."""

    replies: list[tuple[Item, ChatReply]] = field(default_factory=list)
    failed: list[tuple[Item, Failure]] = field(default_factory=list)
    stopped: StoppedError | None = None

    @property
    def failures(self) -> dict[str, int]:
        """How many of each kind, the most frequent first."""
        return dict(Counter(failure.kind for _, failure in self.failed).most_common())

    @property
    def why_nothing(self) -> str:
        """What was said most often, where nobody answered; else nothing."""
        said = Counter(f"{failure.kind}: {failure.message}" for _, failure in self.failed)
        return said.most_common(1)[0][0].rstrip(".") if said and not self.replies else ""

    def raise_if_stopped(self, done: str) -> None:
        """Say how far it came, after that has been written."""
        if self.stopped is not None:
            said = f"{self.stopped.message.rstrip('. ')}. {done}"
            raise StoppedError(said, self.stopped.fix) from self.stopped


@dataclass(frozen=True, slots=True)
class Desk:
    """Where and how models are asked."""

    workspace: Path
    config: Config
    asking: Asking
    engine: str = "local"

    def gather(self, asks: Sequence[tuple[Item, Ask]], model: str, stage: str) -> Gathered[Item]:
        """Ask for all; what the journal answers costs nothing. A used-up budget ends it with what came so far."""
        asking = self.asking
        if asking.budget is not None and not isinstance(asking.budget, Budget):  # It would not be kept to.
            raise TypeError(f"a stage keeps to an engine.Budget, not to a {type(asking.budget).__name__}")
        told = {"model": model, "config": self.config, "asking": replace(asking, budget=None), "of": stage}
        spec: StageSpec[Ask, ChatReply] = StageSpec(stage, stage_in, told)
        calls = [ask for _, ask in asks]
        found: Gathered[Item] = Gathered()
        try:
            work = run_spread(calls, spec, self.workspace, engine=self.engine, budget=asking.budget)
            for (item, _), (_, reply) in zip(asks, work, strict=True):
                if isinstance(reply, Failure):
                    found.failed.append((item, reply))
                else:
                    found.replies.append((item, reply))
        except StoppedError as stopped:
            return replace(found, stopped=stopped)
        return found

    def check(self, model: str) -> None:
        """Refuse a model that can't be asked, before another is paid; asks nobody."""

        async def opened() -> None:
            async with open_chat(model, self.config, workspace=self.workspace, asking=self.asking):
                pass

        asyncio.run(opened())

    def price(self, requests: Iterable[ChatRequest], model: str, stage: str, calls: int | None = None) -> StagePlan:
        """What a stage would take; with `calls`, the requests stand for so many."""

        async def planned() -> StagePlan:
            asked = replace(self.asking, plan=True)
            async with open_chat(model, self.config, workspace=self.workspace, asking=asked, stage=stage) as caller:
                return caller.plan(requests, calls)

        return asyncio.run(planned())


def stage_in(shared: Shared, *, model: str, config: Config, asking: Asking, of: str) -> Stage[Ask, ChatReply]:
    """The stage in the process that works on it."""
    caller = chat_in(shared, model, config, asking=asking, stage=of)

    async def one(ask: Ask) -> ChatReply | Failure:
        with purpose(ask.about):
            return await caller.reply(ask.request)

    return Stage(of, one, caller.close)


def strict(fields: Mapping[str, Any]) -> dict[str, Any]:
    """A JSON schema of an object: every field required, no other allowed."""
    return {"type": "object", "properties": dict(fields), "required": list(fields), "additionalProperties": False}


def a_list(of: Mapping[str, Any], most: int) -> dict[str, Any]:
    """A JSON schema of a list."""
    return {"type": "array", "items": dict(of), "maxItems": most}


MAX_TOKENS = 4_000
"""The longest reply, thinking included: what bounds a price beforehand."""
TEXT: dict[str, Any] = {"type": "string"}
SURE: dict[str, Any] = {"type": "number", "minimum": 0, "maximum": 1}
