"""What a job still lacks: asked for in a new batch, or live after a deadline; and all of its answers in one file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from sightline.calls.batches.client import BatchClient
from sightline.calls.batches.job import RESULTS, BatchItem, BatchJob, BatchShard, key_of, line_id
from sightline.calls.batches.job_files import BatchFileWriter
from sightline.calls.batches.results import parse
from sightline.calls.batches.store import BatchResult, BatchStore
from sightline.calls.batches.submission import EVERY, LONGEST, Tell, cancel, download, wait
from sightline.calls.journal import Journal
from sightline.calls.journal_tables import KEPT_FAILURES
from sightline.calls.prices import Prices
from sightline.calls.session import purpose
from sightline.engine.async_map import Stage, map_async
from sightline.errors import StoppedError, UserError
from sightline.io.jsonl import read_lines, write_jsonl
from sightline.models.http import HttpTransport
from sightline.models.protocols import ChatModel
from sightline.types import ChatReply, Failure

PENDING = Failure("pending", "its batch has not been read yet", True)
LIVE = "live"
GRACE = 600.0
"""So long a cancelled batch may take to end, before the rest is asked for without its results."""


@dataclass(frozen=True, slots=True)
class BatchSummary:
    """How a job stands: `answered`, by kind of `failures`, and what is `pending` (not read yet)."""

    requests: int
    answered: int
    failures: dict[str, int]
    pending: int

    def __str__(self) -> str:
        failed = f"{sum(self.failures.values()):,} failed"
        if self.failures:
            failed += f" ({', '.join(f'{count:,} {kind}' for kind, count in sorted(self.failures.items()))})"
        pending = f", {self.pending:,} not read yet" if self.pending else ""
        return f"{self.answered:,} of {self.requests:,} answered, {failed}{pending}"


def outcomes(job: BatchJob, store: BatchStore, journal: Journal) -> Iterator[tuple[BatchItem, ChatReply | Failure]]:
    """Each item with its answer, its failure, or `PENDING`; equal requests share one."""
    results = store.results(job)
    failed: dict[bytes, Failure] = {}
    for item in job.items():
        known = journal.find(item.key) if item.key else None
        if isinstance(known, ChatReply):
            yield item, known
            continue
        result = results.get(item.id)
        failure = item.failure or (result.failure if result is not None else None)
        failure = failure or failed.get(item.key) or (known if isinstance(known, Failure) else None) or PENDING
        if item.key and failure is not PENDING:
            failed[item.key] = failure
        yield item, failure


def write_results(job: BatchJob, store: BatchStore, journal: Journal) -> BatchSummary:
    """Write results.jsonl, a line for each item in the order of the requests, and count."""
    counts: Counter[str] = Counter()
    answered = 0

    def rows() -> Iterator[dict[str, Any]]:
        nonlocal answered
        for item, outcome in outcomes(job, store, journal):
            if isinstance(outcome, ChatReply):
                answered += 1
            else:
                counts[outcome.kind] += 1
            yield _row(item, outcome)

    write_jsonl(job.folder / RESULTS, rows())
    pending = counts.pop(PENDING.kind, 0)
    return BatchSummary(job.requests, answered, dict(counts), pending)


def _row(item: BatchItem, outcome: ChatReply | Failure) -> dict[str, Any]:
    if isinstance(outcome, Failure):
        return {"id": item.id, "failure": {"kind": outcome.kind, "message": outcome.message}}
    row: dict[str, Any] = {"id": item.id, "text": outcome.text}
    if outcome.parsed is not None:
        row["parsed"] = outcome.parsed
    if outcome.thinking:
        row["thinking"] = outcome.thinking
    if outcome.tool_calls:
        row["tool_calls"] = [asdict(call) for call in outcome.tool_calls]
    return {**row, "usage": asdict(outcome.usage), "usd": outcome.usd}


def make_retry(job: BatchJob, store: BatchStore, journal: Journal, *, every_failure: bool = False) -> BatchJob:
    """Add files that ask once more for what failed or is missing; the bodies are those of the first time.

    Without `every_failure`, only for what another attempt may help. A job has to be read before it is retried.
    """
    store.register(job)
    unread = [row.shard for row in store.rows(job) if not row.parsed]
    if unread:
        raise UserError(
            f"{unread[0]} has not been read, so it is not known what failed.",
            f"sightline batch parse {job.folder}, or submit it if it never was",
        )
    wanted = {
        item.id
        for item, outcome in outcomes(job, store, journal)
        if isinstance(outcome, Failure) and item.failure is None and (outcome.retryable or every_failure)
    }
    number = 1 + max((shard.round for shard in job.shards), default=0)
    writer = BatchFileWriter(job.folder, f"retry-{number}", job.max_requests, job.max_bytes, number)
    for shard in job.shards:
        for row in _lines(job, shard):
            custom_id = line_id(row)
            if custom_id in wanted:
                wanted.discard(custom_id)
                writer.add(row)
    shards = writer.close()
    if not shards:
        raise UserError(
            f"No failure in {job.folder} is worth a retry.", "look into results.jsonl, or give --every-failure"
        )
    job = job.with_shards(shards)
    job.save()
    store.register(job)
    return job


def _lines(job: BatchJob, shard: BatchShard) -> Iterator[bytes]:
    for _, row in read_lines(job.check(shard)):
        yield row


async def ask_live(
    job: BatchJob, store: BatchStore, journal: Journal, model: ChatModel, *, concurrency: int = 64
) -> int:
    """Ask live for everything that has no answer and may get one; returns how many were asked for."""
    if job.wire is None:
        raise UserError(
            f"{job.folder} was made by an earlier version: live replies would not be found under its keys.",
            f"sightline batch retry {job.folder}, or make the job again",
        )
    wanted = [
        item
        for item, outcome in outcomes(job, store, journal)
        if isinstance(outcome, Failure)
        and item.request is not None
        and outcome.kind not in KEPT_FAILURES
        and outcome.retryable
    ]
    # Equal requests once; the others find the answer in the journal.
    distinct = list({item.key: item for item in reversed(wanted)}.values())[::-1]

    async def ask(item: BatchItem) -> ChatReply | Failure:
        return await _ask(job, item, model)

    stage: Stage[BatchItem, ChatReply] = Stage(f"{job.stage}, live", ask)
    async for item, result in map_async(distinct, stage, concurrency=concurrency, show_progress=False):
        store.keep(job, (), [BatchResult(item.id, LIVE, result if isinstance(result, Failure) else None)])
    return len(distinct)


async def _ask(job: BatchJob, item: BatchItem, model: ChatModel) -> ChatReply | Failure:
    assert item.request is not None
    key = key_of(item.request, job.endpoint, job.wire or "")
    if isinstance(key, Failure):
        return key
    if key != item.key:
        return Failure("bad-picture", "a picture is not what it was when the batch was made; make it again")
    with purpose(item.id):
        return await model.reply(item.request)


async def finish_live(
    job: BatchJob,
    store: BatchStore,
    server: BatchClient,
    journal: Journal,
    transport: HttpTransport,
    prices: Prices,
    model: ChatModel,
    *,
    every: float = EVERY,
    deadline: float = LONGEST,
    grace: float = GRACE,
    tell: Tell = lambda _: None,
) -> BatchSummary:
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
