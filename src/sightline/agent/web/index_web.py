"""A web of one's own: an index of pages with pictures behind five HTTP calls (docs/tools.md, "Your own index").

GET  /search?q=WORDS&k=5       {"results": [{"url", "title", "text"}]}
GET  /pictures?q=WORDS&k=5     {"results": [{"url", "page", "caption"}]}
POST /pictures?k=5             the same, by likeness to the JPEG in the body
GET  /page?url=ADDRESS         {"url", "title", "text"}
GET  /picture?url=ADDRESS      the picture's file
"""

from __future__ import annotations

from collections.abc import Sequence

from sightline.agent.web.base import WebHit, WebPage, WebPicture
from sightline.agent.web.service import Request, Service, rows, text
from sightline.types import Failure

_MOST_TEXT = 400_000


class IndexWeb:
    """Asks such an index, which holds its pages itself: nothing is fetched from elsewhere."""

    name = "index"

    def __init__(self, base_url: str, token: str | None = None) -> None:
        self._base = base_url.rstrip("/")
        self._headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._service = Service("the index", [] if token is None else [token])

    async def search(self, query: str, k: int) -> Sequence[WebHit] | Failure:
        answer = await self._service.json(self._request("search", q=query, k=str(k)))
        if isinstance(answer, Failure):
            return answer
        found = rows(answer, "results")[:k]
        return [WebHit(text(row.get("url")), text(row.get("title")), text(row.get("text"))) for row in found]

    async def open(self, url: str) -> WebPage | Failure:
        answer = await self._service.json(self._request("page", url=url))
        if isinstance(answer, Failure):
            return answer
        held = answer.get("text")
        if not isinstance(held, str):
            return Failure("bad-reply", "the index answered a page without text")
        return WebPage(text(answer.get("url")) or url, text(answer.get("title")), held[:_MOST_TEXT])

    async def search_pictures(self, query: str | bytes, k: int) -> Sequence[WebPicture] | Failure:
        if isinstance(query, bytes):
            request = self._request("pictures", query, k=str(k))
        else:
            request = self._request("pictures", q=query, k=str(k))
        answer = await self._service.json(request)
        if isinstance(answer, Failure):
            return answer
        found = rows(answer, "results")[:k]
        return [WebPicture(text(row.get("url")), text(row.get("page")), text(row.get("caption"))) for row in found]

    async def picture(self, url: str) -> bytes | Failure:
        return await self._service.bytes(self._request("picture", url=url))

    async def close(self) -> None:
        await self._service.close()

    def _request(self, path: str, picture: bytes | None = None, **params: str) -> Request:
        return Request(f"{self._base}/{path}", params, self._headers, picture=picture)
