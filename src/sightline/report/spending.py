"""What a run cost and how long it took, from its ledger."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from sightline.report.words import DASH, money
from sightline.run.latency import ATTEMPT
from sightline.types import LedgerEntry

_TOKENS = {
    "in": "tokens_in",
    "cached": "tokens_cached",
    "image": "tokens_image",
    "out": "tokens_out",
    "reasoning": "tokens_reasoning",
}


@dataclass(frozen=True, slots=True)
class Spending:
    """Calls, money, tokens and time per task.

    `priced` calls have a known price and cost `known_usd` together. `p50` and `p95` are over `timed` tasks: the
    seconds of a task's attempts (of all calls for it, where the ledger times no attempts), divided by their number; a
    task with one of unknown length is left out.
    """

    calls: int = 0
    failed: int = 0
    priced: int = 0
    known_usd: float = 0.0
    tokens: Mapping[str, int] = field(default_factory=dict)
    tasks: int = 0
    timed: int = 0
    p50: float | None = None
    p95: float | None = None

    @property
    def usd(self) -> float | None:
        """What all of it cost; None where that is not known, which is not zero."""
        return self.known_usd if self.calls and self.priced == self.calls else None

    @property
    def usd_per_task(self) -> float | None:
        """Money for each task; None where it is not known."""
        return self.usd / self.tasks if self.usd is not None and self.tasks else None

    @property
    def usd_text(self) -> str:
        """The money in words: a lower bound where only part of it is known."""
        if not self.calls:
            return "not recorded"
        if not self.priced:
            return "unknown"
        return money(self.known_usd) if self.usd is not None else f"≥ {money(self.known_usd)}"

    @property
    def usd_per_task_text(self) -> str:
        """Money for each task in words; a dash where it is not known."""
        return DASH if self.usd_per_task is None else money(self.usd_per_task)


def spending(ledger: Sequence[LedgerEntry], attempts: Mapping[str, int]) -> Spending:
    """Add a ledger up; `attempts` says how often each task was tried."""
    prices = [entry.usd for entry in ledger if entry.usd is not None]
    times = _seconds_per_task(ledger, attempts)
    middle, high = (float(value) for value in np.quantile(times, (0.5, 0.95))) if times else (None, None)
    return Spending(
        calls=len(ledger),
        failed=sum(not entry.ok for entry in ledger),
        priced=len(prices),
        known_usd=sum(prices),
        tokens={name: sum(getattr(entry, field) for entry in ledger) for name, field in _TOKENS.items()},
        tasks=len(attempts),
        timed=len(times),
        p50=middle,
        p95=high,
    )


def only(ledger: Iterable[LedgerEntry], tasks: Collection[str]) -> list[LedgerEntry]:
    """The calls that were made for these tasks."""
    return [entry for entry in ledger if entry.task_id in tasks]


def _seconds_per_task(ledger: Iterable[LedgerEntry], attempts: Mapping[str, int]) -> list[float]:
    own: dict[str, list[float | None]] = {}
    calls: dict[str, list[float | None]] = {}
    for entry in ledger:
        if entry.task_id is not None and entry.task_id in attempts:
            # An attempt's time holds that of its calls.
            (own if entry.stage == ATTEMPT else calls).setdefault(entry.task_id, []).append(entry.seconds)
    times = {**calls, **own}
    known = {task: [second for second in of_task if second is not None] for task, of_task in times.items()}
    return [sum(known[task]) / attempts[task] for task in known if len(known[task]) == len(times[task])]
