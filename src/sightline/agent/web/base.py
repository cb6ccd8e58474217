"""What a web does: search for pages and pictures, open a page, fetch a picture. Everything it returns is untrusted.

An offline web is in this process and answers at once; plug-ins of the group `webs` offer some.
"""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from PIL import Image

from sightline.agent.tools.pixels import load
from sightline.types import Failure

MISSING = "not-frozen"
"""The kind of failure where a frozen web was never asked this."""


@dataclass(frozen=True, slots=True)
class WebHit:
    """A page that was found; `text` is a part of it."""

    url: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class WebPicture:
    """A picture that was found, the page that it is on, and what is written beside it."""

    url: str
    page: str
    caption: str


@dataclass(frozen=True, slots=True)
class WebPage:
    """A page as text (Markdown: headings, links, pictures' addresses), after redirects at `url`."""

    url: str
    title: str
    text: str


class Web(Protocol):
    """A failure is a value: nothing that a server does raises."""

    @property
    def name(self) -> str: ...

    async def search(self, query: str, k: int) -> Sequence[WebHit] | Failure: ...

    async def open(self, url: str) -> WebPage | Failure: ...

    async def search_pictures(self, query: str | bytes, k: int) -> Sequence[WebPicture] | Failure:
        """Pictures by words, or by likeness to a picture given as the bytes of its file."""
        ...

    async def picture(self, url: str) -> bytes | Failure:
        """The bytes of a picture's file."""
        ...

    async def close(self) -> None: ...


def leaves_machine(web: Web) -> bool:
    """Is anybody asked? Not where the web lies in files."""
    return not getattr(web, "offline", False)


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

    offline = True

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
