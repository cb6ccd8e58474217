"""A web service that the user chose, asked over HTTP: a capped answer, named failures, keys kept out of messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import orjson

from sightline.models.failures import Scrubber
from sightline.types import Failure

_SECONDS = 60.0
_MOST_BYTES = 16 << 20
_LONGEST = 1000
_WHY = {
    401: "its key is wrong",
    403: "it refuses (a wrong key; for SearXNG, the format json is off)",
    404: "it has no such page or picture",
    429: "too many searches",
}
_EMPTY = "returned any results"
"""SerpApi words an empty result as an error."""


@dataclass(frozen=True, slots=True)
class Request:
    """One call: an address with its query, what it carries in its head, and a body: JSON, a form, or a picture."""

    url: str
    params: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    form: Mapping[str, str | bytes] | None = None
    picture: bytes | None = None

    @property
    def payload(self) -> dict[str, Any]:
        """What aiohttp takes for the body; nothing for a GET."""
        if self.picture is not None:
            return {"data": self.picture, "headers": {**self.headers, "Content-Type": "image/jpeg"}}
        if self.form is not None:
            form = aiohttp.FormData()
            for name, value in self.form.items():
                named = {"filename": "picture.jpg"} if isinstance(value, bytes) else {}
                form.add_field(name, value, **named)
            return {"data": form}
        return {} if self.body is None else {"json": self.body}


class Service:
    """The service's own address is the user's choice, and may be on this machine; its answer is still capped."""

    def __init__(self, name: str, secrets: Sequence[str] = ()) -> None:
        self._name, self._scrub = name, Scrubber(list(secrets))
        self._session: aiohttp.ClientSession | None = None

    async def json(self, request: Request) -> Mapping[str, Any] | Failure:
        """The JSON object that it answers."""
        data = await self.bytes(request)
        if isinstance(data, Failure):
            return data
        try:
            answer = orjson.loads(data)
        except orjson.JSONDecodeError:
            return Failure("bad-reply", f"{self._name} did not answer with JSON")
        if not isinstance(answer, dict):
            return Failure("bad-reply", f"{self._name} answered no JSON object")
        error = answer.get("error")
        if isinstance(error, str) and _EMPTY not in error:
            return Failure("bad-reply", self._scrub(f"{self._name} answered: {text(error)}")[:300])
        return answer

    async def bytes(self, request: Request) -> bytes | Failure:
        """What it answers, as it came."""
        if self._session is None:
            timeout = aiohttp.ClientTimeout(total=_SECONDS)
            self._session = aiohttp.ClientSession(timeout=timeout, cookie_jar=aiohttp.DummyCookieJar())
        # A redirect would carry the key elsewhere.
        given = {
            "params": dict(request.params),
            "headers": dict(request.headers),
            "allow_redirects": False,
            **request.payload,
        }
        method = "POST" if request.payload else "GET"
        try:
            async with self._session.request(method, request.url, **given) as response:
                if response.status != 200:
                    return self._refused(response.status)
                data = bytearray()
                async for chunk in response.content.iter_chunked(1 << 16):
                    data += chunk
                    if len(data) > _MOST_BYTES:
                        return Failure("too-large", f"{self._name} sent more than {_MOST_BYTES:,} bytes")
        except TimeoutError:
            return Failure("timeout", f"{self._name} did not answer within {_SECONDS:g} s", retryable=True)
        except (aiohttp.ClientError, OSError) as error:
            return Failure("connection", self._scrub(f"{self._name} can't be reached: {error}")[:300], retryable=True)
        return bytes(data)

    async def close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    def _refused(self, status: int) -> Failure:
        kind = {404: "not-found", 429: "rate-limit"}.get(status, "http-status")
        why = _WHY.get(status, "see its own log")
        return Failure(kind, f"{self._name} answered {status}: {why}", retryable=status >= 429)


def rows(answer: object, key: str) -> list[Mapping[str, Any]]:
    """The objects of a list in an answer; what is none is passed over."""
    found = answer.get(key) if isinstance(answer, Mapping) else None
    return [row for row in found if isinstance(row, Mapping)] if isinstance(found, list) else []


def text(value: object) -> str:
    """A text on one line, not too long; nothing for what is none."""
    return " ".join(value.split())[:_LONGEST] if isinstance(value, str) else ""
