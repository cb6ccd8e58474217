"""Files of a job → batches on the server, each exactly once, whatever is killed or lost on the way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from sightline.errors import UserError
from sightline.models.batches.job import Job, Shard
from sightline.models.batches.server import BatchServer, Remote, ServerError
from sightline.models.batches.store import CREATING, GONE, READY, UPLOADING, Row, Store

JOB, SHARD = "sightline_job", "sightline_shard"
"""Written into each batch, so that it is found again from any machine."""
_TRIES = 4


async def submit(
    job: Job, store: Store, server: BatchServer, *, tell: Callable[[str], None] = lambda _: None
) -> tuple[Row, ...]:
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


async def adopt(job: Job, store: Store, server: BatchServer) -> int:
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


async def adopt_ids(job: Job, store: Store, server: BatchServer, ids: Sequence[str]) -> None:
    """Take batches by their ids: to the shard that they name, else to the next that has none.

    One that was given up, and is there again, is read anew.
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


def _shard_of(remote: Remote, job: Job, unknown: dict[str, Row]) -> str | None:
    if remote.metadata.get(JOB) == job.id:
        shard = remote.metadata.get(SHARD)
        return shard if shard in unknown else None
    for shard, row in unknown.items():  # A server that forgets metadata.
        if row.file_id is not None and row.file_id == remote.input_file_id:
            return shard
    return None


async def _send(job: Job, shard: Shard, row: Row, store: Store, server: BatchServer) -> None:
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
        except ServerError as error:
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
