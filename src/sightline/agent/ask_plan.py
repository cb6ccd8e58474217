"""What an attempt will take before it is made: from its first request, and from how conversations grow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sightline.agent.asked import AgentSettings
from sightline.engine.plan import Plan, Range, StagePlan
from sightline.engine.tokens import BYTES_PER_TOKEN, request_tokens
from sightline.models.caller import Caller
from sightline.types import ChatRequest, Message

_LONGEST_REPLY = 2_000
"""Tokens of a reply that are more than most take, where nothing else limits it."""


@dataclass(frozen=True, slots=True)
class _Course:
    """So many turns, each of which adds so many tokens to what is sent."""

    turns: int
    growth: int


_SHORT, _USUAL, _LONG = _Course(2, 300), _Course(6, 1_500), _Course(1_000_000, 8_000)
"""A search and the answer; a few searches and looks at pictures; pictures in every turn, up to the limit."""


def plan_attempt(caller: Caller, first: ChatRequest, settings: AgentSettings) -> Plan:
    """Calls, tokens and money of one attempt; how many turns it takes nobody knows before, so the range is wide.

    A question that was asked before is answered from the journal, and costs nothing.
    """
    known = caller.plan([first])
    if known.journaled:
        return Plan((known,))
    low, likely, high = (caller.plan(_requests(first, course, settings)) for course in (_SHORT, _USUAL, _LONG))
    usd = _spanned(low.usd, likely.usd, high.usd) if low.usd and likely.usd and high.usd else None
    return Plan(
        (
            replace(
                likely,
                input=_spanned(low.input, likely.input, high.input),
                output=_spanned(low.output, likely.output, high.output),
                usd=usd,
                batch_usd=None,
                basis=_basis(low, likely, high),
                most_usd=None,
                most_batch_usd=None,
            ),
        )
    )


def _requests(first: ChatRequest, course: _Course, settings: AgentSettings) -> Iterator[ChatRequest]:
    """Requests of the sizes that a conversation would have, within the limits of an attempt."""
    limits, memory, sent = settings.limits, settings.memory, 0
    base = request_tokens(first).total
    limited = replace(first, max_tokens=first.max_tokens or _LONGEST_REPLY)
    for turn in range(min(course.turns, limits.turns)):
        room = max(0, memory.tokens - base) if memory.compress else turn * course.growth
        grown = min(turn * course.growth, room)
        filler = Message("user", ("x" * int(grown * BYTES_PER_TOKEN),))
        yield replace(limited, messages=(*first.messages, filler))
        sent += base + grown
        if limits.tokens is not None and sent >= limits.tokens:
            return


def _spanned(low: Range, likely: Range, high: Range) -> Range:
    return Range(likely.likely, min(low.low, likely.likely), max(high.high, likely.likely))


def _basis(low: StagePlan, likely: StagePlan, high: StagePlan) -> str:
    return f"{low.calls} to {high.calls} turns, {likely.basis}" if high.calls > low.calls else likely.basis
