"""Questions about single pictures (ImageMining's way): chains of facts, and only what needs both picture and search."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from sightline.agent.web import Web, WebPage
from sightline.calls.ask_many import Ask, price_many
from sightline.calls.session import Session
from sightline.engine.plan import Plan
from sightline.errors import StoppedError, UserError
from sightline.mine import parsing, web_pages
from sightline.mine.asking import gather
from sightline.mine.chains import Chain, Walk
from sightline.mine.nouns import Clue
from sightline.mine.question_tasks import Mined, Question, worded
from sightline.models.caller import Caller
from sightline.models.chat import open_chat
from sightline.score.answers import match_answer
from sightline.types import (
    Answer,
    ChatReply,
    ChatRequest,
    ImagePart,
    Message,
    Picture,
)

STAGE = "mine-questions"
KEPT, NO_CHAIN, LEAK = "kept", "no chain was found", "the question names what is on the way"
BLIND, CLOSED = "answered without the picture", "answered without search"
UNASKED = "a filter could not be asked"
_NAMES = ("text", "landmark")
_SHORT = "Answer in a few words. If you can't know it, say that you don't know.\n\n"
_ANSWER_TOKENS = 1_000
_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class QuestionSettings:
    """How questions are mined; each filter asks `tries` times, and one right answer is enough to refuse."""

    model: str
    count: int = 20
    hops: int = 5
    tries: int = 3
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Starts:
    """Names to start from, and calls that failed, by kind."""

    clues: list[Clue]
    failures: Mapping[str, int] = field(default_factory=dict)


def starts(pictures: Sequence[Picture], model: str, session: Session, seed: int = 0, sure: float = 0.5) -> Starts:
    """Names that pictures show, each once, in random order: words on signs, and landmarks.

    A picture that shows several of a kind starts nothing: it would not be clear which is meant.
    """
    asks = [(picture, parsing.ask_for(picture, model)) for picture in pictures]
    came = gather(asks, model, parsing.STAGE, session)
    came.raise_if_stopped(f"{len(came.replies):,} of {len(pictures):,} pictures were read.")
    if came.why_nothing:
        raise UserError(
            f"no picture could be read, of {len(pictures):,}; {came.why_nothing}.", "choose another --model"
        )
    named: dict[str, Clue] = {}
    for picture, reply in came.replies:
        clues = parsing.reading_of(picture.id, reply, model).clues
        kinds = Counter(clue.kind for clue in clues)
        for clue in clues:
            if clue.kind in _NAMES and kinds[clue.kind] == 1 and clue.confidence >= sure:
                named.setdefault(clue.key, clue)
    return Starts(Random(f"questions {seed}").sample(list(named.values()), len(named)), came.failures)


def plan_questions(pictures: Sequence[Picture], settings: QuestionSettings, session: Session) -> Plan:
    """What reading the pictures and asking the filters would cost; how many pages' pictures are read is not known."""
    if not pictures:
        raise UserError("there are no pictures to ask about.", "scan some first: sightline scan DIR")
    model, first = settings.model, ImagePart(pictures[0].uri)
    read = (parsing.ask_for(picture, model).request for picture in pictures)
    asked = [ChatRequest(model, (Message("user", (_SHORT * 4, first)),), max_tokens=_ANSWER_TOKENS)]
    filters = price_many(asked, model, STAGE, session, 2 * settings.tries * settings.count)
    return Plan((price_many(read, model, parsing.STAGE, session), filters))


def mine_questions(
    clues: Sequence[Clue], pictures: Mapping[str, Picture], web: Web, settings: QuestionSettings, session: Session
) -> Mined:
    """Follow the clues until enough questions are kept; all calls are journaled. The web is closed at the end."""

    async def work() -> Mined:
        place, asking = session.workspace, session.asking
        try:
            async with open_chat(settings.model, session.config, workspace=place, asking=asking, stage=STAGE) as caller:
                return await _Miner(caller, web, pictures, settings).all(clues)
        finally:
            await web.close()

    return asyncio.run(work())


class _Miner:
    def __init__(self, caller: Caller, web: Web, pictures: Mapping[str, Picture], settings: QuestionSettings) -> None:
        self._caller, self._web, self._pictures, self._settings = caller, web, pictures, settings
        self._failures: Counter[str] = Counter()

    async def all(self, clues: Sequence[Clue]) -> Mined:
        found: list[Question] = []
        counts: Counter[str] = Counter()
        for first in range(0, len(clues), _AT_ONCE):
            part = clues[first : first + _AT_ONCE]
            # A stop waits for what is under way: it is paid for.
            came = await asyncio.gather(*(self._one(clue) for clue in part), return_exceptions=True)
            for result in came:
                if isinstance(result, StoppedError):
                    return Mined(tuple(found), dict(counts), dict(self._failures), result)
                if isinstance(result, BaseException):
                    raise result
                counts["starts"] += 1
                counts[_outcome(result)] += 1
                if result is not None:
                    found.append(replace(result, id=f"question-{len(found) + 1:03}"))
            if counts[KEPT] >= self._settings.count:
                break
        return Mined(tuple(found), dict(counts), dict(self._failures))

    async def _one(self, clue: Clue) -> Question | None:
        rng = Random(f"{self._settings.seed} {clue.key}")
        walk = Walk(self._web, self._facts, self._names, self._settings.hops, rng)
        chain = await walk.chain_from(clue)
        if chain is None:
            return None
        text = worded(chain)
        return Question("", clue.picture, text, chain, tuple(await self._reasons(text, chain)))

    async def _reasons(self, text: str, chain: Chain) -> list[str]:
        said = text.casefold()
        if any(name.casefold() in said for name in (*chain.names, chain.answer)):
            return [LEAK]
        picture = ImagePart(self._pictures[chain.clue.picture].uri)
        for reason, content in ((BLIND, (_SHORT + text,)), (CLOSED, (_SHORT + text, picture))):
            known = await self._answers(content, Answer(chain.answer))
            if known is not False:
                return [UNASKED if known is None else reason]
        return []

    async def _answers(self, content: tuple[str | ImagePart, ...], truth: Answer) -> bool | None:
        """Whether the model knows it, in any of several tries; None where it does not answer one of them."""
        for sample in range(self._settings.tries):
            said = (Message("user", content),)
            request = ChatRequest(self._settings.model, said, sample=sample, max_tokens=_ANSWER_TOKENS)
            reply = await self._reply(request)
            if reply is None:
                return None
            if match_answer(truth, reply.text).matched:
                return True
        return False

    async def _reply(self, request: ChatRequest) -> ChatReply | None:
        """A reply; a failure is counted."""
        reply = await self._caller.reply(request)
        if isinstance(reply, ChatReply):
            return reply
        self._failures[reply.kind] += 1
        return None

    async def _facts(self, page: WebPage) -> Sequence[web_pages.PageFact]:
        listed = web_pages.listed_facts(page)
        if listed:
            return listed
        reply = await self._reply(web_pages.facts_request(page, self._settings.model))
        return () if reply is None else web_pages.told_facts(page, reply.parsed)

    async def _names(self, url: str, data: bytes) -> Sequence[str]:
        """Names that can be read in a picture of a page."""
        ask: Ask = parsing.ask_about(url, ImagePart(url, data), self._settings.model)
        reply = await self._reply(ask.request)
        if reply is None:
            return ()
        reading = parsing.reading_of(url, reply, self._settings.model)
        return [clue.name for clue in reading.clues if clue.kind in _NAMES]


def _outcome(question: Question | None) -> str:
    if question is None:
        return NO_CHAIN
    return question.reasons[0] if question.reasons else KEPT
