"""A search service that somebody already runs, as a system: `POST /search`, `GET /health` (docs/systems.md).

Its reply is `{"hits": [{"id": …, "score": …}]}`, or a status that says what went wrong.
"""

from __future__ import annotations

import asyncio
import base64
import errno
import math
import os
import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import aiohttp
import orjson
from pydantic import AfterValidator, Field

from sightline.calls.privacy_notice import announce_recipient
from sightline.class_names import known_as
from sightline.config.section import Hidden
from sightline.engine.event_loop import LoopThread
from sightline.errors import SightlineError, UserError
from sightline.io.files import picture_path
from sightline.models.failures import Scrubber
from sightline.models.http import open_session
from sightline.models.providers import leaves_machine, refuse_remote
from sightline.runs.systems.base import (
    Kind,
    Options,
    Outcome,
    SystemSetting,
    as_prediction,
    own_pictures,
    words_of_task,
)
from sightline.types import Benchmark, Failure, Json, LedgerEntry, PictureRef, Prediction, Task
from sightline.types.task import FINDING

LARGEST = 16 << 20
"""Bytes of a reply that are read."""
_TRY_AGAIN = frozenset((408, 425, 429))
"""Statuses below 500 after which another try may help; from 500 on it always may."""


class MalformedError(Exception):
    """A reply that does not keep to the contract; the message says where."""


@dataclass(frozen=True, slots=True)
class ServiceHits:
    """Ids in the order given, each once; scores where every hit has one."""

    pictures: tuple[str, ...]
    scores: tuple[float, ...] | None
    duplicates: int = 0


def read_hits(body: bytes, k: int, left_out: Collection[str] = ()) -> ServiceHits:
    """The first `k` hits of a reply without those `left_out`; of an id that comes twice the first one counts."""
    try:
        content = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise MalformedError(f"the reply is not JSON: {error}") from error
    listed = content.get("hits") if isinstance(content, dict) else None
    if not isinstance(listed, list):
        raise MalformedError('the reply has no list "hits"')
    found: dict[str, float | None] = {}
    for place, hit in enumerate(listed):
        id_, score = _hit(hit, place)
        found.setdefault(id_, score)
    first = [(id_, score) for id_, score in found.items() if id_ not in left_out][:k]
    scores = tuple(score for _, score in first if score is not None)
    pictures = tuple(id_ for id_, _ in first)
    return ServiceHits(pictures, scores if len(scores) == len(pictures) else None, len(listed) - len(found))


def _hit(hit: Any, place: int) -> tuple[str, float | None]:
    if not isinstance(hit, dict):
        raise MalformedError(f"hits[{place}] is not an object")
    id_, score = hit.get("id"), hit.get("score")
    if not isinstance(id_, str) or not id_:
        raise MalformedError(f"hits[{place}].id is not a text")
    if score is None:
        return id_, None
    if isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score):
        raise MalformedError(f"hits[{place}].score is not a number")
    return id_, float(score)


async def limited_body(reply: aiohttp.ClientResponse) -> bytes | None:
    """The body; None where it is too long."""
    chunks, size = [], 0
    async for chunk in reply.content.iter_any():
        chunks.append(chunk)
        size += len(chunk)
        if size > LARGEST:
            return None
    return b"".join(chunks)


def wait_of(reply: aiohttp.ClientResponse) -> float | None:
    """How many seconds the service asks to wait."""
    try:
        return max(0.0, float(reply.headers.get("Retry-After", "")))
    except ValueError:
        return None


def status_failure(status: int, body: bytes) -> Failure | None:
    """What a status other than 200 means, in the service's own words where it has some."""
    if status == 200:
        return None
    said = _told(body)[:200].strip()
    message = f"the service answered {status}{f': {said}' if said else ''}"
    if status == 429:
        return Failure("rate-limit", message, retryable=True)
    again = status in _TRY_AGAIN or status >= 500
    return Failure("server-error" if status >= 500 else "refused", message, retryable=again)


def _told(body: bytes) -> str:
    """`{"error": "…"}`, else the text itself."""
    try:
        content = orjson.loads(body)
    except orjson.JSONDecodeError:
        content = None
    if isinstance(content, dict) and "error" in content:
        return str(content["error"])
    return body[:1000].decode("utf-8", "replace")


_LONGEST_WAIT = 30.0
_NO_PAGE = (404, 405, 501)
"""What servers answer to an address or a method that they do not know."""
_LOST = 10
"""Attempts in a row that did not reach the service, after which the run stops."""


def _address(url: str) -> str:
    if not url.startswith(("http://", "https://")):
        raise ValueError("an address begins with http:// or https://")
    if "@" in url.partition("://")[2].partition("/")[0]:
        raise ValueError("an address must not hold a name or a password; use key_env")
    if "?" in url or "#" in url:
        raise ValueError("an address must not hold a query (?…) or a fragment (#…); a key goes into key_env")
    return url.rstrip("/")


class HttpOptions(Options):
    """Where the service is, and how it is asked.

    `key_env` names the variable of the environment that holds a key, sent as `Authorization: Bearer …`; the key itself
    is kept nowhere. `pictures` of a prompt are sent as ids, or with their `bytes` (base64). `own` lets a picture of the
    prompt be among the answers.
    """

    url: Annotated[str, AfterValidator(_address)]
    k: Annotated[int, Field(ge=1)] = 100
    select: Literal["ranking"] | Annotated[int, Field(ge=1)] = "ranking"
    timeout: Annotated[float, Field(gt=0)] = 30.0
    retries: Annotated[int, Field(ge=0, le=10)] = 2
    concurrency: Annotated[int, Field(ge=1, le=256)] = 4
    pictures: Literal["ids", "bytes"] = "ids"
    own: bool = False
    key_env: str | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True)
class _Reply:
    """One request: a status with its body, or a failure; how long it took."""

    seconds: float
    status: int = 0
    body: bytes = b""
    wait: float | None = None
    failure: Failure | None = None


@known_as("HttpSystem")
class HttpSystem:
    """A service that is asked for each task; what goes wrong is a failure of that task, with its kind."""

    kinds = FINDING

    def __init__(self, options: HttpOptions, setting: SystemSetting) -> None:
        self._options, self._setting = options, setting
        self.concurrency = options.concurrency
        if setting.session.calls.local_only:
            refuse_remote("the search service", options.url, "run the service on this machine")
        key = _key(options.key_env)
        self._key = None if key is None else Hidden(key)
        self._headers = {"Content-Type": "application/json", "Accept": "application/json"}
        self._scrub = Scrubber([] if key is None else [key])
        self._known = setting.benchmark.corpus.pictures
        self._session: aiohttp.ClientSession | None = None
        self._lost = 0
        self._service: dict[str, Json] = {}
        self.notes: list[str] = []
        self._odd = {"duplicates": 0, "unknown": 0}

    @property
    def name(self) -> str | None:
        """What the service calls itself, where it does."""
        told = self._service.get("name")
        return None if told is None else str(told)

    @property
    def parameters(self) -> dict[str, Json]:
        """What the service says of itself at `/health`."""
        return {"service": dict(self._service)}

    def prepare(self) -> Iterable[LedgerEntry]:
        """Ask whether the service is there, before anything is written."""
        announce_recipient(self._setting.session.workspace, self._options.url, "queries")
        loop = LoopThread()
        try:
            self._service = loop.call(self._health())
        finally:
            loop.close()
        return ()

    async def attempt(self, task: Task, bench: Benchmark) -> Outcome:
        """What the service returns; asked again where that may help. Where nothing may be found it is not asked."""
        if task.scope.nowhere:
            return Outcome(as_prediction(task, (), self._options.select), usd=0.0)
        body = self._body(task)
        if isinstance(body, Failure):
            return Outcome(body, usd=self._usd)
        tries: list[LedgerEntry] = []
        for left in reversed(range(self._options.retries + 1)):
            reply = await self._post(body)
            failure = reply.failure or status_failure(reply.status, reply.body)
            if failure is None or not failure.retryable or not left:
                break
            tries.append(LedgerEntry("retry", "http", task.id, usd=self._usd, seconds=reply.seconds, ok=False))
            await asyncio.sleep(min(_LONGEST_WAIT, reply.wait or 0.2 * 2 ** len(tries)))
        self._watch(failure)
        if failure is not None:
            failure = replace(failure, message=self._scrub(failure.message))
            return Outcome(failure, reply.seconds, self._usd, tuple(tries))
        return Outcome(self._read(task, reply.body), reply.seconds, self._usd, tuple(tries))

    async def close(self) -> None:
        """Close the connections, and say what was odd about the replies."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()
        if self._odd["duplicates"]:
            self.notes.append(f"ids that were returned twice for a task, and count once: {self._odd['duplicates']:,}")
        if self._odd["unknown"]:
            self.notes.append(f"ids that the benchmark does not have, and count as wrong: {self._odd['unknown']:,}")

    # --- asking -----------------------------------------------------------------------------------------------

    @property
    def _usd(self) -> float | None:
        """What a service on this machine costs is nothing; of others it is not known."""
        return None if leaves_machine(self._options.url) else 0.0

    def _body(self, task: Task) -> bytes | Failure:
        words = words_of_task(task, self._options.language)
        if isinstance(words, Failure):
            return words
        if not words and not task.pictures:
            return Failure("empty-query", "the task has neither words nor pictures to look for")
        try:
            pictures = [self._picture(ref) for ref in task.pictures]
        except OSError as error:
            return Failure("unreadable", f"a picture of the prompt can't be read: {error.strerror}")
        scope = task.scope
        return orjson.dumps(
            {
                "query": words or None,
                "pictures": pictures,
                "scope": {"owner": scope.owner, "groups": scope.groups, "pictures": scope.pictures},
                "k": self._options.k + len(own_pictures(task, self._options.own)),
            }
        )

    def _picture(self, ref: PictureRef) -> dict[str, Any]:
        shown: dict[str, Any] = {"id": ref.id}
        if ref.region is not None:
            box = ref.region
            shown["region"] = [box.left, box.top, box.right, box.bottom]
        if self._options.pictures == "bytes":
            known = self._known.get(ref.id)
            path = None if known is None else picture_path(known.uri, self._setting.base or Path())
            if path is None:
                raise FileNotFoundError(errno.ENOENT, f"{ref.id} is not on this machine")
            shown["data"] = base64.b64encode(path.read_bytes()).decode()
        return shown

    async def _post(self, body: bytes) -> _Reply:
        if self._session is None:
            self._session = self._open_session()
        return await self._ask(self._session, "POST", "/search", body)

    async def _ask(self, session: aiohttp.ClientSession, method: str, path: str, body: bytes | None = None) -> _Reply:
        started = time.perf_counter()
        failure: Failure
        try:
            async with session.request(method, self._options.url + path, data=body, allow_redirects=False) as reply:
                found = await limited_body(reply)
                seconds = time.perf_counter() - started
                if found is None:
                    too_long = Failure("malformed", f"the reply is longer than {LARGEST >> 20} MB")
                    return _Reply(seconds, reply.status, failure=too_long)
                return _Reply(seconds, reply.status, found, wait_of(reply))
        except TimeoutError:
            failure = Failure("timeout", f"no reply within {self._options.timeout:g} s", retryable=True)
        except (aiohttp.ServerDisconnectedError, aiohttp.ClientPayloadError, ConnectionResetError):
            failure = Failure("dropped", "the service closed the connection before its reply was whole", retryable=True)
        except aiohttp.ClientConnectionError as error:
            failure = Failure("unreachable", f"the service can't be reached: {_why(error)}", retryable=True)
        except aiohttp.ClientError as error:
            failure = Failure("malformed", f"the reply is not HTTP: {_why(error)}")
        return _Reply(time.perf_counter() - started, failure=failure)

    def _open_session(self) -> aiohttp.ClientSession:
        limit = aiohttp.ClientTimeout(total=self._options.timeout)
        return open_session(self._options.url, self._key, limit, self._headers)

    async def _health(self) -> dict[str, Json]:
        async with self._open_session() as session:
            reply = await self._ask(session, "GET", "/health")
        url = self._options.url
        if reply.failure is not None:
            raise UserError(f"{url}/health: {reply.failure.message}.", "Start the service, or check its address.")
        if reply.status in _NO_PAGE:
            return {}  # The service is there, and has no such page.
        if reply.status != 200:
            raise UserError(f"{url}/health answers {reply.status}.", "Make it answer 200, or 404 without such a page.")
        try:
            content = orjson.loads(reply.body)
        except orjson.JSONDecodeError:
            content = {}
        told = content if isinstance(content, dict) else {}
        return {name: str(told[name])[:200] for name in ("name", "version") if told.get(name) is not None}

    # --- the reply --------------------------------------------------------------------------------------------

    def _read(self, task: Task, body: bytes) -> Prediction:
        try:
            hits = read_hits(body, self._options.k, own_pictures(task, self._options.own))
        except MalformedError as error:
            return Failure("malformed", str(error))
        self._odd["duplicates"] += hits.duplicates
        self._odd["unknown"] += sum(picture not in self._known for picture in hits.pictures)
        scored = hits.scores is not None
        found = list(zip(hits.pictures, hits.scores or (0.0,) * len(hits.pictures), strict=True))
        return as_prediction(task, found, self._options.select, scored)

    def _watch(self, failure: Failure | None) -> None:
        """Stop where the service is gone for good, rather than fail on every task that is left."""
        self._lost = self._lost + 1 if failure is not None and failure.kind == "unreachable" else 0
        if self._lost >= _LOST and failure is not None:
            raise SightlineError(
                f"{self._options.url} did not answer {_LOST} times in a row: {failure.message}.",
                "start it, then run the same command with --retry-failed to go on",
            )


def _key(variable: str | None) -> str | None:
    key = None if variable is None else os.environ.get(variable)
    if variable is not None and not key:
        raise UserError(f"{variable} is not set in the environment.", f"export {variable}=…, or leave key_env out")
    return key


def _why(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


KINDS = {"http": Kind("http", "a search service behind HTTP (docs/systems.md)", HttpOptions, HttpSystem)}
