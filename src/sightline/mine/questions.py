"""Questions about single pictures (ImageMining's way): chains of facts, and only what needs both picture and search."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from random import Random

from sightline.agent.web import Web, WebPage
from sightline.bench import write
from sightline.engine.plan import Plan
from sightline.errors import StoppedError, UserError
from sightline.mine import parsing, web_pages
from sightline.mine.asking import Ask, Desk
from sightline.mine.chains import Chain, Hop, Walk
from sightline.mine.nouns import Clue
from sightline.models.caller import Caller
from sightline.models.chat import open_chat
from sightline.score.answers import match_answer
from sightline.types import (
    Answer,
    Benchmark,
    ChatReply,
    ChatRequest,
    Corpus,
    ImagePart,
    Json,
    Message,
    Picture,
    PictureRef,
    Step,
    Task,
)

STAGE = "mine-questions"
KEPT, NO_CHAIN, LEAK = "kept", "no chain was found", "the question names what is on the way"
BLIND, CLOSED = "answered without the picture", "answered without search"
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
class Question:
    """A question with the chain to its answer; reasons against it, if there are any."""

    id: str
    picture: str
    text: str
    chain: Chain
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Mined:
    """What came of the starts: questions kept and refused, and how many starts had no chain."""

    questions: tuple[Question, ...]
    counts: Mapping[str, int] = field(default_factory=dict)
    stopped: StoppedError | None = None
    "What ended the work early, if anything did; what is here is valid."

    @property
    def kept(self) -> tuple[Question, ...]:
        return tuple(question for question in self.questions if not question.reasons)


def starts(pictures: Sequence[Picture], model: str, desk: Desk, seed: int = 0, sure: float = 0.5) -> list[Clue]:
    """Names that pictures show, each once, in random order: words on signs, and landmarks."""
    came = desk.gather([(picture, parsing.ask_for(picture, model)) for picture in pictures], model, parsing.STAGE)
    came.raise_if_stopped(f"{len(came.replies):,} of {len(pictures):,} pictures were read.")
    named: dict[str, Clue] = {}
    for picture, reply in came.replies:
        for clue in parsing.reading_of(picture.id, reply, model).clues:
            if clue.kind in ("text", "landmark") and clue.confidence >= sure:
                named.setdefault(clue.key, clue)
    return Random(f"questions {seed}").sample(list(named.values()), len(named))


def plan_questions(pictures: Sequence[Picture], settings: QuestionSettings, desk: Desk) -> Plan:
    """What reading the pictures and asking the filters would cost; how many pages' pictures are read is not known."""
    model, first = settings.model, ImagePart(pictures[0].uri)
    read = (parsing.ask_for(picture, model).request for picture in pictures)
    asked = [ChatRequest(model, (Message("user", (_SHORT * 4, first)),), max_tokens=_ANSWER_TOKENS)]
    filters = desk.price(asked, model, STAGE, 2 * settings.tries * settings.count)
    return Plan((desk.price(read, model, parsing.STAGE), filters))


def mine_questions(
    clues: Sequence[Clue], pictures: Mapping[str, Picture], web: Web, settings: QuestionSettings, desk: Desk
) -> Mined:
    """Follow the clues until enough questions are kept; all calls are journaled. The web is closed at the end."""

    async def work() -> Mined:
        place, asking = desk.workspace, desk.asking
        try:
            async with open_chat(settings.model, desk.config, workspace=place, asking=asking, stage=STAGE) as caller:
                return await _Miner(caller, web, pictures, settings).all(clues)
        finally:
            await web.close()

    return asyncio.run(work())


class _Miner:
    def __init__(self, caller: Caller, web: Web, pictures: Mapping[str, Picture], settings: QuestionSettings) -> None:
        self._caller, self._web, self._pictures, self._settings = caller, web, pictures, settings

    async def all(self, clues: Sequence[Clue]) -> Mined:
        found: list[Question] = []
        counts: Counter[str] = Counter()
        for first in range(0, len(clues), _AT_ONCE):
            part = clues[first : first + _AT_ONCE]
            # A stop waits for what is under way: it is paid for.
            came = await asyncio.gather(*(self._one(clue) for clue in part), return_exceptions=True)
            for result in came:
                if isinstance(result, StoppedError):
                    return Mined(tuple(found), dict(counts), result)
                if isinstance(result, BaseException):
                    raise result
                counts["starts"] += 1
                counts[_outcome(result)] += 1
                if result is not None:
                    found.append(replace(result, id=f"question-{len(found) + 1:03}"))
            if counts[KEPT] >= self._settings.count:
                break
        return Mined(tuple(found), dict(counts))

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
            if await self._answers(content, Answer(chain.answer)):
                return [reason]
        return []

    async def _answers(self, content: tuple[str | ImagePart, ...], truth: Answer) -> bool:
        """Whether the model knows it, in any of several tries."""
        for sample in range(self._settings.tries):
            said = (Message("user", content),)
            request = ChatRequest(self._settings.model, said, sample=sample, max_tokens=_ANSWER_TOKENS)
            reply = await self._caller.reply(request)
            if isinstance(reply, ChatReply) and match_answer(truth, reply.text).matched:
                return True
        return False

    async def _facts(self, page: WebPage) -> Sequence[web_pages.PageFact]:
        listed = web_pages.listed_facts(page)
        if listed:
            return listed
        reply = await self._caller.reply(web_pages.facts_request(page, self._settings.model))
        return web_pages.told_facts(page, reply.parsed) if isinstance(reply, ChatReply) else ()

    async def _names(self, url: str, data: bytes) -> Sequence[str]:
        """Names that can be read in a picture of a page."""
        ask: Ask = parsing.ask_about(url, ImagePart(url, data), self._settings.model)
        reply = await self._caller.reply(ask.request)
        if not isinstance(reply, ChatReply):
            return ()
        reading = parsing.reading_of(url, reply, self._settings.model)
        return [clue.detail for clue in reading.clues if clue.kind in ("text", "landmark")]


def _outcome(question: Question | None) -> str:
    if question is None:
        return NO_CHAIN
    return question.reasons[0] if question.reasons else KEPT


def worded(chain: Chain) -> str:
    """The way in words, with no name in them."""
    first = "that can be read in this picture" if chain.clue.kind == "text" else "of the sight in this picture"
    said = [f"Start from the name {first}."]
    for number, hop in enumerate(chain.hops[:-1]):
        whose = "its" if number == 0 else "that one's"
        if hop.kind == "fact":
            said.append(f"Go on to {whose} “{hop.label}”.")
        else:
            said.append("A published picture of that shows another name: go on to what bears it.")
    said.append(f"What is told there as “{chain.hops[-1].label}”?")
    return " ".join(said)


def write_questions(
    out: Path, mined: Mined, pictures: Mapping[str, Picture], count: int, card: Mapping[str, Json]
) -> Benchmark:
    """BENCH of `answer` tasks: one picture, one question, the steps with their pages."""
    kept = mined.kept[:count]
    if not kept:
        raise UserError(
            "no question was found that needs the picture and a search.",
            "give pictures with names in them, or another --web",
        )
    shown = {question.picture: pictures[question.picture] for question in kept}
    benchmark = Benchmark(
        name=out.resolve().name,
        corpus=Corpus(out.resolve().name, shown),
        tasks={question.id: _task(question) for question in kept},
        truth={question.id: Answer(question.chain.answer, steps=_steps(question)) for question in kept},
        card={
            "description": "Questions about single pictures that need several searches.",
            "languages": ["en"],
            **card,
            "retention": dict(mined.counts),
            "reviewed": False,
        },
    )
    return write(benchmark, out)


def _task(question: Question) -> Task:
    hops = question.chain.hops
    labels = {
        "hops": (str(len(hops)),),
        "visual_hops": (str(sum(hop.kind == "picture" for hop in hops)),),
        "needs_search": ("yes",),
        "start": (question.chain.clue.kind,),
    }
    chain: list[Json] = [asdict(hop) for hop in hops]
    extra: dict[str, Json] = {"mined": {"clue": question.chain.clue.detail, "hops": chain}, "review": "waiting"}
    prompt = (question.text, PictureRef(question.picture))
    return Task(question.id, "answer", prompt, labels=labels, extra=extra)


def _steps(question: Question) -> tuple[Step, ...]:
    seen = Step("caption", f"The picture shows the name {question.chain.clue.detail}.", (PictureRef(question.picture),))
    return (seen, *(_step(hop) for hop in question.chain.hops))


def _step(hop: Hop) -> Step:
    if hop.kind == "picture":
        return Step("caption", f"The picture on {hop.url} shows the name {hop.value}.")
    return Step("search", f"{hop.label}: {hop.value} ({hop.url})")
