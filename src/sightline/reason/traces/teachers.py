"""Teachers: the requests that are sent to them and to the verifier, their price beforehand, and parsed replies."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sightline.calls.ask_many import JobChat, price_first
from sightline.calls.caller import Caller
from sightline.calls.plan import CostPlan
from sightline.calls.session import Session
from sightline.models.failures import failure
from sightline.models.thinking import split_thinking
from sightline.reason.traces import grounding
from sightline.reason.traces.claims import VERIFIED_EACH
from sightline.reason.traces.questions import Prompts
from sightline.reason.traces.records import (
    CUT_OFF,
    NO_USAGE,
    Teacher,
    TeacherReplies,
    TeacherReply,
    TraceQuestion,
    TraceRules,
)
from sightline.types import ChatReply, ChatRequest, Failure, ImagePart, Message, Partial

# What templates put around the answer, or around a part of the thinking; it says nothing more.
_WRAPPED = re.compile(
    r"</?(?:answer|response|output|conclusion|solution|final(?:[_-]?answer)?|reflection|step)>"
    r"|<\|(?:begin|end)_of_(?:box|text|solution)\|>|<\|(?:im_end|eot_id|endoftext|eom_id|end_of_turn)\|>|<end_of_turn>",
    re.IGNORECASE,
)
# What begins and ends a text for some models, and was left in the reply.
_BEGIN, _ENDS = "<s>", ("</s>", "[e~[")
STAGE = "think"
MAX_TOKENS = 4_096
_TYPICAL_CLAIM = "The picture shows a brown dog that runs along a wet beach in the evening."


def parse_reply(reply: ChatReply | Failure) -> TeacherReply | Failure:
    """Thinking and answer of a reply, whatever tags they came in; without an answer it is a failure.

    What came of a reply that was cut off or declined is said, too: its `finish` tells that it is not a trace.
    """
    if isinstance(reply, Failure):
        return _cut_off(reply)
    thinking, answer = _apart(reply)
    if not answer:
        empty = failure("empty", "the model thought, but gave no answer")
        return replace(empty, usage=reply.usage, usd=reply.usd)
    return TeacherReply(thinking, answer, reply.finish, reply.usage, reply.usd)


def _cut_off(failed: Failure) -> TeacherReply | Failure:
    thinking, answer = ("", "") if failed.partial is None else _apart(failed.partial)
    if failed.kind not in CUT_OFF or not (thinking or answer):
        return failed
    return TeacherReply(thinking, answer, failed.kind, failed.usage or NO_USAGE, failed.usd)


def _apart(reply: ChatReply | Partial) -> tuple[str, str]:
    """What stands in tags of steps is thinking as well, unless no answer would be left."""
    if reply.thinking and not reply.text.lstrip().startswith("<"):  # The server has parted it: a tag is only spoken of.
        return _unwrapped(reply.thinking), _unwrapped(reply.text)
    split = split_thinking(reply.text, steps=True)
    if not _unwrapped(split.answer):
        split = split_thinking(reply.text)
    thinking = "\n\n".join(filter(None, (reply.thinking, split.thinking)))
    return _unwrapped(thinking), _unwrapped(split.answer)


def _unwrapped(text: str) -> str:
    found = (_WRAPPED.sub("", text) if "<" in text else text).strip()
    while found.endswith(_ENDS):
        for end in _ENDS:
            found = found.removesuffix(end).rstrip()
    return found.removeprefix(_BEGIN).lstrip()


@dataclass(frozen=True, slots=True)
class TraceSettings:
    """Who is asked what, and what makes a good trace."""

    teachers: tuple[Teacher, ...]
    prompts: Prompts = field(default_factory=Prompts)
    verifier: Teacher | None = None
    rules: TraceRules = field(default_factory=TraceRules)
    parameters: Mapping[str, Any] = field(default_factory=lambda: {"max_tokens": MAX_TOKENS})
    "Fields of every request to a teacher."

    def about_verifier(self) -> str | None:
        """What quality does not say, where nobody else looked at the pictures."""
        if self.verifier is None:
            return "no verifier: no claim was compared with its picture, and quality does not say that it is true"
        if self.verifier.name in {teacher.name for teacher in self.teachers}:
            return (
                f"{self.verifier.name} verified what it said itself, with the same mistakes: its quality may be too "
                "high; another --verifier says more"
            )
        return None


def requests_for(
    question: TraceQuestion, teachers: Iterable[Teacher], parameters: Mapping[str, Any]
) -> Iterator[ChatRequest]:
    """What each teacher is asked."""
    messages = (Message("user", (question.prompt, ImagePart(question.subject.uri))),)
    for teacher in teachers:
        yield ChatRequest(teacher.name, messages, sample=teacher.sample, **parameters)


@dataclass(frozen=True, slots=True)
class ThinkJob:
    """The job of asking every teacher, and then who verifies."""

    settings: TraceSettings
    stage: str = STAGE

    @property
    def model(self) -> str:
        return self.settings.teachers[0].name

    def about(self, question: TraceQuestion) -> str:
        return question.id

    async def answer(self, chat: JobChat, question: TraceQuestion) -> TeacherReplies:
        settings = self.settings
        requests = requests_for(question, settings.teachers, settings.parameters)
        models = [chat.of(teacher.name, base_url=teacher.base_url) for teacher in settings.teachers]
        asked = (_ask(model, request) for model, request in zip(models, requests, strict=True))
        # A stop waits for the other teachers' replies: they are paid for.
        came = await asyncio.gather(*asked, return_exceptions=True)
        replies = tuple(_raised(reply) for reply in came)
        if settings.verifier is None:
            return TeacherReplies(replies)
        verifier = chat.of(settings.verifier.name, stage=grounding.STAGE, base_url=settings.verifier.base_url)
        return TeacherReplies(replies, await grounding.verify(verifier, question, replies, settings.rules))


async def _ask(model: Caller, request: ChatRequest) -> TeacherReply | Failure:
    return parse_reply(await model.reply(request))


def _raised(came: TeacherReply | Failure | BaseException) -> TeacherReply | Failure:
    if isinstance(came, BaseException):
        raise came
    return came


def price_traces(
    questions: Callable[[], Iterable[TraceQuestion]], count: int, settings: TraceSettings, session: Session
) -> CostPlan:
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
    return CostPlan(tuple(stages))


def _at(session: Session, teacher: Teacher) -> Session:
    if teacher.base_url is None:
        return session
    return replace(session, calls=replace(session.calls, base_url=teacher.base_url))
