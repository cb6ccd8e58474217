"""Asking the teachers, and who verifies: the stage of the engine, and its price beforehand."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sightline.calls.ask_many import Chat, price_first
from sightline.calls.session import Session
from sightline.engine.plan import Plan
from sightline.models.caller import Caller
from sightline.reason.traces import grounding
from sightline.reason.traces.claims import VERIFIED_EACH
from sightline.reason.traces.nouns import Asked, Question, Rules, Said, Teacher
from sightline.reason.traces.prompts import Prompts
from sightline.reason.traces.replies import said_in
from sightline.types import ChatRequest, Failure, ImagePart, Message

STAGE = "think"
MAX_TOKENS = 4_096
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


@dataclass(frozen=True, slots=True)
class ThinkJob:
    """The job of asking every teacher, and then who verifies."""

    settings: Settings
    stage: str = STAGE

    @property
    def model(self) -> str:
        return self.settings.teachers[0].name

    def about(self, question: Question) -> str:
        return question.id

    async def answer(self, chat: Chat, question: Question) -> Asked:
        settings = self.settings
        requests = requests_for(question, settings.teachers, settings.parameters)
        models = [chat.of(teacher.name, base_url=teacher.base_url) for teacher in settings.teachers]
        asked = (_ask(model, request) for model, request in zip(models, requests, strict=True))
        # A stop waits for the other teachers' replies: they are paid for.
        came = await asyncio.gather(*asked, return_exceptions=True)
        replies = tuple(_raised(reply) for reply in came)
        if settings.verifier is None:
            return Asked(replies)
        verifier = chat.of(settings.verifier.name, stage=grounding.STAGE, base_url=settings.verifier.base_url)
        return Asked(replies, await grounding.verify(verifier, question, replies, settings.rules))


async def _ask(model: Caller, request: ChatRequest) -> Said | Failure:
    return said_in(await model.reply(request))


def _raised(came: Said | Failure | BaseException) -> Said | Failure:
    if isinstance(came, BaseException):
        raise came
    return came


def price(questions: Callable[[], Iterable[Question]], count: int, settings: Settings, session: Session) -> Plan:
    """What all calls would cost, each teacher by itself, and the verifier with claims of a usual number and length."""
    stages = []
    for teacher in settings.teachers:
        requests = (
            request for question in questions() for request in requests_for(question, [teacher], settings.parameters)
        )
        stages.append(price_first(requests, teacher.name, STAGE, _at(session, teacher), count))
    if settings.verifier is not None:
        claims = [_TYPICAL_CLAIM] * (VERIFIED_EACH * len(settings.teachers))
        name = settings.verifier.name
        requests = (grounding.request_for(name, question, claims) for question in questions())
        stages.append(price_first(requests, name, grounding.STAGE, _at(session, settings.verifier), count))
    return Plan(tuple(stages))


def _at(session: Session, teacher: Teacher) -> Session:
    if teacher.base_url is None:
        return session
    return replace(session, asking=replace(session.asking, base_url=teacher.base_url))
