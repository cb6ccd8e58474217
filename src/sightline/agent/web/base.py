"""What a web does: search for pages and pictures, open a page, fetch a picture. Everything it says is untrusted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from sightline.types import Failure


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
