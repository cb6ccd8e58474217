"""A cap on money: set aside before a call, settled after it; at the cap the work stops, and what is done is kept."""

from __future__ import annotations

import asyncio
import re
from collections import deque
from typing import Protocol

from sightline.errors import StoppedError, UserError

_AMOUNT = re.compile(r"\s*\$?\s*(\d+(?:[.,]\d+)?)\s*(?:usd|\$|dollars?)?\s*", re.IGNORECASE)


class Purse(Protocol):
    """Where money for calls comes from; may be shared by several processes."""

    async def reserve(self, usd: float) -> None: ...

    def settle(self, reserved: float, spent: float) -> None: ...


class Budget:
    """Money for one run. What is in flight counts as spent, at its estimate, until it is settled."""

    def __init__(self, cap: float) -> None:
        self.cap = cap
        self.spent = 0.0
        self.reserved = 0.0
        self.calls = 0
        self._in_flight = 0
        self._stopped: StoppedError | None = None
        self._waiting: deque[tuple[asyncio.Future[None], float]] = deque()

    @classmethod
    def usd(cls, amount: float) -> Budget:
        """`Budget.usd(5)`: five dollars."""
        if not 0 <= amount < float("inf"):
            raise UserError(f"a budget of {amount} dollars can't be kept.", "give a positive amount: --budget 5usd")
        return cls(float(amount))

    @classmethod
    def parse(cls, text: str) -> Budget:
        """`5usd`, `$5`, `0.50` → a budget in dollars."""
        found = _AMOUNT.fullmatch(text)
        if found is None:
            raise UserError(f'"{text}" is not an amount in dollars.', "for example --budget 5usd")
        return cls.usd(float(found[1].replace(",", ".")))

    @property
    def left(self) -> float:
        """What is neither spent nor set aside."""
        return self.cap - self.spent - self.reserved

    async def reserve(self, usd: float) -> None:
        """Set money aside for a call.

        What does not fit waits for calls in flight to be settled, since most cost less than was set aside for them;
        when none is in flight, everybody is stopped with `StoppedError`.
        """
        if self._stopped is not None:
            raise self._again(self._stopped)
        if not self._waiting and self._fits(usd):
            self._set_aside(usd)
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((turn, usd))
        self._admit()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.exception() is None:  # Granted in the same moment.
                self.settle(usd, 0.0)
            raise

    def settle(self, reserved: float, spent: float) -> None:
        """The call is over: what was set aside for it, and what it cost."""
        self._in_flight -= 1
        self.reserved = self.reserved - reserved if self._in_flight else 0.0  # Sums of floats drift.
        self.spent += spent
        self.calls += spent > 0
        self._admit()

    def _set_aside(self, usd: float) -> None:
        self._in_flight += 1
        self.reserved += usd

    def _fits(self, usd: float) -> bool:
        return usd <= self.left + 1e-12

    def _admit(self) -> None:
        while self._waiting:
            turn, usd = self._waiting[0]
            if turn.done():  # Cancelled while it waited.
                self._waiting.popleft()
            elif self._fits(usd):
                self._waiting.popleft()
                self._set_aside(usd)
                turn.set_result(None)
            elif self._in_flight:
                return
            else:
                self._stop(usd)

    def _stop(self, usd: float) -> None:
        self._stopped = StoppedError(
            f"the budget of ${self.cap:,.2f} is used up: ${self.spent:,.4f} spent on {self.calls:,} calls, and the "
            f"next may cost ${usd:,.4f}.",
            "what was done is kept: run the same command again with a larger --budget to go on",
        )
        while self._waiting:
            turn, _ = self._waiting.popleft()
            if not turn.done():
                turn.set_exception(self._again(self._stopped))

    @staticmethod
    def _again(error: StoppedError) -> StoppedError:
        return StoppedError(error.message, error.fix)
