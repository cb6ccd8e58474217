"""Requests of a stage → the files of a job, sharded by count and bytes, whole or not at all."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import time
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from sightline.calls.batches.job import (
    ITEMS,
    MANIFEST,
    PICTURES,
    BatchJob,
    BatchShard,
    batch_line,
    item_row,
    key_of,
    to_json,
)
from sightline.calls.journal import Journal
from sightline.errors import UserError
from sightline.io.files import whole_folder
from sightline.io.jsonl import dump
from sightline.models.http import HttpTransport
from sightline.types import ChatRequest, Failure

MAX_REQUESTS = 50_000
MAX_BYTES = 195_000_000
"""OpenAI takes 50,000 requests and 200 MB a file."""
_AT_ONCE = 32
_LONGEST_ID = 512


class BatchFileWriter:
    """Writes lines into numbered files, a new one whenever the next line would not fit."""

    def __init__(self, folder: Path, stem: str, max_requests: int, max_bytes: int, number: int = 0) -> None:
        if max_requests < 1 or max_bytes < 1:
            raise UserError("a file of a batch must hold at least one request.", "raise --max-requests or --max-bytes")
        self.max_bytes = max_bytes
        self._folder, self._stem, self._max_requests, self._round = folder, stem, max_requests, number
        self._done: list[BatchShard] = []
        self._file: BinaryIO | None = None
        self._hash = hashlib.sha256()
        self._requests = self._bytes = 0

    def add(self, row: bytes) -> None:
        """Append a line."""
        full = self._requests >= self._max_requests or self._bytes + len(row) > self.max_bytes
        if self._file is not None and full:
            self._finish()
        if self._file is None:
            self._file = (self._folder / self._name).open("wb")
            self._hash, self._requests, self._bytes = hashlib.sha256(), 0, 0
        self._file.write(row)
        self._hash.update(row)
        self._requests += 1
        self._bytes += len(row)

    def close(self) -> list[BatchShard]:
        """All files that were written."""
        if self._file is not None:
            self._finish()
        return self._done

    @property
    def _name(self) -> str:
        return f"{self._stem}-{len(self._done):04}.jsonl"

    def _finish(self) -> None:
        assert self._file is not None
        self._file.close()
        self._file = None
        digest = self._hash.hexdigest()
        self._done.append(BatchShard(self._name, self._requests, self._bytes, digest, self._round))


async def make_job(
    items: Iterable[tuple[str, ChatRequest]],
    transport: HttpTransport,
    out: Path,
    *,
    journal: Journal | None = None,
    stage: str = "batch",
    max_requests: int = MAX_REQUESTS,
    max_bytes: int = MAX_BYTES,
    window: str = "24h",
    price_factor: float | None = None,
) -> BatchJob:
    """Write the job of a stage; nothing is sent.

    The bodies are those that live calls would send. What the journal already answers, and a request that equals an
    earlier one, is not asked for again. A request that can't be sent is kept as a failure, and said in the results.
    """
    if (out / MANIFEST).exists():
        raise UserError(f"{out} holds a batch job already.", "submit that one, or choose another --out")
    with whole_folder(out, marker=MANIFEST) as folder:
        making = _JobBuilder(transport, folder, journal, BatchFileWriter(folder, "shard", max_requests, max_bytes))
        await making.run(items)
        shards = making.writer.close()
        if not making.requests:
            raise UserError("there are no requests to make a batch of.", "give at least one")
        job = BatchJob(
            folder=out,
            id=secrets.token_hex(8),
            stage=stage,
            model=making.model,
            endpoint=transport.endpoint,
            api=transport.api,
            made=time.time(),
            requests=making.requests,
            known=making.known,
            refused=making.refused,
            window=window,
            max_requests=max_requests,
            max_bytes=max_bytes,
            price_factor=price_factor,
            wire=transport.wire,
            shards=tuple(shards),
        )
        job.save(folder)
    return job


class _JobBuilder:
    def __init__(
        self, transport: HttpTransport, folder: Path, journal: Journal | None, writer: BatchFileWriter
    ) -> None:
        self._transport, self._folder, self._journal, self.writer = transport, folder, journal, writer
        self._url = "/v1/chat/completions" if transport.api == "chat" else "/v1/responses"
        self._ids: set[str] = set()
        self._keys: set[bytes] = set()
        self.model = ""
        self.requests = self.known = self.refused = 0

    async def run(self, items: Iterable[tuple[str, ChatRequest]]) -> None:
        with (self._folder / ITEMS).open("wb") as file:
            for group in _groups(items, _AT_ONCE):
                built = await asyncio.gather(*(self._build(custom_id, request) for custom_id, request in group))
                for (custom_id, request), (key, body) in zip(group, built, strict=True):
                    failure = self._add(custom_id, body)
                    kept = None if failure is not None else to_json(request, self._folder / PICTURES)
                    file.write(dump(item_row(custom_id, key, kept, failure)))

    async def _build(self, custom_id: str, request: ChatRequest) -> tuple[bytes, bytes | Failure | None]:
        """The key and the body; None in place of a body that is not needed."""
        self._check(custom_id, request)
        key = await asyncio.to_thread(key_of, request, self._transport.endpoint, self._transport.wire)
        if isinstance(key, Failure):
            return b"", key
        if key in self._keys or (self._journal is not None and self._journal.find(key) is not None):
            return key, None
        self._keys.add(key)
        return key, await self._transport.body(request)

    def _check(self, custom_id: str, request: ChatRequest) -> None:
        if not custom_id or len(custom_id) > _LONGEST_ID:
            raise UserError(f'"{custom_id[:80]}" is not an id: 1 to {_LONGEST_ID} characters.', "give a shorter one")
        if custom_id in self._ids:
            raise UserError(f'the id "{custom_id}" is given twice.', "give each request an id of its own")
        self._ids.add(custom_id)
        self.model = self.model or request.model
        if request.model != self.model:
            raise UserError(
                f'"{custom_id}" asks {request.model}, and others ask {self.model}.', "make a batch for each model"
            )

    def _add(self, custom_id: str, body: bytes | Failure | None) -> Failure | None:
        self.requests += 1
        if body is None:
            self.known += 1
            return None
        if isinstance(body, bytes):
            row = batch_line(custom_id, self._url, body)
            if len(row) <= self.writer.max_bytes:
                self.writer.add(row)
                return None
            limit = self.writer.max_bytes
            body = Failure("bad-request", f"the request has {len(row):,} bytes, and a file may have {limit:,}")
        self.refused += 1
        return body


def _groups(items: Iterable[tuple[str, ChatRequest]], size: int) -> Iterator[list[tuple[str, ChatRequest]]]:
    drawn = iter(items)
    while group := list(islice(drawn, size)):
        yield group
