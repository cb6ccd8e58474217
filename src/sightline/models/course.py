"""How one call goes, over all of its attempts, and what they cost."""

from __future__ import annotations

from dataclasses import dataclass

from sightline.engine.foresight import Estimate
from sightline.engine.prices import Tariff
from sightline.engine.retry import OVERLOADS
from sightline.models.protocols import Outcome
from sightline.types import ChatReply, Failure, Partial, Usage

NOT_BILLED = frozenset(
    {
        "rate-limited",
        "overloaded",
        "server-error",
        "html",
        "bad-content-type",
        "auth",
        "unknown-model",
        "bad-request",
        "no-credit",
        "bad-picture",
        "unsupported",
    }
)
"""What a server refuses costs nothing. Any other failure may have been paid for, unless nothing was sent
(`Outcome.sent`): its cost is unknown unless the server said it."""
NOT_KNOWN = Usage(reported=False)
BROKEN_OFF = Failure("cancelled", "broken off here, before a reply came", True)


@dataclass(slots=True)
class Course:
    """How one call goes, over all of its attempts: what they cost, and of how many that is not known."""

    estimate: Estimate
    result: ChatReply | Failure = BROKEN_OFF
    partial: Partial | None = None
    usage: Usage | None = None
    seconds: float | None = None
    attempts: int = 0
    failed: int = 0
    refused: int = 0
    known_usd: float = 0.0
    unpriced: int = 0

    @property
    def usd(self) -> float | None:
        return None if self.unpriced else self.known_usd

    def take(self, outcome: Outcome) -> None:
        """What an attempt brought, also where it failed, and the tokens that it took."""
        result, usage = outcome.result, outcome.usage
        self.result, self.partial = result, outcome.words
        if isinstance(result, Failure):
            overload = result.kind in OVERLOADS
            self.refused += overload
            self.failed += not overload
        if usage is not None:
            self.usage = usage if self.usage is None else _sum(self.usage, usage)

    def charge(self, usd: float | None) -> None:
        """An attempt is over, which cost so much; None: nobody knows."""
        self.attempts += 1
        if usd is None:
            self.unpriced += 1
        else:
            self.known_usd += usd


def cost_of(outcome: Outcome, tariff: Tariff | None) -> float | None:
    """Dollars that an attempt cost; None when it may have been billed and nobody knows how much."""
    usage, result = outcome.usage, outcome.result
    if usage is None and isinstance(result, Failure) and (not outcome.sent or result.kind in NOT_BILLED):
        return 0.0
    if tariff is None:
        return None
    if tariff.is_free:
        return 0.0
    return tariff.cost(usage) if usage is not None and usage.reported else None


def paid_now(result: ChatReply | Failure) -> float | None:
    """Dollars that a call cost now, also one that failed; None: nobody knows. What the journal knew cost nothing."""
    return 0.0 if result.from_journal or result.usage is None else result.usd


def _sum(first: Usage, second: Usage) -> Usage:
    return Usage(
        first.input + second.input,
        first.cached + second.cached,
        first.output + second.output,
        first.reasoning + second.reasoning,
        first.image + second.image,
        first.cache_written + second.cache_written,
        first.reported and second.reported,
    )
