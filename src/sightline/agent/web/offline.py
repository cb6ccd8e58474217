"""A web that is in this process and answers at once."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from PIL import Image

from sightline.agent.tools.pixels import load
from sightline.agent.web.base import Web, WebHit, WebPage, WebPicture
from sightline.types import Failure


class Pages(Protocol):
    """Pages with a search function.

    Hits have `url`, `title` and `snippet`; pictures' hits `url`, `page` and `caption`; a picture has an `image`.
    """

    def search(self, query: str, top_k: int = 10) -> Sequence[Any]: ...
    def open(self, url: str) -> str | Failure: ...
    def search_pictures(self, query: str | Image.Image, top_k: int = 10) -> Sequence[Any]: ...
    def picture(self, url: str) -> Any: ...


class OfflineWeb:
    """Such pages behind the protocol of a web."""

    def __init__(self, pages: Pages, name: str = "offline") -> None:
        self._pages, self.name = pages, name

    async def search(self, query: str, k: int) -> Sequence[WebHit] | Failure:
        found = await asyncio.to_thread(self._pages.search, query, k)
        return [WebHit(hit.url, hit.title, hit.snippet) for hit in found]

    async def open(self, url: str) -> WebPage | Failure:
        text = await asyncio.to_thread(self._pages.open, url)
        if isinstance(text, Failure):
            return text
        title = text.partition("\n")[0].removeprefix("# ")
        return WebPage(url, title, text)

    async def search_pictures(self, query: str | bytes, k: int) -> Sequence[WebPicture] | Failure:
        return await asyncio.to_thread(self._search_pictures, query, k)

    async def picture(self, url: str) -> bytes | Failure:
        return await asyncio.to_thread(self._picture, url)

    async def close(self) -> None:
        """There is nothing to let go of."""

    def _search_pictures(self, query: str | bytes, k: int) -> Sequence[WebPicture] | Failure:
        cue = load(query) if isinstance(query, bytes) else query
        if isinstance(cue, Failure):
            return cue
        return [WebPicture(hit.url, hit.page, hit.caption) for hit in self._pages.search_pictures(cue, k)]

    def _picture(self, url: str) -> bytes | Failure:
        found = self._pages.picture(url)
        if isinstance(found, Failure):
            return found
        buffer = io.BytesIO()
        found.image.convert("RGB").save(buffer, "PNG")
        return buffer.getvalue()


@dataclass(frozen=True, slots=True)
class OfflineWebKind:
    """A kind of web that lies in files: what a plug-in of the group `webs` is."""

    of_benchmark: Callable[[Path | None], Web]
    "The web of the benchmark in a folder, for agents that are told `web=NAME`."
    of_folder: Callable[[str], Web]
    "The web in a folder, for `--web NAME:FOLDER`."
    files: Callable[[str], Mapping[str, Path]]
    "What of that folder a benchmark has to keep, by its place there, so that agents find the web by its name alone."
