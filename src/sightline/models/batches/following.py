"""Batches on their way: how they stand, waiting for their end (never without end), cancelling, downloading."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from sightline.errors import StoppedError, UserError
from sightline.models.batches.job import DOWNLOADS, Job
from sightline.models.batches.sending import adopt
from sightline.models.batches.server import BatchServer, ServerError
from sightline.models.batches.store import GONE, Row, Store

EVERY = 60.0
LONGEST = 25 * 3600.0
"""A provider's window is a day; what has not ended an hour later never will."""

Tell = Callable[[str], None]


async def refresh(
    job: Job, store: Store, server: BatchServer, *, clock: Callable[[], float] = time.time
) -> tuple[Row, ...]:
    """Ask the server how the batches of a job stand; finds those that another machine submitted.

    What was given up because the server did not know it is looked for again: it may have come back.
    """
    store.register(job)
    if any(row.batch_id is None and not row.parsed for row in store.rows(job)):
        await adopt(job, store, server)
    for row in store.rows(job):
        if row.batch_id is not None and not row.parsed and (not row.has_ended or row.status == GONE):
            remote = await server.get(row.batch_id)
            if remote is None:
                store.missed(job, row, clock())
            else:
                store.saw(job, row.shard, remote)
    return store.rows(job)


async def wait(
    job: Job,
    store: Store,
    server: BatchServer,
    *,
    every: float = EVERY,
    deadline: float = LONGEST,
    tell: Tell = lambda _: None,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    wall: Callable[[], float] = time.time,
) -> tuple[Row, ...]:
    """Wait until all batches have ended, however they did; `StoppedError` when that takes longer than `deadline`."""
    start = clock()
    told: dict[str, str] = {}
    rows: tuple[Row, ...] = ()
    while True:
        try:
            rows = await refresh(job, store, server, clock=wall)
        except ServerError as error:
            if not error.failure.retryable or clock() - start >= deadline:
                raise
            tell(f"not reached now, asked again in {every:g} s: {error.failure.message}")
        else:
            _refuse_unsent(job, rows)
            for row in rows:
                if not row.parsed and told.get(row.shard) != str(row):
                    told[row.shard] = str(row)
                    tell(str(row))
            if all(row.has_ended or row.parsed for row in rows):
                return rows
        left = deadline - (clock() - start)
        if left <= 0:
            raise _too_late(job, rows, deadline)
        await sleep(min(every, left))


def _refuse_unsent(job: Job, rows: tuple[Row, ...]) -> None:
    unsent = [row.shard for row in rows if row.batch_id is None and not row.parsed]
    if unsent:
        raise UserError(
            f"{len(unsent):,} of {len(rows):,} files of {job.folder} are not submitted: {unsent[0]}.",
            f"sightline batch submit {job.folder}",
        )


def _too_late(job: Job, rows: tuple[Row, ...], deadline: float) -> StoppedError:
    open_ = [row for row in rows if not row.has_ended and not row.parsed]
    names = ", ".join(f"{row.batch_id} ({row.status})" for row in open_[:3])
    return StoppedError(
        f"{len(open_):,} of {len(rows):,} batches have not ended after {deadline:,.0f} s: {names}.",
        f"wait again, or ask for the rest live: sightline batch wait {job.folder} --deadline 0s --then-live",
    )


async def cancel(job: Job, store: Store, server: BatchServer) -> tuple[Row, ...]:
    """Cancel whatever has not ended; what is done by then is kept, and paid for."""
    for row in await refresh(job, store, server):
        if row.batch_id is None or row.has_ended:
            continue
        try:
            store.saw(job, row.shard, await server.cancel(row.batch_id))
        except ServerError as error:
            if error.failure.retryable or error.failure.kind in ("auth", "no-credit"):
                raise
            remote = await server.get(row.batch_id)  # It ended in the same moment.
            if remote is None or not remote.has_ended:
                raise
            store.saw(job, row.shard, remote)
    return store.rows(job)


async def download(job: Job, store: Store, server: BatchServer) -> tuple[Row, ...]:
    """Fetch the results of all batches that have ended, whole or not at all; what is here already is not fetched."""
    folder = job.folder / DOWNLOADS
    folder.mkdir(exist_ok=True)
    for row in await refresh(job, store, server):
        if row.parsed or row.downloaded or not row.has_ended:
            continue
        lost = []
        for file_id, path in zip((row.output_file_id, row.error_file_id), result_files(job, row.shard), strict=True):
            if file_id is not None and not path.exists() and not await server.save(file_id, path):
                lost.append(file_id)
        if lost:
            store.note(job, row.shard, message=f"the server no longer has {' and '.join(lost)}")
        store.note(job, row.shard, downloaded=1)
    return store.rows(job)


def result_files(job: Job, shard: str) -> tuple[Path, Path]:
    """Where the output and the errors of a shard's batch are kept."""
    stem = job.folder / DOWNLOADS / Path(shard).stem
    return stem.with_name(f"{stem.name}.output.jsonl"), stem.with_name(f"{stem.name}.errors.jsonl")
