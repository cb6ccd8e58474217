"""Calls in a journal, for tests that are not asynchronous."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from sightline.calls.journal import Journal
from sightline.calls.journal_tables import Call


def record_all(journal: Journal, calls: Iterable[Call]) -> None:
    """Keep them, in this order; on disk when this returns."""

    async def record() -> None:
        await asyncio.gather(*(journal.record(call) for call in calls))

    asyncio.run(record())
