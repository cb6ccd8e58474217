"""Results of batches → replies in the journal, under the keys of live calls; what is missing is a named failure."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sightline.calls.batches.job import BatchItem, BatchJob, BatchShard
from sightline.calls.batches.store import BatchResult, BatchRow, BatchStore
from sightline.calls.batches.submission import result_files
from sightline.calls.journal import Journal
from sightline.calls.journal_tables import Call
from sightline.calls.prices import Prices
from sightline.errors import UserError
from sightline.io.jsonl import json_object, read_lines
from sightline.models.failures import read_error_payload, status_failure
from sightline.models.http import HttpTransport
from sightline.models.protocols import CallOutcome
from sightline.models.replies import NOT_REPORTED
from sightline.types import ChatReply, ChatRequest, Failure, Usage

_ENDS = {
    "expired": Failure("expired", "the batch expired before this was answered", True),
    "cancelled": Failure("cancelled", "the batch was cancelled before this was answered", True),
    "failed": Failure("batch-failed", "the batch failed", True),
}
_CODES = {"batch_expired": "expired", "batch_cancelled": "cancelled", "batch_canceled": "cancelled"}


@dataclass(slots=True)
class ParsedResults:
    """What a reading of results found, beside the results themselves."""

    read: int = 0
    duplicates: int = 0
    "Lines for what was answered already; the first answer stays."
    strangers: int = 0
    "Lines for what this job never asked."
    unreadable: int = 0
    usd: float = 0.0
    unpriced: int = 0
    failures: Counter[str] = field(default_factory=Counter)


def parse(
    job: BatchJob,
    store: BatchStore,
    journal: Journal,
    transport: HttpTransport,
    prices: Prices,
    *,
    partial: bool = False,
) -> ParsedResults:
    """Read the downloaded results of every batch once; a second time nothing happens.

    Without `partial`, batches that have not ended or are not downloaded are the user's mistake, because their items
    would look like failures.
    """
    store.register(job)
    rows = {row.shard: row for row in store.rows(job)}
    if not partial:
        _refuse_unfinished(job, tuple(rows.values()))
    reader = _Reader(job, store, journal, transport, prices)
    for shard in job.shards:
        row = rows[shard.file]
        if row.downloaded and not row.parsed:
            reader.read(shard, row, result_files(job, shard.file))
    return reader.parsed


def parse_files(
    job: BatchJob, store: BatchStore, journal: Journal, transport: HttpTransport, prices: Prices, files: Sequence[Path]
) -> ParsedResults:
    """Read results that `vllm run-batch`, or anybody else, wrote for files of this job."""
    store.register(job)
    for path in files:
        if not path.is_file():
            raise UserError(f"there is no file {path}.", "give the output of `vllm run-batch`")
    found = {custom_id for path in files for custom_id in _ids_in(path)}
    reader = _Reader(job, store, journal, transport, prices)
    touched = 0
    for shard in job.shards:
        row = store.row(job, shard.file)
        if row.batch_id is not None or found.isdisjoint(job.ids(shard)):
            continue
        touched += 1
        if not row.parsed:
            store.note(job, shard.file, status="completed", downloaded=1, completed=shard.requests)
            reader.read(shard, store.row(job, shard.file), files)
    if not touched:
        names = ", ".join(str(path) for path in files)
        raise UserError(f"{names} answers nothing that is left to answer in {job.folder}.", "check the file")
    return reader.parsed


def _ids_in(path: Path) -> Iterable[str]:
    for _, line in read_lines(path):
        row = json_object(line)
        if row is not None:
            yield str(row.get("custom_id"))


def _refuse_unfinished(job: BatchJob, rows: tuple[BatchRow, ...]) -> None:
    for row in rows:
        if row.parsed or (row.has_ended and row.downloaded):
            continue
        if row.batch_id is None:
            raise UserError(f"{row.shard} is not submitted.", f"sightline batch submit {job.folder}")
        if not row.has_ended:
            raise UserError(
                f"the batch of {row.shard} has not ended ({row.status}).",
                f"sightline batch wait {job.folder}, or --partial to read only what is there",
            )
        raise UserError(f"the results of {row.shard} are not here.", f"sightline batch download {job.folder}")


class _Reader:
    def __init__(
        self, job: BatchJob, store: BatchStore, journal: Journal, transport: HttpTransport, prices: Prices
    ) -> None:
        self._job, self._store, self._journal, self._transport = job, store, journal, transport
        self._items = {item.id: item for item in job.items()}
        self._results = store.results(job)
        self._price = _Price(job, prices)
        self.parsed = ParsedResults()

    def read(self, shard: BatchShard, row: BatchRow, files: Sequence[Path]) -> None:
        """Everything that a batch says, and what it does not say, in one transaction."""
        wanted = dict.fromkeys(self._job.ids(shard))
        outcomes: dict[str, CallOutcome] = {}
        for path in files:
            if path.exists():
                self._gather(path, wanted, outcomes)
        calls: list[Call] = []
        results: list[BatchResult] = []
        for custom_id in wanted:
            item = self._items[custom_id]
            outcome = outcomes.get(custom_id) or CallOutcome(_missing(row))
            calls += self._call(item, outcome, custom_id in outcomes)
            result = self._result(item, shard.file, outcome)
            self._results[custom_id] = result
            results.append(result)
        self._store.keep(self._job, calls, results, parsed=shard.file)

    def _gather(self, path: Path, wanted: Mapping[str, None], outcomes: dict[str, CallOutcome]) -> None:
        for _, line in read_lines(path):
            row = json_object(line)
            if row is None:
                self.parsed.unreadable += 1
                continue
            custom_id = str(row.get("custom_id"))
            if custom_id not in wanted:
                self.parsed.strangers += custom_id not in self._items
                continue
            request = self._items[custom_id].request
            assert request is not None  # What could not be asked for is in no file.
            outcome = self._outcome(row, request)
            before = outcomes.get(custom_id)
            if before is None:
                outcomes[custom_id] = outcome
                continue
            self.parsed.duplicates += 1
            if isinstance(before.result, Failure) and isinstance(outcome.result, ChatReply):
                outcomes[custom_id] = outcome

    def _outcome(self, row: Mapping[str, Any], request: ChatRequest) -> CallOutcome:
        response = row.get("response")
        status = response.get("status_code") if isinstance(response, dict) else None
        body = response.get("body") if isinstance(response, dict) else None
        asked = f"{request.model} in a batch"
        if isinstance(status, int) and not 200 <= status < 300:
            return CallOutcome(
                status_failure(status, read_error_payload(body if body else row.get("error")), asked), status
            )
        error = row.get("error")
        if error:
            code = str(error.get("code")) if isinstance(error, dict) else ""
            known = _CODES.get(code)
            if known is not None:
                return CallOutcome(_ENDS[known])
            return self._transport.read({"error": error}, request)
        if not isinstance(body, dict):
            return CallOutcome(Failure("empty", f"{asked}: the line holds no reply", True), status)
        return self._transport.read(body, request)

    def _call(self, item: BatchItem, outcome: CallOutcome, answered: bool) -> list[Call]:
        """What goes into the journal: paid for, so it counts also when it answers what was answered before."""
        usage = outcome.usage
        usd = self._price(usage) if usage is not None else 0.0
        result: ChatReply | Failure = outcome.result
        if self._is_answered(item):
            if not answered:
                return []
            self.parsed.duplicates += 1
            result = Failure("duplicate", "answered already; the first answer stays")
        elif isinstance(result, ChatReply):
            result = replace(result, usd=usd)
        else:
            result = replace(result, partial=outcome.words)
        self.parsed.read += 1
        self.parsed.usd += usd or 0.0
        self.parsed.unpriced += usd is None
        if isinstance(result, Failure):
            self.parsed.failures[result.kind] += 1
        return [
            Call(
                key=item.key,
                stage=self._job.stage,
                task=item.id,
                model=self._job.model,
                endpoint=self._job.endpoint,
                sample=0 if item.request is None else item.request.sample,
                at=time.time(),
                usage=usage or NOT_REPORTED,
                usd=usd,
                result=result,
            )
        ]

    def _result(self, item: BatchItem, shard: str, outcome: CallOutcome) -> BatchResult:
        before = self._results.get(item.id)
        if before is not None and before.failure is None:
            return before
        if isinstance(outcome.result, ChatReply) or self._is_answered(item):
            return BatchResult(item.id, shard, None)
        return BatchResult(item.id, shard, outcome.result)

    def _is_answered(self, item: BatchItem) -> bool:
        before = self._results.get(item.id)
        if before is not None and before.failure is None:
            return True
        return isinstance(self._journal.find(item.key), ChatReply)


class _Price:
    """What a call in a batch costs: a share of the live price if one was given, else the listed batch price."""

    def __init__(self, job: BatchJob, prices: Prices) -> None:
        self._factor = job.price_factor
        self._tariff = prices.tariff(job.model, job.stage, batch=self._factor is None)

    def __call__(self, usage: Usage) -> float | None:
        if self._tariff is None or not (usage.reported or self._tariff.is_free):
            return None
        return self._tariff.cost(usage) * (1.0 if self._factor is None else self._factor)


def _missing(row: BatchRow) -> Failure:
    """What became of an item that the results do not mention."""
    ended = _ENDS.get(row.status, Failure("missing", "the results of its batch do not mention it", True))
    words = f"{row.batch_id or row.shard}: {ended.message}"
    return Failure(ended.kind, f"{words}: {row.message}" if row.message else words, True)
