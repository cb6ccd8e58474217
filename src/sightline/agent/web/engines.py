"""Search engines on the web, by their HTTP forms: SearXNG, Serper, Brave. Pages and pictures come by a `Fetcher`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import aiohttp
import orjson

from sightline.agent.web.base import WebHit, WebPage, WebPicture
from sightline.agent.web.fetch import Fetcher
from sightline.config.section import Hidden
from sightline.models.failures import Scrubber
from sightline.types import Failure

SERPER = "https://google.serper.dev"
BRAVE = "https://api.search.brave.com/res/v1"
_SECONDS = 20.0
_MOST_BYTES = 4 << 20
_LONGEST = 1000


class Engine(Protocol):
    """How one service is asked, and how its answer is read."""

    name: str

    def request(self, query: str, k: int, *, pictures: bool) -> Request: ...
    def pages(self, answer: Mapping[str, Any]) -> list[WebHit]: ...
    def pictures(self, answer: Mapping[str, Any]) -> list[WebPicture]: ...


@dataclass(frozen=True, slots=True)
class Request:
    """One call: an address with its query, what it carries in its head, and a body if it has one."""

    url: str
    params: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None


class SearXNG:
    """A SearXNG server, usually one's own; it must have the format `json` switched on."""

    name = "searxng"

    def __init__(self, base_url: str) -> None:
        self._base = base_url.rstrip("/")

    def request(self, query: str, k: int, *, pictures: bool) -> Request:
        params = {"q": query, "format": "json", "categories": "images" if pictures else "general"}
        return Request(f"{self._base}/search", params)

    def pages(self, answer: Mapping[str, Any]) -> list[WebHit]:
        return [_hit(row, "url", "title", "content") for row in _rows(answer, "results")]

    def pictures(self, answer: Mapping[str, Any]) -> list[WebPicture]:
        return [_picture(row.get("img_src"), row.get("url"), row.get("title")) for row in _rows(answer, "results")]


class Serper:
    """Google's results by Serper."""

    name = "serper"

    def __init__(self, key: Hidden, base_url: str = SERPER) -> None:
        self._key, self._base = key, base_url.rstrip("/")

    def request(self, query: str, k: int, *, pictures: bool) -> Request:
        address = f"{self._base}/{'images' if pictures else 'search'}"
        return Request(address, headers={"X-API-KEY": self._key.get_secret_value()}, body={"q": query, "num": k})

    def pages(self, answer: Mapping[str, Any]) -> list[WebHit]:
        return [_hit(row, "link", "title", "snippet") for row in _rows(answer, "organic")]

    def pictures(self, answer: Mapping[str, Any]) -> list[WebPicture]:
        return [_picture(row.get("imageUrl"), row.get("link"), row.get("title")) for row in _rows(answer, "images")]


class Brave:
    """Brave Search."""

    name = "brave"

    def __init__(self, key: Hidden, base_url: str = BRAVE) -> None:
        self._key, self._base = key, base_url.rstrip("/")

    def request(self, query: str, k: int, *, pictures: bool) -> Request:
        address = f"{self._base}/{'images' if pictures else 'web'}/search"
        headers = {"X-Subscription-Token": self._key.get_secret_value(), "Accept": "application/json"}
        return Request(address, {"q": query, "count": str(k)}, headers)

    def pages(self, answer: Mapping[str, Any]) -> list[WebHit]:
        found = answer.get("web")
        return [_hit(row, "url", "title", "description") for row in _rows(found, "results")]

    def pictures(self, answer: Mapping[str, Any]) -> list[WebPicture]:
        return [
            _picture(_inside(row, "properties", "url"), row.get("url"), row.get("title"))
            for row in _rows(answer, "results")
        ]


class SearchedWeb:
    """A web that is searched through a service, and whose pages are fetched from where they are."""

    def __init__(self, engine: Engine, fetcher: Fetcher | None = None, secrets: Sequence[str] = ()) -> None:
        self._engine, self._fetcher = engine, fetcher or Fetcher()
        self._scrub = Scrubber(list(secrets))
        self._session: aiohttp.ClientSession | None = None
        self.name = engine.name

    async def search(self, query: str, k: int) -> Sequence[WebHit] | Failure:
        answer = await self._ask(self._engine.request(query, k, pictures=False))
        return answer if isinstance(answer, Failure) else _usable(self._engine.pages(answer), k)

    async def open(self, url: str) -> WebPage | Failure:
        return await self._fetcher.page(url)

    async def search_pictures(self, query: str | bytes, k: int) -> Sequence[WebPicture] | Failure:
        if isinstance(query, bytes):
            return Failure("unsupported", f"{self.name} finds pictures by words only, not by likeness")
        answer = await self._ask(self._engine.request(query, k, pictures=True))
        return answer if isinstance(answer, Failure) else _usable(self._engine.pictures(answer), k)

    async def picture(self, url: str) -> bytes | Failure:
        return await self._fetcher.picture(url)

    async def close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()
        await self._fetcher.close()

    async def _ask(self, request: Request) -> Mapping[str, Any] | Failure:
        """The service's own address is the user's choice, and may be on this machine; its answer is still capped."""
        if self._session is None:
            timeout = aiohttp.ClientTimeout(total=_SECONDS)
            self._session = aiohttp.ClientSession(timeout=timeout, cookie_jar=aiohttp.DummyCookieJar())
        method = "GET" if request.body is None else "POST"
        try:
            async with self._session.request(
                method,
                request.url,
                params=dict(request.params),
                headers=dict(request.headers),
                json=request.body,
                allow_redirects=False,  # A redirect would carry the key elsewhere.
            ) as response:
                data = await response.content.read(_MOST_BYTES)
                if response.status != 200:
                    return self._refused(response.status)
                answer = orjson.loads(data)
        except TimeoutError:
            return Failure("timeout", f"{self.name} did not answer within {_SECONDS:g} s", retryable=True)
        except (aiohttp.ClientError, OSError) as error:
            return Failure("connection", self._scrub(f"{self.name} can't be reached: {error}")[:300], retryable=True)
        except orjson.JSONDecodeError:
            return Failure("bad-reply", f"{self.name} answered with something that is no JSON")
        return answer if isinstance(answer, dict) else Failure("bad-reply", f"{self.name} answered no JSON object")

    def _refused(self, status: int) -> Failure:
        why = {
            401: "its key is wrong",
            403: "it refuses (a wrong key; for SearXNG, the format json is off)",
            429: "too many searches",
        }
        kind = "rate-limit" if status == 429 else "http-status"
        return Failure(kind, f"{self.name} answered {status}: {why.get(status, 'see its own log')}", status >= 429)


def _usable(found: list[Any], k: int) -> list[Any]:
    return [each for each in found if each.url.startswith(("http://", "https://"))][:k]


def _rows(answer: object, key: str) -> list[Mapping[str, Any]]:
    found = answer.get(key) if isinstance(answer, Mapping) else None
    return [row for row in found if isinstance(row, Mapping)] if isinstance(found, list) else []


def _inside(row: Mapping[str, Any], *keys: str) -> object:
    found: object = row
    for key in keys:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found


def _hit(row: Mapping[str, Any], url: str, title: str, text: str) -> WebHit:
    return WebHit(_text(row.get(url)), _text(row.get(title)), _text(row.get(text)))


def _picture(url: object, page: object, caption: object) -> WebPicture:
    return WebPicture(_text(url), _text(page), _text(caption))


def _text(value: object) -> str:
    return " ".join(value.split())[:_LONGEST] if isinstance(value, str) else ""
