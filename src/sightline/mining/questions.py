"""Questions about single pictures (ImageMining's way): chains of facts, and only what needs both picture and search.

Written as a benchmark of `answer` tasks with their steps.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from random import Random

from sightline.agent.web import Web, WebPage
from sightline.benchmark.folder import write_benchmark
from sightline.calls.ask_many import Ask, price_many
from sightline.calls.caller import Caller
from sightline.calls.chat import open_chat
from sightline.calls.plan import CostPlan
from sightline.calls.session import Session
from sightline.engine.event_loop import run_async
from sightline.errors import StoppedError, UserError
from sightline.metrics.answers.match import match_answer
from sightline.mining import clue_extraction, fact_chains
from sightline.mining.benchmark import QUESTIONS
from sightline.mining.fact_chains import ChainHop, ChainSearch, FactChain
from sightline.mining.model_calls import gather
from sightline.mining.records import Clue
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

_NEEDS = ("need_image_before_search", "need_image_during_search")
"""What ImageMining says of a question: every chain starts from the picture and leads through another."""
STAGE = "mine-questions"
KEPT, NO_CHAIN, LEAK = "kept", "no chain was found", "the question names what is on the way"
BLIND, CLOSED = "answered without the picture", "answered without search"
UNASKED = "a filter could not be asked"
_NAMES = ("text", "landmark")
_SHORT = "Answer in a few words. If you can't know it, say that you don't know.\n\n"
_ANSWER_TOKENS = 1_000
_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class MinedQuestion:
    """A question with the chain to its answer; reasons against it, if there are any."""

    id: str
    picture: str
    text: str
    chain: FactChain
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MinedQuestions:
    """What came of the starts: questions kept and refused, and how many starts had no chain."""

    questions: tuple[MinedQuestion, ...]
    counts: Mapping[str, int] = field(default_factory=dict)
    failures: Mapping[str, int] = field(default_factory=dict)
    "Calls that failed, by kind."
    stopped: StoppedError | None = None
    "What ended the work early, if anything did; what is here is valid."

    @property
    def kept(self) -> tuple[MinedQuestion, ...]:
        return tuple(question for question in self.questions if not question.reasons)


def worded(chain: FactChain) -> str:
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
    out: Path,
    mined: MinedQuestions,
    pictures: Mapping[str, Picture],
    count: int,
    card: Mapping[str, Json],
    *,
    copied: Mapping[str, Path] | None = None,
) -> Benchmark:
    """BENCH of `answer` tasks: one picture, one question, the steps with their pages; and the files to copy into it."""
    kept = mined.kept[:count]
    if not kept and mined.stopped is not None:
        raise mined.stopped
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
            "mined": QUESTIONS,
            "description": "Questions about single pictures that need several searches.",
            "languages": ["en"],
            **card,
            "retention": dict(mined.counts),
            "reviewed": False,
        },
    )
    return write_benchmark(benchmark, out, copied=copied)


def _task(question: MinedQuestion) -> Task:
    hops = question.chain.hops
    labels = {
        "hops": (str(len(hops)),),
        "visual_hops": (str(sum(hop.kind == "picture" for hop in hops)),),
        "needs_search": ("yes",),
        "start": (question.chain.clue.kind,),
        **dict.fromkeys(_NEEDS, ("true",)),
    }
    chain: list[Json] = [asdict(hop) for hop in hops]
    extra: dict[str, Json] = {"mined": {"clue": question.chain.clue.name, "hops": chain}, "review": "waiting"}
    prompt = (question.text, PictureRef(question.picture))
    return Task(question.id, "answer", prompt, labels=labels, extra=extra)


def _steps(question: MinedQuestion) -> tuple[Step, ...]:
    seen = Step("caption", f"The picture shows the name {question.chain.clue.name}.", (PictureRef(question.picture),))
    return (seen, *(_step(hop) for hop in question.chain.hops))


def _step(hop: ChainHop) -> Step:
    if hop.kind == "picture":
        return Step("caption", f"The picture on {hop.url} shows the name {hop.value}.")
    return Step("search", f"{hop.label}: {hop.value} ({hop.url})")


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
    asks = [(picture, clue_extraction.ask_for(picture, model)) for picture in pictures]
    came = gather(asks, model, clue_extraction.STAGE, session)
    came.raise_if_stopped(f"{len(came.replies):,} of {len(pictures):,} pictures were read.")
    if came.why_nothing:
        raise UserError(
            f"no picture could be read, of {len(pictures):,}; {came.why_nothing}.", "choose another --model"
        )
    named: dict[str, Clue] = {}
    for picture, reply in came.replies:
        clues = clue_extraction.reading_of(picture.id, reply, model).clues
        kinds = Counter(clue.kind for clue in clues)
        for clue in clues:
            if clue.kind in _NAMES and kinds[clue.kind] == 1 and clue.confidence >= sure:
                named.setdefault(clue.key, clue)
    return Starts(Random(f"questions {seed}").sample(list(named.values()), len(named)), came.failures)


def plan_questions(pictures: Sequence[Picture], settings: QuestionSettings, session: Session) -> CostPlan:
    """What reading the pictures and asking the filters would cost; how many pages' pictures are read is not known."""
    if not pictures:
        raise UserError("there are no pictures to ask about.", "scan some first: sightline scan DIR")
    model, first = settings.model, ImagePart(pictures[0].uri)
    read = (clue_extraction.ask_for(picture, model).request for picture in pictures)
    asked = [ChatRequest(model, (Message("user", (_SHORT * 4, first)),), max_tokens=_ANSWER_TOKENS)]
    filters = price_many(asked, model, STAGE, session, 2 * settings.tries * settings.count)
    return CostPlan((price_many(read, model, clue_extraction.STAGE, session), filters))


def follow_clues(
    clues: Sequence[Clue], pictures: Mapping[str, Picture], web: Web, settings: QuestionSettings, session: Session
) -> MinedQuestions:
    """Follow the clues until enough questions are kept; all calls are journaled. The web is closed at the end."""

    async def work() -> MinedQuestions:
        try:
            async with open_chat(settings.model, session, stage=STAGE) as caller:
                return await _Miner(caller, web, pictures, settings).all(clues)
        finally:
            await web.close()

    return run_async(work())


class _Miner:
    def __init__(self, caller: Caller, web: Web, pictures: Mapping[str, Picture], settings: QuestionSettings) -> None:
        self._caller, self._web, self._pictures, self._settings = caller, web, pictures, settings
        self._failures: Counter[str] = Counter()

    async def all(self, clues: Sequence[Clue]) -> MinedQuestions:
        found: list[MinedQuestion] = []
        counts: Counter[str] = Counter()
        for first in range(0, len(clues), _AT_ONCE):
            part = clues[first : first + _AT_ONCE]
            # A stop waits for what is under way: it is paid for.
            came = await asyncio.gather(*(self._one(clue) for clue in part), return_exceptions=True)
            for result in came:
                if isinstance(result, StoppedError):
                    return MinedQuestions(tuple(found), dict(counts), dict(self._failures), result)
                if isinstance(result, BaseException):
                    raise result
                counts["starts"] += 1
                counts[_outcome(result)] += 1
                if result is not None:
                    found.append(replace(result, id=f"question-{len(found) + 1:03}"))
            if counts[KEPT] >= self._settings.count:
                break
        return MinedQuestions(tuple(found), dict(counts), dict(self._failures))

    async def _one(self, clue: Clue) -> MinedQuestion | None:
        rng = Random(f"{self._settings.seed} {clue.key}")
        walk = ChainSearch(self._web, self._facts, self._names, self._settings.hops, rng)
        chain = await walk.chain_from(clue)
        if chain is None:
            return None
        text = worded(chain)
        return MinedQuestion("", clue.picture, text, chain, tuple(await self._reasons(text, chain)))

    async def _reasons(self, text: str, chain: FactChain) -> list[str]:
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

    async def _facts(self, page: WebPage) -> Sequence[fact_chains.PageFact]:
        listed = fact_chains.listed_facts(page)
        if listed:
            return listed
        reply = await self._reply(fact_chains.facts_request(page, self._settings.model))
        return () if reply is None else fact_chains.told_facts(page, reply.parsed)

    async def _names(self, url: str, data: bytes) -> Sequence[str]:
        """Names that can be read in a picture of a page."""
        ask: Ask = clue_extraction.ask_about(url, ImagePart(url, data), self._settings.model)
        reply = await self._reply(ask.request)
        if reply is None:
            return ()
        reading = clue_extraction.reading_of(url, reply, self._settings.model)
        return [clue.name for clue in reading.clues if clue.kind in _NAMES]


def _outcome(question: MinedQuestion | None) -> str:
    if question is None:
        return NO_CHAIN
    return question.reasons[0] if question.reasons else KEPT
