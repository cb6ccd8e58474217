"""The files of a job as batches on the server: submitted exactly once, followed to their end, cancelled, downloaded.

Whatever is killed or lost on the way, nothing is submitted twice; and nobody waits without a deadline.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from sightline.calls.batches.client import BatchClient, BatchServerError, RemoteBatch
from sightline.calls.batches.job import DOWNLOADS, BatchJob, BatchShard
from sightline.calls.batches.store import CREATING, GONE, READY, UPLOADING, BatchRow, BatchStore
from sightline.errors import StoppedError, UserError

JOB, SHARD = "sightline_job", "sightline_shard"
"""Written into each batch, so that it is found again from any machine."""
_TRIES = 4
EVERY = 60.0
LONGEST = 25 * 3600.0
"""A provider's window is a day; what has not ended an hour later never will."""
Tell = Callable[[str], None]


async def submit(
    job: BatchJob, store: BatchStore, server: BatchClient, *, tell: Callable[[str], None] = lambda _: None
) -> tuple[BatchRow, ...]:
    """Upload what is not submitted yet and make batches of it; what was submitted before, anywhere, is left alone."""
    store.register(job)
    if any(row.batch_id is None for row in store.rows(job)):
        await adopt(job, store, server)
    for shard in job.shards:
        row = store.row(job, shard.file)
        if row.batch_id is None and not row.parsed:
            await _send(job, shard, row, store, server)
            tell(str(store.row(job, shard.file)))
    return store.rows(job)


async def adopt(job: BatchJob, store: BatchStore, server: BatchClient) -> int:
    """Find batches of this job that the server has and this workspace does not know; returns how many."""
    store.register(job)
    unknown = {row.shard: row for row in store.rows(job) if row.batch_id is None}
    found = 0
    async for remote in server.batches():
        shard = _shard_of(remote, job, unknown)
        if shard is not None:
            store.saw(job, shard, remote)
            del unknown[shard]
            found += 1
        if not unknown:
            break
    return found


async def adopt_ids(job: BatchJob, store: BatchStore, server: BatchClient, ids: Sequence[str]) -> None:
    """Take batches by their ids: to the shard that they name, else to the next that has none.

    One that was given up, and is there again, is read again.
    """
    store.register(job)
    for batch_id in ids:
        rows = store.rows(job)
        if any(row.batch_id == batch_id and row.status != GONE for row in rows):
            continue
        remote = await server.get(batch_id)
        if remote is None:
            raise UserError(f"{server.endpoint} knows no batch {batch_id}.", "check the id and the key")
        unknown = {row.shard: row for row in rows if row.batch_id in (None, batch_id) or row.status == GONE}
        if remote.metadata.get(JOB, job.id) != job.id:
            raise UserError(f"the batch {batch_id} belongs to another job.", "give the ids of this one")
        known = next((row.shard for row in rows if row.batch_id == batch_id), None)
        shard = known or _shard_of(remote, job, unknown) or next(iter(unknown), None)
        if shard is None:
            raise UserError(f"every file of {job.folder} has its batch already.", f"leave {batch_id} out")
        store.saw(job, shard, remote)
        store.note(job, shard, downloaded=0, parsed=0)


def _shard_of(remote: RemoteBatch, job: BatchJob, unknown: dict[str, BatchRow]) -> str | None:
    if remote.metadata.get(JOB) == job.id:
        shard = remote.metadata.get(SHARD)
        return shard if shard in unknown else None
    for shard, row in unknown.items():  # A server that forgets metadata.
        if row.file_id is not None and row.file_id == remote.input_file_id:
            return shard
    return None


async def _send(job: BatchJob, shard: BatchShard, row: BatchRow, store: BatchStore, server: BatchClient) -> None:
    path = job.check(shard)
    name = f"sightline-{job.id}-{shard.file}"
    file_id = row.file_id
    if file_id is None and row.status != READY:  # Killed while uploading: it may have arrived.
        file_id = await server.find_file(name)
    if file_id is None:
        store.note(job, shard.file, status=UPLOADING)
        file_id = await server.upload(path, name)
    store.note(job, shard.file, status=CREATING, file_id=file_id)
    for number in range(1, _TRIES + 1):
        try:
            remote = await server.create(file_id, job.url, job.window, {JOB: job.id, SHARD: shard.file})
        except BatchServerError as error:
            if not error.failure.retryable or number == _TRIES:
                raise
            # The answer may be lost although the batch was made.
            await asyncio.sleep(server.retry.pause(number))
            await adopt(job, store, server)
            if store.row(job, shard.file).batch_id is not None:
                return
        else:
            store.saw(job, shard.file, remote)
            return


async def refresh(
    job: BatchJob, store: BatchStore, server: BatchClient, *, clock: Callable[[], float] = time.time
) -> tuple[BatchRow, ...]:
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
    job: BatchJob,
    store: BatchStore,
    server: BatchClient,
    *,
    every: float = EVERY,
    deadline: float = LONGEST,
    tell: Tell = lambda _: None,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    wall: Callable[[], float] = time.time,
) -> tuple[BatchRow, ...]:
    """Wait until all batches have ended, however they did; `StoppedError` when that takes longer than `deadline`."""
    start = clock()
    told: dict[str, str] = {}
    rows: tuple[BatchRow, ...] = ()
    while True:
        try:
            rows = await refresh(job, store, server, clock=wall)
        except BatchServerError as error:
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


def _refuse_unsent(job: BatchJob, rows: tuple[BatchRow, ...]) -> None:
    unsent = [row.shard for row in rows if row.batch_id is None and not row.parsed]
    if unsent:
        raise UserError(
            f"{len(unsent):,} of {len(rows):,} files of {job.folder} are not submitted: {unsent[0]}.",
            f"sightline batch submit {job.folder}",
        )


def _too_late(job: BatchJob, rows: tuple[BatchRow, ...], deadline: float) -> StoppedError:
    open_ = [row for row in rows if not row.has_ended and not row.parsed]
    names = ", ".join(f"{row.batch_id} ({row.status})" for row in open_[:3])
    return StoppedError(
        f"{len(open_):,} of {len(rows):,} batches have not ended after {deadline:,.0f} s: {names}.",
        f"wait again, or ask for the rest live: sightline batch wait {job.folder} --deadline 0s --then-live",
    )


async def cancel(job: BatchJob, store: BatchStore, server: BatchClient) -> tuple[BatchRow, ...]:
    """Cancel whatever has not ended; what is done by then is kept, and paid for."""
    for row in await refresh(job, store, server):
        if row.batch_id is None or row.has_ended:
            continue
        try:
            store.saw(job, row.shard, await server.cancel(row.batch_id))
        except BatchServerError as error:
            if error.failure.retryable or error.failure.kind in ("auth", "no-credit"):
                raise
            remote = await server.get(row.batch_id)  # It ended in the same moment.
            if remote is None or not remote.has_ended:
                raise
            store.saw(job, row.shard, remote)
    return store.rows(job)


async def download(job: BatchJob, store: BatchStore, server: BatchClient) -> tuple[BatchRow, ...]:
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


def result_files(job: BatchJob, shard: str) -> tuple[Path, Path]:
    """Where the output and the errors of a shard's batch are kept."""
    stem = job.folder / DOWNLOADS / Path(shard).stem
    return stem.with_name(f"{stem.name}.output.jsonl"), stem.with_name(f"{stem.name}.errors.jsonl")
