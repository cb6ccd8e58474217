"""Pictures of a pool, shuffled and cut into calls; and one call with what came of it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from sightline.make.judge.questions import Questions, Said
from sightline.make.judge.verdicts import Verdict
from sightline.models.batches.desk import Requests
from sightline.models.built_in import find_built_in
from sightline.models.protocols import ChatModel
from sightline.models.structured import ask_again
from sightline.types import ChatReply, Failure, Picture

STAGE = "judge"
_ONE_BY_ONE = frozenset({"wrong-schema", "bad-picture", "length", "content-filter", "refused", "bad-request"})
"""What one picture of several can be the cause of: each is then asked about alone."""


@dataclass(frozen=True, slots=True)
class Group:
    """Pictures that one judge sees in one call, in this order."""

    query: str
    text: str
    judge: str
    pictures: tuple[Picture, ...]


@dataclass(frozen=True, slots=True)
class Judged:
    """What came of a group: verdicts, and a failure for each picture without one."""

    verdicts: tuple[Verdict, ...] = ()
    failures: Mapping[str, Failure] = field(default_factory=dict)
    usd: float | None = 0.0


def group_pool(query: str, text: str, judge: str, pool: Sequence[Picture], size: int, seed: int) -> Iterator[Group]:
    """The pool in an order of its own for each judge, so that no picture always comes first."""
    declared = find_built_in(judge)
    size = size if declared is None else min(size, declared.pictures_at_once)
    shuffled = sorted(pool, key=lambda picture: picture.id)
    Random(f"{seed}/{query}/{judge}").shuffle(shuffled)
    for start in range(0, len(shuffled), size):
        yield Group(query, text, judge, tuple(shuffled[start : start + size]))


@dataclass(frozen=True, slots=True)
class JudgeJob:
    """The job of judging groups by a chat model."""

    questions: Questions
    stage: str = STAGE

    @property
    def model(self) -> str:
        return self.questions.model

    def about(self, group: Group) -> str:
        return group.query

    async def answer(self, model: ChatModel, group: Group) -> Judged:
        return await judge_group(model, self.questions, group)


def batch_requests(groups: Sequence[Group], questions: Questions) -> Requests:
    """The calls with their ids, from the first on each time that they are asked for."""
    numbers: dict[str, int] = {}
    ids = []
    for group in groups:
        numbers[group.query] = numbers.get(group.query, 0) + 1
        ids.append(f"{STAGE}::{group.query}::{numbers[group.query]}")
    return lambda: (
        (id_, questions.request(group.text, group.pictures)) for id_, group in zip(ids, groups, strict=True)
    )


async def judge_group(model: ChatModel, questions: Questions, group: Group) -> Judged:
    """Ask about a group; where a picture may be to blame for a failure, about each picture alone."""
    found, usd = await _ask(model, questions, group)
    if isinstance(found, list):
        return Judged(tuple(_verdicts(found, questions, group)), usd=usd)
    if len(group.pictures) == 1 or found.kind not in _ONE_BY_ONE:
        return Judged(failures={picture.id: found for picture in group.pictures}, usd=usd)
    verdicts: list[Verdict] = []
    failures: dict[str, Failure] = {}
    for picture in group.pictures:
        alone = Group(group.query, group.text, group.judge, (picture,))
        said, more = await _ask(model, questions, alone)
        usd = None if usd is None or more is None else usd + more
        if isinstance(said, list):
            verdicts += _verdicts(said, questions, alone)
        else:
            failures[picture.id] = said
    return Judged(tuple(verdicts), failures, usd)


async def _ask(model: ChatModel, questions: Questions, group: Group) -> tuple[list[Said] | Failure, float | None]:
    """Once, and once more with what was wrong; what both cost."""
    count, request = len(group.pictures), questions.request(group.text, group.pictures)
    first = await model.reply(request)
    found, usd = questions.read(first, count), _paid(first)
    if isinstance(found, list) or found.kind != "wrong-schema":
        return found, usd
    said = first if isinstance(first, ChatReply) else None
    again = await model.reply(ask_again(request, found.message, said))
    more = _paid(again)
    return questions.read(again, count), None if usd is None or more is None else usd + more


def _paid(reply: ChatReply | Failure) -> float | None:
    """What was spent now; what a failed call cost is in the ledger."""
    return 0.0 if isinstance(reply, Failure) or reply.from_journal else reply.usd


def _verdicts(said: Sequence[Said], questions: Questions, group: Group) -> Iterator[Verdict]:
    now = time.time()
    for place, (one, picture) in enumerate(zip(said, group.pictures, strict=True), 1):
        yield Verdict(
            task=group.query,
            picture=picture.id,
            judge=group.judge,
            grade=one.grade,
            confidence=one.confidence,
            reason=one.reason,
            place=place,
            shown=len(group.pictures),
            at=round(now, 3),
            key=questions.key(group.text, picture),
        )
