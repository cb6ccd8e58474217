"""A cap on money: set aside before an attempt, settled after it; at the cap the work stops, what is done is kept."""

from __future__ import annotations

import asyncio
import re
from collections import deque
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from sightline.english import counted
from sightline.errors import StoppedError, UserError
from sightline.plain_text import dollars

_AMOUNT = re.compile(r"\s*\$?\s*(\d[\d.,]*)\s*(?:usd|\$|dollars?)?\s*", re.IGNORECASE)
_PLAIN = re.compile(r"\d+(?:\.\d+)?")
_DECIMAL_COMMA = re.compile(r"0,\d+|\d+,(?:\d{1,2}|\d{4,})")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+\.\d+|\d{1,3}(?:,\d{3}){2,}")
_UNTRIED_AT_ONCE = 1
"""Attempts in flight while nothing is known of what a model really costs."""


class BudgetLike(Protocol):
    """Where money for attempts comes from; may be shared by several processes."""

    async def reserve(self, usd: float, about: str = "") -> None:
        """Set money aside for an attempt that is estimated to cost so much; `about` says who is asked for what."""

    def settle(self, usd: float, spent: float | None, about: str = "") -> None:
        """The attempt with this estimate is over; `spent` None: it may have been billed, nobody knows how much."""


@dataclass(slots=True)
class _CostRecord:
    """How attempts of one sort went: what is in flight by estimate, and the worst ratio of cost to estimate so far."""

    in_flight: int = 0
    estimated: float = 0.0
    factor: float = 1.0
    is_known: bool = False

    @property
    def reserved(self) -> float:
        return self.estimated * self.factor


class _Waiting(NamedTuple):
    turn: asyncio.Future[None]
    usd: float
    about: str


class Budget:
    """Money for one run. What is in flight counts as spent, at its estimate, until it is settled.

    Estimates are those of the caller, times the worst ratio of cost to estimate that was seen of the same sort
    (`about`); also what is in flight grows by it. While nothing is known of a sort, only one attempt is in flight.
    """

    def __init__(self, cap: float) -> None:
        self.cap = cap
        self.spent = 0.0
        self.calls = 0
        self._records: dict[str, _CostRecord] = {}
        self._stopped: StoppedError | None = None
        self._waiting: deque[_Waiting] = deque()

    @classmethod
    def usd(cls, amount: float) -> Budget:
        """`Budget.usd(5)`: five dollars."""
        if not 0 <= amount < float("inf"):
            raise UserError(
                f"a budget of {amount} dollars can't be kept.", 'Give a positive amount: --budget 5usd (budget="5usd").'
            )
        return cls(float(amount))

    @classmethod
    def parse(cls, text: str) -> Budget:
        """`5usd`, `$5`, `0.50`, `0,50`, `1,234.50` → a budget in dollars; `1,000` is refused, for it may mean 1."""
        found = _AMOUNT.fullmatch(text)
        if found is None:
            raise UserError(f'"{text}" is not an amount in dollars.', 'For example --budget 5usd (budget="5usd").')
        return cls.usd(_number(found[1], text))

    @property
    def reserved(self) -> float:
        """What is set aside for attempts in flight."""
        return sum(record.reserved for record in self._records.values())

    @property
    def left(self) -> float:
        """What is neither spent nor set aside."""
        return self.cap - self.spent - self.reserved

    async def reserve(self, usd: float, about: str = "") -> None:
        """Set money aside for an attempt.

        What does not fit waits for attempts in flight to be settled, since most cost less than was set aside for them;
        when none is in flight, everybody is stopped with `StoppedError`.
        """
        if self._stopped is not None:
            raise self._stopped.again()
        if not self._waiting and self._fits(usd, about):
            self._set_aside(usd, about)
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(turn, usd, about))
        self._admit()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.exception() is None:  # Granted in the same moment.
                self.settle(usd, 0.0, about)
            raise

    def settle(self, usd: float, spent: float | None, about: str = "") -> None:
        """The attempt with this estimate is over. One whose cost is not known counts with what was set aside for it."""
        record = self._records[about]
        cost = usd * record.factor if spent is None else spent
        record.in_flight -= 1
        record.estimated = record.estimated - usd if record.in_flight else 0.0  # Sums of floats drift.
        record.is_known = record.is_known or spent is None or spent > 0
        if usd > 0:
            record.factor = max(record.factor, cost / usd)
        self.spent += cost
        self.calls += cost > 0
        self._admit()

    def _set_aside(self, usd: float, about: str) -> None:
        record = self._records.setdefault(about, _CostRecord())
        record.in_flight += 1
        record.estimated += usd

    def _needs(self, usd: float, about: str) -> float:
        record = self._records.get(about)
        return usd if record is None else usd * record.factor

    def _fits(self, usd: float, about: str) -> bool:
        record = self._records.get(about)
        if usd > 0 and record is not None and not record.is_known and record.in_flight >= _UNTRIED_AT_ONCE:
            return False
        return self._needs(usd, about) <= self.left + 1e-12

    def _admit(self) -> None:
        while self._waiting:
            turn, usd, about = self._waiting[0]
            if turn.done():  # Cancelled while it waited.
                self._waiting.popleft()
            elif self._fits(usd, about):
                self._waiting.popleft()
                self._set_aside(usd, about)
                turn.set_result(None)
            elif any(record.in_flight for record in self._records.values()):
                return
            else:
                self._stop(self._needs(usd, about))

    def _stop(self, usd: float) -> None:
        self._stopped = StoppedError(
            f"the budget of {dollars(self.cap)} is used up: {dollars(self.spent)} spent on "
            f"{counted(self.calls, 'call')}, and the next may cost {dollars(usd)}.",
            "what was done is kept: run the same command again with a larger --budget to go on",
        )
        while self._waiting:
            turn, _, _ = self._waiting.popleft()
            if not turn.done():
                turn.set_exception(self._stopped.again())


def _number(digits: str, text: str) -> float:
    """An amount with a point or a comma, where there is only one way to read it."""
    if _PLAIN.fullmatch(digits):
        return float(digits)
    if _DECIMAL_COMMA.fullmatch(digits):
        return float(digits.replace(",", "."))
    if _THOUSANDS.fullmatch(digits):
        return float(digits.replace(",", ""))
    if re.fullmatch(r"\d{1,3},\d{3}", digits):
        point, none = digits.replace(",", "."), digits.replace(",", "")
        raise UserError(
            f'"{text.strip()}" may mean {point} or {none} dollars.',
            f"write it without the comma: --budget {none}usd, or --budget {point}usd",
        )
    raise UserError(f'"{text}" is not an amount in dollars.', 'For example --budget 0.50usd (budget="0.50usd").')
