"""What is known of the batches of a workspace: in the journal's file, so that it outlives a kill at any moment."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from sightline.calls.batches.client import ENDED, RemoteBatch
from sightline.calls.batches.job import BatchJob
from sightline.calls.journal import write_calls
from sightline.calls.journal_repair import REPAIR
from sightline.calls.journal_tables import JOURNAL_FILE, MIGRATIONS, Call
from sightline.io.sqlite import open_database, transaction
from sightline.types import Failure

READY, UPLOADING, CREATING, GONE = "ready", "uploading", "creating", "gone"
"""Our own words beside the server's: not sent; being sent; being made a batch of; no longer known to the server."""
_FEWEST_MISSES, _SHORTEST_ABSENCE = 4, 900.0
"""So often, and for so many seconds, a server must not know a batch before it is given up."""


@dataclass(frozen=True, slots=True)
class BatchRow:
    """One shard of a job, and the batch that it became."""

    job: str
    shard: str
    folder: str
    model: str
    endpoint: str
    requests: int
    at: float
    status: str
    message: str
    file_id: str | None
    batch_id: str | None
    output_file_id: str | None
    error_file_id: str | None
    completed: int
    failed: int
    downloaded: bool
    parsed: bool
    missed: int
    missed_since: float | None

    @property
    def has_ended(self) -> bool:
        return self.status in ENDED or self.status == GONE

    @property
    def went_well(self) -> bool:
        return self.status == "completed" and not self.failed

    def __str__(self) -> str:
        """A line for people."""
        name = f"{self.shard} ({self.batch_id or 'no batch'}): {self.status}"
        counts = f", {self.completed:,} of {self.requests:,} done" if self.batch_id else f", {self.requests:,} requests"
        failed = f", {self.failed:,} failed" if self.failed else ""
        return name + counts + failed + (f": {self.message}" if self.message else "")


_NAMES = tuple(field.name for field in fields(BatchRow))
_COLUMNS = ", ".join(_NAMES)


@dataclass(frozen=True, slots=True)
class BatchResult:
    """What came of one item: `failure` None means that the journal holds its reply."""

    id: str
    shard: str
    failure: Failure | None


class BatchStore:
    """The batches of one workspace."""

    def __init__(self, workspace: Path) -> None:
        self._database = open_database(workspace / JOURNAL_FILE, MIGRATIONS, existing=True, fix=REPAIR)
        self._database.execute("PRAGMA synchronous = FULL")  # A batch that was paid for outlives a power cut, too.

    def __enter__(self) -> BatchStore:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    def register(self, job: BatchJob) -> None:
        """Take note of the shards of a job; those known already stay as they are."""
        folder = str(job.folder.absolute())
        now = time.time()
        with transaction(self._database):
            self._database.executemany(
                """INSERT INTO batches (job, shard, folder, model, endpoint, requests, at, status)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (job, shard) DO UPDATE SET folder = excluded.folder""",
                [
                    (job.id, shard.file, folder, job.model, job.endpoint, shard.requests, now, READY)
                    for shard in job.shards
                ],
            )

    def rows(self, job: BatchJob | None = None) -> tuple[BatchRow, ...]:
        """The shards of a job in order; of all jobs when none is given."""
        query = f"SELECT {_COLUMNS} FROM batches"
        if job is None:
            return tuple(map(_row, self._database.execute(f"{query} ORDER BY at, job, shard")))
        found = {row.shard: row for row in map(_row, self._database.execute(f"{query} WHERE job = ?", (job.id,)))}
        return tuple(found[shard.file] for shard in job.shards if shard.file in found)

    def row(self, job: BatchJob, shard: str) -> BatchRow:
        """One shard."""
        return next(row for row in self.rows(job) if row.shard == shard)

    def note(self, job: BatchJob, shard: str, **values: str | float | None) -> None:
        """Change what is known of a shard; on disk when this returns."""
        names = ", ".join(f"{name} = ?" for name in values)
        self._database.execute(
            f"UPDATE batches SET {names} WHERE job = ? AND shard = ?",
            (*values.values(), job.id, shard),
        )

    def saw(self, job: BatchJob, shard: str, remote: RemoteBatch) -> None:
        """Keep what the server tells of a batch."""
        self.note(
            job,
            shard,
            batch_id=remote.id,
            status=remote.status,
            message=remote.message,
            file_id=remote.input_file_id,
            output_file_id=remote.output_file_id,
            error_file_id=remote.error_file_id,
            completed=remote.completed,
            failed=remote.failed,
            missed=0,
            missed_since=None,
        )

    def missed(self, job: BatchJob, row: BatchRow, now: float) -> None:
        """The server did not know a batch. One such answer proves nothing: only several over some time do."""
        since = now if row.missed_since is None else row.missed_since
        times = row.missed + 1
        is_gone = row.status == GONE or (times >= _FEWEST_MISSES and now - since >= _SHORTEST_ABSENCE)
        words = "the server no longer knows this batch" if is_gone else "not known to the server just now; asked again"
        self.note(
            job,
            row.shard,
            status=GONE if is_gone else row.status,
            message=words,
            missed=times,
            missed_since=since,
        )

    def results(self, job: BatchJob) -> dict[str, BatchResult]:
        """What came of the items that were read so far."""
        rows = self._database.execute(
            "SELECT id, shard, failure, message, retryable FROM batch_results WHERE job = ?", (job.id,)
        )
        return {
            custom_id: BatchResult(
                custom_id, shard, None if kind is None else Failure(kind, message or "", bool(retryable))
            )
            for custom_id, shard, kind, message, retryable in rows
        }

    def keep(
        self, job: BatchJob, calls: Iterable[Call], results: Sequence[BatchResult], parsed: str | None = None
    ) -> None:
        """Write calls, results and the mark that a shard is read: all of it or nothing."""
        with transaction(self._database):
            write_calls(self._database, calls)
            self._database.executemany(
                "INSERT OR REPLACE INTO batch_results VALUES (?, ?, ?, ?, ?, ?)",
                [_values(job, result) for result in results],
            )
            if parsed is not None:
                self.note(job, parsed, parsed=1)


def _values(job: BatchJob, result: BatchResult) -> tuple[Any, ...]:
    failed = result.failure
    if failed is None:
        return (job.id, result.id, result.shard, None, None, 0)
    return (job.id, result.id, result.shard, failed.kind, failed.message, int(failed.retryable))


def _row(values: tuple[Any, ...]) -> BatchRow:
    named = dict(zip(_NAMES, values, strict=True))
    return BatchRow(**named | {name: bool(named[name]) for name in ("downloaded", "parsed")})
