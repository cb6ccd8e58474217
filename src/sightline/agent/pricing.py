"""What attempts will take before they are made: from their first requests, and from how conversations grow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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


def plan_attempts(caller: Caller, firsts: Sequence[ChatRequest], settings: AgentSettings, attempts: int) -> Plan:
    """Calls, tokens and money of so many attempts, of which `firsts` are the first requests, or some of them.

    How many turns an attempt takes nobody knows before, so the range is wide. A question that was asked before is
    answered from the journal, and costs nothing.
    """
    fresh = [first for first in firsts if not caller.plan([first]).journaled]
    share = attempts / len(firsts) if firsts else 0.0
    if not fresh:
        return Plan((caller.plan(firsts, attempts),))
    low, likely, high = (_course(caller, fresh, course, settings) for course in (_SHORT, _USUAL, _LONG))
    usd = _spanned(low.usd, likely.usd, high.usd) if low.usd and likely.usd and high.usd else None
    return Plan(
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


def _course(caller: Caller, firsts: Sequence[ChatRequest], course: _Course, settings: AgentSettings) -> StagePlan:
    return caller.plan(request for first in firsts for request in _requests(first, course, settings))


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


def _basis(low: StagePlan, likely: StagePlan, high: StagePlan, attempts: int) -> str:
    fewest, most = round(low.calls / attempts), round(high.calls / attempts)
    each = " each" if attempts > 1 else ""
    return f"{fewest} to {most} turns{each}, {likely.basis}" if most > fewest else likely.basis
