"""Search engines on the web, by their HTTP forms: SearXNG, Serper, Brave, SerpApi. Pages come by a `Fetcher`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from sightline.agent.tools.pixels import encode, load, scaled_down
from sightline.agent.web.base import WebHit, WebPage, WebPicture
from sightline.agent.web.fetch import Fetcher
from sightline.agent.web.service import Request, Service, rows, text
from sightline.config.section import Hidden
from sightline.types import Failure

SERPER = "https://google.serper.dev"
BRAVE = "https://api.search.brave.com/res/v1"
SERPAPI = "https://serpapi.com"
_UPLOAD_BYTES = 500_000
"""The largest picture that SerpApi takes."""
_UPLOAD_SIDES = (2048, 1536, 1024, 768, 512)


class Engine(Protocol):
    """How one service is asked, and how its answer is read."""

    name: str

    def request(self, query: str, k: int, *, pictures: bool) -> Request: ...
    def pages(self, answer: Mapping[str, Any]) -> list[WebHit]: ...
    def pictures(self, answer: Mapping[str, Any]) -> list[WebPicture]: ...


@runtime_checkable
class PictureEngine(Protocol):
    """An engine that also finds pictures by likeness, in as many calls as it needs."""

    async def likeness(self, picture: bytes, service: Service) -> list[WebPicture] | Failure: ...


class SearXNG:
    """A SearXNG server, usually one's own; it must have the format `json` switched on."""

    name = "searxng"

    def __init__(self, base_url: str) -> None:
        self._base = base_url.rstrip("/")

    def request(self, query: str, k: int, *, pictures: bool) -> Request:
        params = {"q": query, "format": "json", "categories": "images" if pictures else "general"}
        return Request(f"{self._base}/search", params)

    def pages(self, answer: Mapping[str, Any]) -> list[WebHit]:
        return [_hit(row, "url", "title", "content") for row in rows(answer, "results")]

    def pictures(self, answer: Mapping[str, Any]) -> list[WebPicture]:
        return [_picture(row.get("img_src"), row.get("url"), row.get("title")) for row in rows(answer, "results")]


class Serper:
    """Google's results by Serper."""

    name = "serper"

    def __init__(self, key: Hidden, base_url: str = SERPER) -> None:
        self._key, self._base = key, base_url.rstrip("/")

    def request(self, query: str, k: int, *, pictures: bool) -> Request:
        address = f"{self._base}/{'images' if pictures else 'search'}"
        return Request(address, headers={"X-API-KEY": self._key.get_secret_value()}, body={"q": query, "num": k})

    def pages(self, answer: Mapping[str, Any]) -> list[WebHit]:
        return [_hit(row, "link", "title", "snippet") for row in rows(answer, "organic")]

    def pictures(self, answer: Mapping[str, Any]) -> list[WebPicture]:
        return [_picture(row.get("imageUrl"), row.get("link"), row.get("title")) for row in rows(answer, "images")]


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
        return [_hit(row, "url", "title", "description") for row in rows(found, "results")]

    def pictures(self, answer: Mapping[str, Any]) -> list[WebPicture]:
        return [
            _picture(_inside(row, "properties", "url"), row.get("url"), row.get("title"))
            for row in rows(answer, "results")
        ]


class SerpApi:
    """Google's results by SerpApi; pictures by likeness with Google Lens, after an upload to SerpApi."""

    name = "serpapi"

    def __init__(self, key: Hidden, base_url: str = SERPAPI) -> None:
        self._key, self._base = key, base_url.rstrip("/")

    def request(self, query: str, k: int, *, pictures: bool) -> Request:
        return self._search(engine="google_images", q=query) if pictures else self._search(engine="google", q=query)

    def pages(self, answer: Mapping[str, Any]) -> list[WebHit]:
        return [_hit(row, "link", "title", "snippet") for row in rows(answer, "organic_results")]

    def pictures(self, answer: Mapping[str, Any]) -> list[WebPicture]:
        return [
            _picture(row.get("original"), row.get("link"), row.get("title")) for row in rows(answer, "images_results")
        ]

    async def likeness(self, picture: bytes, service: Service) -> list[WebPicture] | Failure:
        small = _within(picture, _UPLOAD_BYTES)
        if isinstance(small, Failure):
            return small
        form: dict[str, str | bytes] = {"image": small, "api_key": self._key.get_secret_value()}
        held = await service.json(Request(f"{self._base}/image", form=form))
        if isinstance(held, Failure):
            return held
        if not isinstance(held.get("image_id"), str):
            return Failure("bad-reply", "serpapi gave the uploaded picture no image_id")
        search = self._search(engine="google_lens", type="visual_matches", image_id=held["image_id"])
        answer = await service.json(search)
        if isinstance(answer, Failure):
            return answer
        found = rows(answer, "visual_matches")
        return [_picture(row.get("image") or row.get("thumbnail"), row.get("link"), row.get("title")) for row in found]

    def _search(self, **params: str) -> Request:
        return Request(f"{self._base}/search", {**params, "api_key": self._key.get_secret_value()})


class SearchedWeb:
    """A web that is searched through a service, and whose pages are fetched from where they are."""

    def __init__(self, engine: Engine, fetcher: Fetcher | None = None, secrets: Sequence[str] = ()) -> None:
        self._engine, self._fetcher = engine, fetcher or Fetcher()
        self._service = Service(engine.name, secrets)
        self.name = engine.name

    async def search(self, query: str, k: int) -> Sequence[WebHit] | Failure:
        answer = await self._service.json(self._engine.request(query, k, pictures=False))
        return answer if isinstance(answer, Failure) else _usable(self._engine.pages(answer), k)

    async def open(self, url: str) -> WebPage | Failure:
        return await self._fetcher.page(url)

    async def search_pictures(self, query: str | bytes, k: int) -> Sequence[WebPicture] | Failure:
        if isinstance(query, bytes):
            if not isinstance(self._engine, PictureEngine):
                return Failure("unsupported", f"{self.name} finds pictures by words only, not by likeness")
            found = await self._engine.likeness(query, self._service)
            return found if isinstance(found, Failure) else _usable(found, k)
        answer = await self._service.json(self._engine.request(query, k, pictures=True))
        return answer if isinstance(answer, Failure) else _usable(self._engine.pictures(answer), k)

    async def picture(self, url: str) -> bytes | Failure:
        return await self._fetcher.picture(url)

    async def close(self) -> None:
        await self._service.close()
        await self._fetcher.close()


def _usable(found: list[Any], k: int) -> list[Any]:
    return [each for each in found if each.url.startswith(("http://", "https://"))][:k]


def _inside(row: Mapping[str, Any], *keys: str) -> object:
    found: object = row
    for key in keys:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found


def _hit(row: Mapping[str, Any], url: str, title: str, part: str) -> WebHit:
    return WebHit(text(row.get(url)), text(row.get(title)), text(row.get(part)))


def _picture(url: object, page: object, caption: object) -> WebPicture:
    return WebPicture(text(url), text(page), text(caption))


def _within(picture: bytes, most: int) -> bytes | Failure:
    """The picture in so many bytes, scaled down where it has more."""
    image = load(picture)
    if isinstance(image, Failure):
        return image
    sizes = (encode(scaled_down(image, side)) for side in _UPLOAD_SIDES)
    small = picture if len(picture) <= most else next((made for made in sizes if len(made) <= most), None)
    return small or Failure("too-large", f"the picture can't be brought under {most:,} bytes")
