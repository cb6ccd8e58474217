"""Settings and limits of an attempt, the question it is made at, and what attempts will cost.

The price is estimated from the first requests and from how conversations grow.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from sightline.agent.memory import MemorySettings
from sightline.agent.prompts import Division, Language
from sightline.agent.state import AgentState, PictureNames, PictureView
from sightline.calls.caller import Caller
from sightline.calls.estimate import Range
from sightline.calls.plan import CostPlan, StagePlan
from sightline.calls.tokens import BYTES_PER_TOKEN, request_tokens
from sightline.types import ChatReply, ChatRequest, Failure, Json, Message, Task

Clock = Callable[[], float]
_LONGEST_REPLY = 2_000
"""Tokens of a reply that are more than most take, where nothing else limits it."""


@dataclass(frozen=True, slots=True)
class TaskLimits:
    """Limits of one attempt; None is no limit. Whichever is reached first leaves one last turn, for the answer.

    `turns` counts that last turn. `tokens` are those sent and written, over all turns; `pictures` those shown;
    `seconds` and `usd` what models and tools took.
    """

    turns: int = 30
    tokens: int | None = None
    pictures: int | None = None
    seconds: float | None = None
    usd: float | None = None

    def reached(self, spent: AgentUsage) -> str | None:
        """The limit that leaves no more than a last turn; None while there is room."""
        if spent.turns >= self.turns - 1:
            return "turns"
        for name in ("tokens", "pictures", "seconds", "usd"):
            most: float | None = getattr(self, name)
            if most is not None and getattr(spent, name) >= most:
                return name
        return None

    def to_json(self) -> dict[str, Json]:
        return {name: getattr(self, name) for name in ("turns", "tokens", "pictures", "seconds", "usd")}


@dataclass(slots=True)
class AgentUsage:
    """What an attempt has used so far; `unpriced` counts calls whose price nobody knows."""

    turns: int = 0
    tokens: int = 0
    pictures: int = 0
    usd: float = 0.0
    unpriced: int = 0
    clock: Clock = time.monotonic
    _remembered: float = 0.0
    _started: float = field(init=False)

    def __post_init__(self) -> None:
        self._started = self.clock()

    @property
    def seconds(self) -> float:
        """Since the start; calls that the journal answered count with the time that they once took."""
        return self.clock() - self._started + self._remembered

    def add(self, reply: ChatReply | Failure) -> None:
        """Count a call, also one that failed and was paid for.

        One from the journal counts like the first time, so that a resumed task ends the same way.
        """
        if reply.usage is None:  # Nobody was reached.
            return
        self.tokens += reply.usage.input + reply.usage.output
        if reply.usd is None:
            self.unpriced += 1
        else:
            self.usd += reply.usd
        if isinstance(reply, ChatReply) and reply.from_journal:
            self._remembered += reply.seconds or 0.0


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """How an agent works, whatever it is asked; sampling as in `types.ChatRequest`."""

    limits: TaskLimits = field(default_factory=TaskLimits)
    memory: MemorySettings = field(default_factory=MemorySettings)
    language: Language = "en"
    subsets: bool = True
    division: Division = "free"
    "How a request for pictures is taken apart."
    extra: tuple[str, ...] = ()
    repeats: bool = False
    "Make calls again whose answer the conversation holds, as agents did before; for replays of their records."
    temperature: float | None = None
    max_tokens: int | None = None
    reasoning_effort: str | None = None
    seed: int | None = None

    def to_json(self) -> dict[str, Json]:
        return {
            "compress": self.memory.compress,
            "context_tokens": self.memory.tokens,
            "context_pictures": self.memory.pictures,
            "memory": self.memory.form,
            "language": self.language,
            "subsets": self.subsets,
            "division": self.division,
            "extra": list(self.extra),
            "repeats": self.repeats,
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
            "reasoning_effort": self.reasoning_effort,
            "seed": self.seed,
        }


@dataclass(frozen=True, slots=True)
class AgentQuestion:
    """One attempt at one task: the prompt with its pictures at hand, a fresh state, and the ids that may be named."""

    task: Task
    content: tuple[str | PictureView, ...]
    state: AgentState
    names: PictureNames
    attempt: int = 0


@dataclass(frozen=True, slots=True)
class _Growth:
    """So many turns, each of which adds so many tokens to what is sent."""

    turns: int
    tokens: int


_SHORT, _USUAL, _LONG = _Growth(2, 300), _Growth(6, 1_500), _Growth(1_000_000, 8_000)
"""A search and the answer; a few searches and looks at pictures; pictures in every turn, up to the limit."""


def plan_attempts(caller: Caller, firsts: Sequence[ChatRequest], settings: AgentSettings, attempts: int) -> CostPlan:
    """Calls, tokens and money of so many attempts, of which `firsts` are the first requests, or some of them.

    How many turns an attempt takes is learnt from attempts of before; without them the range is wide. A question that
    was asked before is answered from the journal, and costs nothing.
    """
    fresh = [first for first in firsts if not caller.plan([first]).journaled]
    share = attempts / len(firsts) if firsts else 0.0
    if not fresh:
        return CostPlan((caller.plan(firsts, attempts),))
    if (learnt := caller.plan(firsts, attempts)).is_learnt:
        return CostPlan((replace(learnt, batch_usd=None, most_usd=None, most_batch_usd=None),))
    low, likely, high = (_plan_turns(caller, fresh, growth, settings) for growth in (_SHORT, _USUAL, _LONG))
    usd = _spanned(low.usd, likely.usd, high.usd) if low.usd and likely.usd and high.usd else None
    return CostPlan(
        (
            replace(
                likely,
                calls=round(likely.calls * share),
                journaled=round((len(firsts) - len(fresh)) * share),
                input=_spanned(low.input, likely.input, high.input).times(share),
                output=_spanned(low.output, likely.output, high.output).times(share),
                usd=usd and usd.times(share),
                batch_usd=None,
                basis=_basis(low, likely, high, len(fresh)),
                most_usd=None,
                most_batch_usd=None,
                unreadable=0,
            ),
        )
    )


def _plan_turns(caller: Caller, firsts: Sequence[ChatRequest], growth: _Growth, settings: AgentSettings) -> StagePlan:
    return caller.plan(request for first in firsts for request in _requests(first, growth, settings))


def _requests(first: ChatRequest, growth: _Growth, settings: AgentSettings) -> Iterator[ChatRequest]:
    """Requests of the sizes that a conversation would have, within the limits of an attempt."""
    limits, memory, sent = settings.limits, settings.memory, 0
    base = request_tokens(first).total
    limited = replace(first, max_tokens=first.max_tokens or _LONGEST_REPLY)
    for turn in range(min(growth.turns, limits.turns)):
        room = max(0, memory.tokens - base) if memory.compress else turn * growth.tokens
        grown = min(turn * growth.tokens, room)
        filler = Message("user", ("x" * int(grown * BYTES_PER_TOKEN),))
        yield replace(limited, messages=(*first.messages, filler))
        sent += base + grown
        if limits.tokens is not None and sent >= limits.tokens:
            return


def _spanned(low: Range, likely: Range, high: Range) -> Range:
    return Range(likely.likely, min(low.low, likely.likely), max(high.high, likely.likely))


def _basis(low: StagePlan, likely: StagePlan, high: StagePlan, attempts: int) -> str:
    fewest, most = round(low.calls / attempts), round(high.calls / attempts)
    each = " each" if attempts > 1 else ""
    return f"{fewest} to {most} turns{each}, {likely.basis}" if most > fewest else likely.basis
