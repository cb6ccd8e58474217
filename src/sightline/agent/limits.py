"""How much an agent may use for one task, and how much it has used."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from sightline.types import ChatReply, Failure, Json

Clock = Callable[[], float]


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

    def reached(self, spent: Spent) -> str | None:
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
class Spent:
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
