"""What a part of the work cost, as `sightline ledger` tells it: what was paid now, and what the journal answered."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sightline.engine.journal import FILE_NAME
from sightline.engine.ledger import Spent, dollars, read_ledger
from sightline.english import counted


@dataclass(slots=True)
class Bill:
    """Filled when the work is over."""

    spent: Spent = field(default_factory=Spent)

    def to_json(self) -> dict[str, Any]:
        """For `--json`; `usd` is null where no price is known."""
        told = self.spent.to_dict()
        return {"usd": told["usd"], "unpriced": told["unpriced"], "reused": told["from_journal"]}

    def __str__(self) -> str:
        """Money that was paid now; replies that were reused, and what they cost when they were given."""
        reused = self.spent.from_journal
        worth = f" ({dollars(self.spent.saved_usd)} when they were given)" if self.spent.saved_usd else ""
        return self.spent.money + (f" · {counted(reused, 'reply', 'replies')} reused{worth}" if reused else "")


@contextmanager
def billed(workspace: Path) -> Iterator[Bill]:
    """What the journal of a workspace grows by inside, also where it ends with an error."""
    before, bill = _total(workspace), Bill()
    try:
        yield bill
    finally:
        now = _total(workspace)
        bill.spent = Spent(
            calls=now.calls - before.calls,
            from_journal=now.from_journal - before.from_journal,
            usd=_grown(before.usd, now.usd),
            unpriced=now.unpriced - before.unpriced,
            saved_usd=_grown(before.saved_usd, now.saved_usd),
        )


def _grown(before: float, now: float) -> float:
    return max(0.0, round(now - before, 9))  # Sums of floats drift.


def _total(workspace: Path) -> Spent:
    return read_ledger(workspace).total if (workspace / FILE_NAME).is_file() else Spent()
