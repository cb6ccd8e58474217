"""Models behind HTTP: one attempt at one call to an OpenAI-compatible server, on aiohttp."""

from __future__ import annotations

import asyncio
import errno
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import aiohttp
import orjson
from multidict import CIMultiDict
from yarl import URL

from sightline.config.section import Hidden
from sightline.models import openai_chat, openai_responses
from sightline.models.failures import (
    Scrubber,
    body_failure,
    clip,
    failure,
    is_html,
    read_error,
    retry_after,
    status_failure,
)
from sightline.models.picture_cache import PictureCache, PreparedPictures
from sightline.models.protocols import CallOutcome
from sightline.models.providers import ModelName, about_key, leaves_machine, wire_model
from sightline.models.replies import ReplyText, check_reply, read_usage
from sightline.models.wire_settings import Api, WireSettings
from sightline.types import ChatReply, ChatRequest, Failure

_JSON = {"Content-Type": "application/json", "Accept": "application/json"}
_KEPT_OUT = frozenset({"set-cookie"})


class HttpTransport:
    """Chat completions or responses at one address; one connection pool, made in the loop that first sends."""

    def __init__(
        self,
        name: ModelName,
        endpoint: str,
        *,
        api: Api = "chat",
        key: Hidden | None = None,
        settings: WireSettings | None = None,
        local_only: bool = False,
    ) -> None:
        self.endpoint = endpoint
        self._name = name
        self._api: Api = api
        self._settings = settings = settings or WireSettings()
        self.wire = settings.fingerprint(name.provider, api)
        self._structured = settings.structured or "native"
        self._max_tokens = settings.max_tokens_field or name.provider.max_tokens
        self._key = key
        self._url = address_of(endpoint, openai_chat.PATH if api == "chat" else openai_responses.PATH)
        self._read: Callable[[Mapping[str, Any]], ReplyText | None] = (
            openai_chat.read_chat if api == "chat" else openai_responses.read_responses
        )
        secrets = [] if key is None else [key.get_secret_value()]
        self._scrub = Scrubber([*secrets, *settings.headers.values()])
        self._pictures = PictureCache.shared(
            settings.limit_for(name.provider.name),
            folder=settings.picture_folder,
            memory_bytes=settings.picture_memory,
            allow_web=not local_only,
        )
        self._session: aiohttp.ClientSession | None = None

    def __repr__(self) -> str:
        return f"HttpTransport({str(self._name)!r}, {self.endpoint!r}, api={self._api!r})"

    @property
    def api(self) -> Api:
        """Which of the two APIs is spoken."""
        return self._api

    async def send(self, request: ChatRequest) -> CallOutcome:
        """One attempt; every fault of the network, the server and the model is a failure in the outcome."""
        body = await self.body(request)
        if isinstance(body, Failure):
            return CallOutcome(body, sent=False)
        return await self._post(body, request)

    async def body(self, request: ChatRequest) -> bytes | Failure:
        """The JSON that `send` would send; also what a line of a provider's batch file holds."""
        pictures = await self._pictures.prepare(request)
        if isinstance(pictures, Failure):
            return pictures
        built = self._build(request, pictures)
        return built if isinstance(built, Failure) else openai_chat.as_json(built)

    def read(self, payload: Mapping[str, Any], request: ChatRequest, seconds: float | None = None) -> CallOutcome:
        """What a reply's JSON means; also for the lines of a provider's batch results."""
        broken = body_failure(payload, self._asked(request))
        if broken is not None:
            return CallOutcome(replace(broken, message=self._scrub(broken.message)))
        said = self._read(payload)
        if said is None:
            paid = ChatReply("", usage=read_usage(payload.get("usage")))
            return CallOutcome(failure("empty", f"{self._asked(request)}: the reply holds no choice"), partial=paid)
        outcome = check_reply(said, request, seconds)
        if isinstance(outcome.result, Failure):
            return replace(outcome, result=replace(outcome.result, message=self._scrub(outcome.result.message)))
        return outcome

    async def close(self) -> None:
        """Close the connections and end the threads; the transport can't be used afterwards."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()
        await asyncio.to_thread(self._pictures.close)

    # --- the request ---------------------------------------------------------------------------------------

    def _build(self, request: ChatRequest, pictures: PreparedPictures) -> dict[str, Any] | Failure:
        if self._settings.extra:
            request = replace(request, extra={**self._settings.extra, **request.extra})
        model = wire_model(request.model, self._name.provider.name)
        if self._api == "responses":
            return openai_responses.build_responses(request, model, pictures, structured=self._structured)
        return openai_chat.build_chat(
            request, model, pictures, max_tokens_field=self._max_tokens, structured=self._structured
        )

    def _open_session(self) -> aiohttp.ClientSession:
        settings = self._settings
        timeout = aiohttp.ClientTimeout(
            settings.total_seconds, connect=settings.connect_seconds, sock_read=settings.quiet_seconds
        )
        headers = CIMultiDict(_JSON)
        headers.update(settings.headers)
        return open_session(self.endpoint, self._key, timeout, headers)

    # --- the reply -----------------------------------------------------------------------------------------

    async def _post(self, body: bytes, request: ChatRequest) -> CallOutcome:
        if self._session is None:
            self._session = self._open_session()
        started = time.perf_counter()
        response: aiohttp.ClientResponse | None = None
        try:
            response = await self._session.post(self._url, data=body, allow_redirects=False)
            # What was read to its end has given its connection back by itself.
            data = await _read_body(response, self._settings.max_reply_bytes)
            return self._heard(response, data, request, time.perf_counter() - started)
        except TimeoutError as error:
            sent = not isinstance(error, aiohttp.ConnectionTimeoutError)
            waited = self._waited(error, reached=response is not None)
            return CallOutcome(failure("timeout", f"{self._asked(request)}: {waited}"), sent=sent)
        except aiohttp.ClientPayloadError as error:
            return CallOutcome(
                failure("cut-off-body", f"{self._asked(request)}: the reply broke off ({reason_of(error)})")
            )
        except (aiohttp.ClientError, OSError) as error:
            sent = not isinstance(error, aiohttp.ClientConnectorError)
            return CallOutcome(
                failure("connection", self._scrub(f"{self._asked(request)}: {reason_of(error)}")), sent=sent
            )

    def _heard(
        self, response: aiohttp.ClientResponse, data: bytes | None, request: ChatRequest, seconds: float
    ) -> CallOutcome:
        headers = {name.lower(): value for name, value in response.headers.items()}
        for name in _KEPT_OUT:
            headers.pop(name, None)
        outcome = self._understood(response.status, headers.get("content-type", ""), data, request, seconds)
        outcome.status, outcome.retry_after, outcome.headers = response.status, retry_after(headers), headers
        return outcome

    def _understood(
        self, status: int, content_type: str, data: bytes | None, request: ChatRequest, seconds: float
    ) -> CallOutcome:
        asked = self._asked(request)
        if data is None:
            return CallOutcome(
                failure("endless", f"{asked}: the reply is over {self._settings.max_reply_bytes:,} bytes")
            )
        if not 200 <= status < 300:
            told = read_error(data)
            scrubbed = replace(told, message=self._scrub(told.message))
            return CallOutcome(status_failure(status, scrubbed, asked, self._about_key))
        payload = _parse(data, content_type, asked)
        if isinstance(payload, Failure):
            return CallOutcome(replace(payload, message=self._scrub(payload.message)))
        return self.read(payload, request, seconds)

    @property
    def _about_key(self) -> str:
        return about_key(self._name, self.endpoint, was_sent=self._key is not None)

    def _asked(self, request: ChatRequest) -> str:
        return _who(request.model, self.endpoint)

    def _waited(self, error: TimeoutError, *, reached: bool) -> str:
        if isinstance(error, aiohttp.ConnectionTimeoutError):
            return f"no connection within {self._settings.connect_seconds:g} s"
        if isinstance(error, aiohttp.SocketTimeoutError):
            where = "inside the reply" if reached else "before the reply"
            return f"nothing came for {self._settings.quiet_seconds:g} s {where}"
        return f"not done within {self._settings.total_seconds:g} s"


def open_session(
    endpoint: str, key: Hidden | None, timeout: aiohttp.ClientTimeout, headers: Mapping[str, str] | None = None
) -> aiohttp.ClientSession:
    """Connections to a server with its key, unless the headers bring another; used from within an event loop."""
    sent = CIMultiDict(headers or {})
    if key is not None:
        sent.setdefault("Authorization", f"Bearer {key.get_secret_value()}")
    return aiohttp.ClientSession(
        # No limit here: how much is under way is decided by whoever calls.
        connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=300),
        cookie_jar=aiohttp.DummyCookieJar(),
        headers=sent,
        timeout=timeout,
        # A proxy is for what leaves the machine.
        trust_env=leaves_machine(endpoint),
    )


@lru_cache(maxsize=256)
def _who(model: str, endpoint: str) -> str:
    return f"{clip(model, 100)} at {endpoint}"


def address_of(endpoint: str, path: str) -> URL:
    """The address of a path below an endpoint; what the endpoint asks for (`?…`) stays."""
    url = URL(endpoint)
    return url.with_path(url.path.rstrip("/") + path, keep_query=True)


async def _read_body(response: aiohttp.ClientResponse, most: int) -> bytes | None:
    """The whole body, or None as soon as it is larger than allowed (also when it was small while compressed)."""
    content, size = response.content, 0
    chunks: list[bytes] = []
    try:
        while size <= most:
            chunk = await content.readany()
            chunks.append(chunk)
            size += len(chunk)
            if size <= most and content.at_eof():
                return b"".join(chunks)
    except BaseException:
        response.close()
        raise
    response.close()
    return None


def _parse(data: bytes, content_type: str, asked: str) -> Mapping[str, Any] | Failure:
    if is_html(data) or content_type.startswith("text/html"):
        return failure("html", f"{asked}: {read_error(data).message}, not JSON: the address may be wrong")
    if content_type and "json" not in content_type.partition(";")[0]:
        return failure("bad-content-type", f"{asked}: sent {clip(content_type, 80)}, not JSON")
    try:
        payload = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        if not data.strip():
            return failure("empty", f"{asked}: the reply is empty")
        if error.doc and error.pos >= len(error.doc):
            return failure("cut-off-body", f"{asked}: the JSON ends in the middle")
        return failure("bad-json", f"{asked}: the reply is not JSON ({error.msg} at character {error.pos})")
    if not isinstance(payload, dict):
        return failure("bad-json", f"{asked}: the reply is not a JSON object")
    return payload


def reason_of(error: Exception) -> str:
    """Why a server could not be reached, and what may help."""
    cause = getattr(error, "os_error", error)
    if isinstance(cause, OSError) and cause.errno == errno.EMFILE:
        return "too many open files; raise the limit (ulimit -n) or ask for fewer calls at once"
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return f"there is no machine called {error.host}"
    if isinstance(error, aiohttp.ClientConnectorError) and isinstance(cause, ConnectionRefusedError):
        return f"nothing listens on port {error.port}: the server may not be running"
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return "the server closed the connection before it answered"
    return clip(str(error) or type(error).__name__)
