"""Replies to many calls with what they were for, and parts of the schemas that they are asked by.

And the bill, as `sightline ledger` has it: what was paid now, and what the journal answered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

from sightline.calls.ask_many import Ask, AskJob, ask_many
from sightline.calls.journal_tables import JOURNAL_FILE
from sightline.calls.ledger import LedgerRow, read_ledger
from sightline.calls.session import Session
from sightline.english import counted
from sightline.errors import StoppedError
from sightline.plain_text import dollars
from sightline.types import ChatReply, Failure

Item = TypeVar("Item")
MAX_TOKENS = 4_000
"""The longest reply, thinking included: what bounds a price beforehand."""
TEXT: dict[str, Any] = {"type": "string"}
SURE: dict[str, Any] = {"type": "number", "minimum": 0, "maximum": 1}


@dataclass(frozen=True, slots=True)
class CallResults(Generic[Item]):
    """What came of many calls: replies and failures with what they were for, and what ended the work early."""

    replies: list[tuple[Item, ChatReply]] = field(default_factory=list)
    failed: list[tuple[Item, Failure]] = field(default_factory=list)
    stopped: StoppedError | None = None

    @property
    def failures(self) -> dict[str, int]:
        """How many of each kind, the most frequent first."""
        return dict(Counter(failure.kind for _, failure in self.failed).most_common())

    @property
    def why_nothing(self) -> str:
        """What was said most often, where nobody answered; else nothing."""
        said = Counter(f"{failure.kind}: {failure.message}" for _, failure in self.failed)
        return said.most_common(1)[0][0].rstrip(".") if said and not self.replies else ""

    def raise_if_stopped(self, done: str) -> None:
        """Say how far it came, after that has been written."""
        if self.stopped is not None:
            said = f"{self.stopped.message.rstrip('. ')}. {done}"
            raise StoppedError(said, self.stopped.fix) from self.stopped


def gather(asks: Sequence[tuple[Item, Ask]], model: str, stage: str, session: Session) -> CallResults[Item]:
    """Ask for all; what the journal answers costs nothing. A used-up budget ends it with what came so far."""
    found: CallResults[Item] = CallResults()
    try:
        work = ask_many([ask for _, ask in asks], AskJob(stage, model), session)
        for (item, _), (_, reply) in zip(asks, work, strict=True):
            if isinstance(reply, Failure):
                found.failed.append((item, reply))
            else:
                found.replies.append((item, reply))
    except StoppedError as stopped:
        return replace(found, stopped=stopped)
    return found


def a_list(of: Mapping[str, Any], most: int) -> dict[str, Any]:
    """A JSON schema of a list."""
    return {"type": "array", "items": dict(of), "maxItems": most}


def told_failures(failures: Mapping[str, int]) -> list[str]:
    """A line for calls that failed, where some did."""
    told = ", ".join(f"{kind} {count:,}" for kind, count in failures.items())
    return [f"failed: {told}"] if told else []


@dataclass(slots=True)
class Bill:
    """Filled when the work is over."""

    spent: LedgerRow = field(default_factory=LedgerRow)

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
        bill.spent = LedgerRow(
            calls=now.calls - before.calls,
            from_journal=now.from_journal - before.from_journal,
            usd=_grown(before.usd, now.usd),
            unpriced=now.unpriced - before.unpriced,
            saved_usd=_grown(before.saved_usd, now.saved_usd),
        )


def _grown(before: float, now: float) -> float:
    return max(0.0, round(now - before, 9))  # Sums of floats drift.


def _total(workspace: Path) -> LedgerRow:
    return read_ledger(workspace).total if (workspace / JOURNAL_FILE).is_file() else LedgerRow()
