"""The files and batches endpoints of an OpenAI-style server."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import aiohttp
import orjson

from sightline.calls.retry import RetryPolicy
from sightline.config.settings import ModelSettings
from sightline.errors import UserError
from sightline.models.failures import Scrubber, clip, failure, read_error, retry_after, status_failure
from sightline.models.http import open_session, reason_of
from sightline.models.providers import SERVER_KEY, check_url, find_key, parse_name, refuse_remote
from sightline.types import Failure

_log = logging.getLogger(__name__)
T = TypeVar("T")
ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
_SPELT = {"canceled": "cancelled", "canceling": "cancelling"}
_PAGE = 100
_MOST_PAGES = 1000
_CHUNK = 1 << 20
_NOT_THERE = 404
RETRY = RetryPolicy(attempts=5, overload_attempts=8, first_seconds=1.0, longest_seconds=30.0)


class BatchServerError(UserError):
    """The server refused, or can't be reached; `failure` says why, `status` is that of HTTP if there was one."""

    def __init__(self, failed: Failure, status: int | None = None) -> None:
        super().__init__(
            f"{failed.message} ({failed.kind}).", "then run the same command again: nothing is sent or paid twice"
        )
        self.failure, self.status = failed, status


@dataclass(frozen=True, slots=True)
class RemoteBatch:
    """A batch as the server tells of it; `status` in the spelling of OpenAI."""

    id: str
    status: str
    input_file_id: str | None = None
    output_file_id: str | None = None
    error_file_id: str | None = None
    completed: int = 0
    failed: int = 0
    message: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)

    @property
    def has_ended(self) -> bool:
        return self.status in ENDED


class BatchClient:
    """Talks to the endpoints; used as `async with BatchClient.open(…) as server`."""

    def __init__(
        self, endpoint: str, session: aiohttp.ClientSession, scrub: Scrubber, retry: RetryPolicy = RETRY
    ) -> None:
        self.endpoint = endpoint
        self._session, self._scrub, self.retry = session, scrub, retry

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        model: str,
        endpoint: str,
        models: ModelSettings | None = None,
        *,
        local_only: bool = False,
        retry: RetryPolicy = RETRY,
    ) -> AsyncIterator[BatchClient]:
        """The server behind a model, with its key; closed at the end of the block.

        The endpoint is that of a job's folder, which may come from anybody: no key goes there that is not meant for it.
        """
        name = parse_name(model)
        check_url(endpoint)
        if local_only:
            refuse_remote(model, endpoint)
        key = find_key(name, endpoint, models, instead="make the job again with --model vllm/MODEL", vouched=False)
        if key is None and any(os.environ.get(variable) for variable in (*name.provider.keys, SERVER_KEY)):
            _log.warning(
                "no key is sent to %s, which the job's folder names; if that is your server, name its variable in "
                "sightline.toml, under [models.hosts]",
                urlsplit(endpoint).netloc,
            )
        quiet, connect = (300.0, 15.0) if models is None else (models.quiet_seconds, models.connect_seconds)
        # A file of 200 MB may take its time, as long as something moves.
        timeout = aiohttp.ClientTimeout(total=None, connect=connect, sock_read=quiet)
        async with open_session(endpoint, key, timeout) as session:
            yield cls(endpoint, session, Scrubber([] if key is None else [key.get_secret_value()]), retry)

    async def upload(self, path: Path, name: str) -> str:
        """Send a file; returns its id. Sent again after a fault: a file that nobody uses costs nothing."""
        with ExitStack() as files:

            def form() -> aiohttp.FormData:  # Each attempt opens the file again: a form closes what it has sent.
                data = aiohttp.FormData()
                data.add_field("purpose", "batch")
                data.add_field("file", files.enter_context(path.open("rb")), filename=name)
                return data

            return str((await self._ask("POST", "/files", form=form))["id"])

    async def find_file(self, name: str) -> str | None:
        """The id of a file that was sent under this name."""
        async for row in self._pages("/files", purpose="batch"):
            if row.get("filename") == name:
                return str(row["id"])
        return None

    async def create(self, file_id: str, url: str, window: str, metadata: Mapping[str, str]) -> RemoteBatch:
        """Make a batch of a file. Tried once only: after a fault, look whether it is there."""
        body = {"input_file_id": file_id, "endpoint": url, "completion_window": window, "metadata": dict(metadata)}
        return _remote(await self._ask("POST", "/batches", body=body, once=True))

    async def get(self, batch_id: str) -> RemoteBatch | None:
        """A batch; None when the server does not know it."""
        try:
            return _remote(await self._ask("GET", f"/batches/{batch_id}"))
        except BatchServerError as error:
            if error.status == _NOT_THERE:
                return None
            raise

    async def batches(self) -> AsyncIterator[RemoteBatch]:
        """All batches of the account."""
        async for row in self._pages("/batches"):
            yield _remote(row)

    async def cancel(self, batch_id: str) -> RemoteBatch:
        """Stop a batch; what is done of it is kept, and paid for."""
        return _remote(await self._ask("POST", f"/batches/{batch_id}/cancel"))

    async def save(self, file_id: str, path: Path) -> bool:
        """Download a file, whole or not at all; False when it is not there (any more)."""
        part = path.with_name(f"{path.name}.part")

        async def write(response: aiohttp.ClientResponse) -> None:
            with part.open("wb") as file:
                async for chunk in response.content.iter_chunked(_CHUNK):
                    file.write(chunk)
                file.flush()
                os.fsync(file.fileno())

        try:
            await self._request("GET", f"/files/{file_id}/content", write)
        except BatchServerError as error:
            part.unlink(missing_ok=True)
            if error.status == _NOT_THERE:
                return False
            raise
        part.replace(path)
        return True

    # --- one question ------------------------------------------------------------------------------------------

    async def _pages(self, path: str, **query: str) -> AsyncIterator[Mapping[str, Any]]:
        after: str | None = None
        for _ in range(_MOST_PAGES):
            asked = {**query, "limit": str(_PAGE), **({} if after is None else {"after": after})}
            page = await self._ask("GET", path, query=asked)
            rows = [row for row in page.get("data") or () if isinstance(row, dict) and row.get("id")]
            for row in rows:
                yield row
            last = rows[-1]["id"] if rows else None
            if not page.get("has_more") or last is None or last == after:
                return
            after = str(last)

    async def _ask(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
        form: Callable[[], aiohttp.FormData] | None = None,
        once: bool = False,
    ) -> dict[str, Any]:
        def sent() -> Mapping[str, Any]:
            if body is not None:
                return {"data": orjson.dumps(body), "headers": {"Content-Type": "application/json"}}
            return {"params": query, "data": None if form is None else form()}

        async def read(response: aiohttp.ClientResponse) -> dict[str, Any] | Failure:
            return self._object(await response.read(), path)

        return await self._request(method, path, read, sent, once=once)

    async def _request(
        self,
        method: str,
        path: str,
        read: Callable[[aiohttp.ClientResponse], Awaitable[T | Failure]],
        sent: Callable[[], Mapping[str, Any]] = dict,
        *,
        once: bool = False,
    ) -> T:
        """Try as often as the policy allows; `sent` makes what one attempt sends, `read` takes a good response."""
        number = 0
        while True:
            number += 1
            status, wait = None, None
            try:
                async with self._session.request(
                    method, self.endpoint + path, allow_redirects=False, **sent()
                ) as response:
                    status = response.status
                    if 200 <= status < 300:
                        found = await read(response)
                    else:
                        found = self._refused(status, await response.content.read(_CHUNK), path)
                        wait = retry_after(response.headers)
            except (aiohttp.ClientError, OSError, TimeoutError) as error:
                found, status = self._unreached(error, path), None
            if not isinstance(found, Failure):
                return found
            if once or not self.retry.again(found, number, number):
                raise BatchServerError(found, status)
            await asyncio.sleep(self.retry.pause(number, wait))

    def _object(self, content: bytes, path: str) -> dict[str, Any] | Failure:
        try:
            found = orjson.loads(content)
        except orjson.JSONDecodeError:
            return failure(
                "bad-json", f"{self.endpoint}{path}: sent something that is not JSON: the address may be wrong"
            )
        if isinstance(found, dict) and ("id" in found or "data" in found):
            return found
        return failure("bad-json", f"{self.endpoint}{path}: sent JSON that is neither a file, a batch nor a list")

    def _refused(self, status: int, content: bytes, path: str) -> Failure:
        told = read_error(content)
        failed = status_failure(status, replace(told, message=self._scrub(told.message)), f"{self.endpoint}{path}")
        # A 404 here is a file or a batch, or a server without batches; the caller of a chat model means its name.
        return replace(failed, kind="not-there") if status == _NOT_THERE else failed

    def _unreached(self, error: Exception, path: str) -> Failure:
        kind = "timeout" if isinstance(error, TimeoutError) else "connection"
        return failure(kind, self._scrub(f"{self.endpoint}{path}: {reason_of(error)}"))


def _remote(row: Mapping[str, Any]) -> RemoteBatch:
    status = str(row.get("status") or "unknown")
    counts = row.get("request_counts")
    counts = counts if isinstance(counts, dict) else {}
    metadata = row.get("metadata")
    return RemoteBatch(
        id=str(row["id"]),
        status=_SPELT.get(status, status),
        input_file_id=row.get("input_file_id") or None,
        output_file_id=row.get("output_file_id") or None,
        error_file_id=row.get("error_file_id") or None,
        completed=int(counts.get("completed") or 0),
        failed=int(counts.get("failed") or 0),
        message=_errors(row.get("errors")),
        metadata=metadata if isinstance(metadata, dict) else {},
    )


def _errors(errors: Any) -> str:
    rows = errors.get("data") if isinstance(errors, dict) else None
    found = []
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict):
            where = f"line {row['line']}: " if row.get("line") is not None else ""
            found.append(f"{where}{row.get('message') or row.get('code') or 'no reason given'}")
    return clip("; ".join(found[:5]))
