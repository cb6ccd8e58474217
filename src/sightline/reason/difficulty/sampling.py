"""Asking one question several times: presets of the request, the stage of the engine, and its price beforehand."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sightline.calls.caller import paid_now
from sightline.metrics.context import Context
from sightline.metrics.registry import metric
from sightline.models.protocols import ChatModel
from sightline.models.providers import parse_name
from sightline.reason.difficulty.pass_rate import BucketRule
from sightline.reason.questions import TaskQuestion, content_of, has_right_option
from sightline.types import ChatReply, ChatRequest, Failure, ImagePart, Json, Message, TaskKind, Text

# Those whose API has a word for it; others refuse what they don't know.
_REPETITION = frozenset(("vllm", "vllm-local", "sglang", "openrouter", "transformers"))
STAGE = "difficulty"
KINDS: frozenset[TaskKind] = frozenset(("choose", "answer"))
UNREAD = "unread"
NO_RIGHT_OPTION = "no-right-option"
"""Why a question is not asked: its truth is none of its options, so that every reply would be wrong."""
UNFINISHED = frozenset({"length", "endless", "repetition", "empty", "refused"})
"""Failures that are a model's own reply: it came, was paid for, and gives no answer. All others brought none."""
_METRIC: Mapping[TaskKind, str] = {"choose": "accuracy", "answer": "answer"}
_FORM: Mapping[TaskKind, str] = {
    "choose": (
        "\n\nDecide which option is most likely right, and reply in this form:\n"
        "Your option: X\n"
        "Reason: one or two sentences\n"
        "X is the key of the option."
    ),
    "answer": "\n\nEnd with the line\nThe final answer is: ANSWER.\nKeep the answer short.",
}


@dataclass(frozen=True, slots=True)
class Preset:
    """Settings of every sample; `repetition` is a penalty (1: none), `most_pictures` what a question may show."""

    name: str
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = 512
    repetition: float | None = None
    most_pictures: int | None = None

    def parameters(self, model: str) -> dict[str, Any]:
        """Fields of a request to this model."""
        extra: dict[str, Json] = {}
        if self.repetition is not None and takes_repetition(model):
            extra["repetition_penalty"] = self.repetition
        return {
            "temperature": self.temperature,
            "top_p": self.top_p,
            "max_tokens": self.max_tokens,
            "extra": extra,
        }

    def notes(self, model: str) -> tuple[str, ...]:
        """What of it can't be asked of this model."""
        if self.repetition is None or takes_repetition(model):
            return ()
        return (f"{model} takes no repetition penalty: {self.repetition:g} is left out",)


def takes_repetition(model: str) -> bool:
    """Has this model's server a word for a repetition penalty?"""
    return parse_name(model).provider.name in _REPETITION


PRESETS: Mapping[str, Preset] = {
    preset.name: preset
    for preset in (
        Preset("mir", temperature=0.7, top_p=0.8, max_tokens=512, repetition=1.05, most_pictures=20),
        Preset("own"),
    )
}
"""`mir` is how MIR drew its samples; `own` leaves all but the length to the model."""


@dataclass(frozen=True, slots=True)
class SamplingSettings:
    """Who is asked, how, and how often."""

    model: str
    rule: BucketRule = field(default_factory=BucketRule)
    preset: Preset = PRESETS["mir"]


@dataclass(frozen=True, slots=True)
class SampleCounts:
    """What came of one question: right replies, replies, and what could not be counted.

    `options` counts what was chosen (`unread` where none could be read: no pass); `unfinished` are those
    of the replies that were cut off, empty or refused, by kind: none of them passes. `failures` are calls that brought
    no reply, by kind: they are not samples. `usd` is what is known of the money that was spent now, also on those:
    `unpriced` ones cost more. `right`: did each reply pass, in their order?
    """

    passes: int = 0
    replies: int = 0
    options: Mapping[str, int] = field(default_factory=dict)
    unfinished: Mapping[str, int] = field(default_factory=dict)
    failures: Mapping[str, int] = field(default_factory=dict)
    usd: float = 0.0
    unpriced: int = 0
    right: tuple[bool, ...] = ()

    def first_rate(self, rule: BucketRule) -> float:
        """The rate over the replies that are asked for whatever they say; an early stop does not bend it."""
        first = self.right[: min(rule.least, rule.samples)]
        return sum(first) / len(first) if first else 0.0


def sample_content(question: TaskQuestion, preset: Preset) -> tuple[str | ImagePart, ...] | Failure:
    """What the model is shown and asked."""
    if not has_right_option(question.task, question.truth):
        return Failure(NO_RIGHT_OPTION, "the truth is none of the options")
    count = len(question.task.shown)
    if preset.most_pictures is not None and count > preset.most_pictures:
        return Failure("too-many-pictures", f"{count} pictures, and {preset.most_pictures} may be shown")
    shown = content_of(question)
    return shown if isinstance(shown, Failure) else (*shown, _FORM[question.task.kind])


def request_for(content: tuple[str | ImagePart, ...], settings: SamplingSettings, sample: int) -> ChatRequest:
    """One sample; its number is part of the call, so that each is asked and paid for once."""
    message = Message("user", content)
    return ChatRequest(settings.model, (message,), sample=sample, **settings.preset.parameters(settings.model))


@dataclass(frozen=True, slots=True)
class SamplingJob:
    """The job of asking questions several times."""

    settings: SamplingSettings
    stage: str = STAGE

    @property
    def model(self) -> str:
        return self.settings.model

    def about(self, question: TaskQuestion) -> str:
        return question.task.id

    async def answer(self, model: ChatModel, question: TaskQuestion) -> SampleCounts | Failure:
        content = sample_content(question, self.settings.preset)
        if isinstance(content, Failure):
            return content
        return await sample(model, question, content, self.settings)


async def sample(
    model: ChatModel, question: TaskQuestion, content: tuple[str | ImagePart, ...], settings: SamplingSettings
) -> SampleCounts:
    """Ask until the rule is satisfied; as many at once as can't be too many."""
    came: list[ChatReply | Failure] = []
    found, rule = SampleCounts(), settings.rule
    while len(came) < rule.samples and (wanted := rule.more(found.passes, found.replies)):
        numbers = range(len(came), min(len(came) + wanted, rule.samples))
        calls = [model.reply(request_for(content, settings, number)) for number in numbers]
        # A stop waits for the other samples: they are paid for.
        for reply in await asyncio.gather(*calls, return_exceptions=True):
            if isinstance(reply, BaseException):
                raise reply
            came.append(reply)
        found = counted(question, came)
    return found


def counted(question: TaskQuestion, came: Sequence[ChatReply | Failure]) -> SampleCounts:
    """Replies as passes; what was chosen is read by the option parser of `score`, but not from one that was cut off."""
    replies = [reply for reply in came if isinstance(reply, ChatReply) or reply.kind in UNFINISHED]
    failed = Counter(reply.kind for reply in came if isinstance(reply, Failure))
    costs = [paid_now(reply) for reply in came]
    right = tuple(isinstance(reply, ChatReply) and is_right(question, reply.text) for reply in replies)
    return SampleCounts(
        passes=sum(right),
        replies=len(replies),
        options=dict(sorted(Counter(_chosen(question, reply) for reply in replies).items())),
        unfinished={kind: count for kind, count in failed.items() if kind in UNFINISHED},
        failures={kind: count for kind, count in failed.items() if kind not in UNFINISHED},
        usd=sum(usd or 0.0 for usd in costs),
        unpriced=costs.count(None),
        right=right,
    )


def is_right(question: TaskQuestion, text: str) -> bool:
    """Does a reply give the right answer?"""
    task = question.task
    return metric(_METRIC[task.kind])(question.truth, Text(text), Context(task=task)) == 1.0


def _chosen(question: TaskQuestion, reply: ChatReply | Failure) -> str:
    if isinstance(reply, Failure):
        return UNREAD
    if question.task.kind != "choose":
        return "right" if is_right(question, reply.text) else "wrong"
    from sightline.metrics.choices.parse import parse_choice  # Its patterns take time to compile.

    return parse_choice(reply.text, question.task.options).option or UNREAD


def requests_for(question: TaskQuestion, settings: SamplingSettings) -> Iterator[ChatRequest | Failure]:
    """All samples of a question, for a plan: an early stop asks fewer."""
    content = sample_content(question, settings.preset)
    if isinstance(content, Failure):
        yield content
    else:
        yield from (request_for(content, settings, number) for number in range(settings.rule.samples))
