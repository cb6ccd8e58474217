"""Asking the teachers, and who verifies: the stage of the engine, and its price beforehand."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from sightline.config import Config
from sightline.engine.mapping import Stage
from sightline.engine.plan import Plan, StagePlan
from sightline.engine.purposes import purpose
from sightline.engine.spreading import Shared, StageSpec
from sightline.models.asking import Asking
from sightline.models.caller import Caller
from sightline.models.chat import chat_in, open_chat
from sightline.reason.traces import grounding
from sightline.reason.traces.claims import VERIFIED_EACH
from sightline.reason.traces.nouns import Asked, Question, Rules, Said, Teacher
from sightline.reason.traces.prompts import Prompts
from sightline.reason.traces.replies import said_in
from sightline.types import ChatRequest, Failure, ImagePart, Message

STAGE = "think"
MAX_TOKENS = 4_096
_PLANNED = 2_000
"""Requests that a plan looks at; of more, the first so many stand for the rest."""
_TYPICAL_CLAIM = "The picture shows a brown dog that runs along a wet beach in the evening."


@dataclass(frozen=True, slots=True)
class Settings:
    """Who is asked what, and what makes a good trace."""

    teachers: tuple[Teacher, ...]
    prompts: Prompts = field(default_factory=Prompts)
    verifier: Teacher | None = None
    rules: Rules = field(default_factory=Rules)
    parameters: Mapping[str, Any] = field(default_factory=lambda: {"max_tokens": MAX_TOKENS})
    "Fields of every request to a teacher."

    def about_verifier(self) -> str | None:
        """What quality does not say, where nobody else looked at the pictures."""
        if self.verifier is None:
            return "nobody verified: no claim was compared with its picture, and quality does not say that it is true"
        if self.verifier.name in {teacher.name for teacher in self.teachers}:
            return (
                f"{self.verifier.name} verified what it said itself, with the same mistakes: its quality may be too "
                "high; another --verifier says more"
            )
        return None


def requests_for(
    question: Question, teachers: Iterable[Teacher], parameters: Mapping[str, Any]
) -> Iterator[ChatRequest]:
    """What each teacher is asked."""
    messages = (Message("user", (question.prompt, ImagePart(question.subject.uri))),)
    for teacher in teachers:
        yield ChatRequest(teacher.name, messages, sample=teacher.sample, **parameters)


def spec_of(settings: Settings, config: Config, asking: Asking) -> StageSpec[Question, Asked]:
    """The stage, to be built where the work is done."""
    return StageSpec(STAGE, stage_in, {"settings": settings, "config": config, "asking": replace(asking, budget=None)})


def stage_in(shared: Shared, *, settings: Settings, config: Config, asking: Asking) -> Stage[Question, Asked]:
    """The stage in the process that works on it."""
    callers: dict[tuple[str, str | None, str], Caller] = {}

    def caller(teacher: Teacher, stage: str) -> Caller:
        """One for each server, model and stage: who is asked twice shares limits and circuit breaker."""
        key = (teacher.name, teacher.base_url, stage)
        if key not in callers:
            callers[key] = chat_in(shared, teacher.name, config, asking=_at(asking, teacher), stage=stage)
        return callers[key]

    models = [caller(teacher, STAGE) for teacher in settings.teachers]
    verifier = None if settings.verifier is None else caller(settings.verifier, grounding.STAGE)

    async def one(question: Question) -> Asked:
        with purpose(question.id):
            requests = requests_for(question, settings.teachers, settings.parameters)
            asked = (_ask(model, request) for model, request in zip(models, requests, strict=True))
            # A stop waits for the other teachers' replies: they are paid for.
            came = await asyncio.gather(*asked, return_exceptions=True)
            replies = tuple(_raised(reply) for reply in came)
            if verifier is None:
                return Asked(replies)
            return Asked(replies, await grounding.verify(verifier, question, replies, settings.rules))

    async def close() -> None:
        for opened in callers.values():
            await opened.close()

    return Stage(STAGE, one, close)


def _at(asking: Asking, teacher: Teacher) -> Asking:
    return asking if teacher.base_url is None else replace(asking, base_url=teacher.base_url)


async def _ask(model: Caller, request: ChatRequest) -> Said | Failure:
    return said_in(await model.reply(request))


def _raised(came: Said | Failure | BaseException) -> Said | Failure:
    if isinstance(came, BaseException):
        raise came
    return came


def price(
    questions: Callable[[], Iterable[Question]],
    count: int,
    settings: Settings,
    workspace: Path,
    config: Config,
    asking: Asking,
) -> Plan:
    """What all calls would cost, each teacher by itself, and the verifier with claims of a usual number and length."""

    async def planned() -> Plan:
        stages = []
        for teacher in settings.teachers:
            requests = (
                request
                for question in questions()
                for request in requests_for(question, [teacher], settings.parameters)
            )
            stages.append(await _priced(teacher, STAGE, requests))
        if settings.verifier is not None:
            claims = [_TYPICAL_CLAIM] * (VERIFIED_EACH * len(settings.teachers))
            name = settings.verifier.name
            requests = (grounding.request_for(name, question, claims) for question in questions())
            stages.append(await _priced(settings.verifier, grounding.STAGE, requests))
        return Plan(tuple(stages))

    async def _priced(teacher: Teacher, stage: str, requests: Iterable[ChatRequest]) -> StagePlan:
        asked = replace(_at(asking, teacher), plan=True)
        async with open_chat(teacher.name, config, workspace=workspace, asking=asked, stage=stage) as caller:
            return caller.plan(islice(requests, _PLANNED), None if count <= _PLANNED else count)

    return asyncio.run(planned())
