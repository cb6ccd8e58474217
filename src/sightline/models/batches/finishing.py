"""From waiting to answers in one go: after a deadline the rest of a job is asked for live."""

from __future__ import annotations

from sightline.engine.journal import Journal
from sightline.engine.prices import Prices
from sightline.errors import StoppedError
from sightline.models.batches.following import EVERY, LONGEST, Tell, cancel, download, wait
from sightline.models.batches.job import Job
from sightline.models.batches.reading import parse
from sightline.models.batches.rest import Summary, ask_live, write_results
from sightline.models.batches.server import BatchServer
from sightline.models.batches.store import Store
from sightline.models.http import HttpTransport
from sightline.models.protocols import ChatModel

GRACE = 600.0
"""So long a cancelled batch may take to end, before the rest is asked for without its results."""


async def finish_live(
    job: Job,
    store: Store,
    server: BatchServer,
    journal: Journal,
    transport: HttpTransport,
    prices: Prices,
    model: ChatModel,
    *,
    every: float = EVERY,
    deadline: float = LONGEST,
    grace: float = GRACE,
    tell: Tell = lambda _: None,
) -> Summary:
    """Wait; at the deadline cancel what has not ended, read what is done of it, and ask live for all the rest."""
    try:
        await wait(job, store, server, every=every, deadline=deadline, tell=tell)
    except StoppedError as late:
        tell(f"{late.message} They are cancelled, and the rest is asked for live.")
        await cancel(job, store, server)
        try:
            await wait(job, store, server, every=min(every, grace), deadline=grace, tell=tell)
        except StoppedError as stuck:
            tell(f"{stuck.message} What they answer later is read by `batch parse`, and counted as paid twice.")
    await download(job, store, server)
    parse(job, store, journal, transport, prices, partial=True)
    try:
        asked = await ask_live(job, store, journal, model)
    except StoppedError:
        write_results(job, store, journal)  # What was answered before the budget was used up is there.
        raise
    tell(f"{asked:,} asked for live")
    return write_results(job, store, journal)
