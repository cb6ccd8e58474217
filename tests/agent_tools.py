"""What the tests of tools share: calling one, and a small history of two owners in an index."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from PIL import Image

from search_tools import Colours, painted
from sightline.agent.state import AgentState
from sightline.agent.tools.base import Materials, Observation, Tool
from sightline.agent.tools.catalog import IndexPictures
from sightline.agent.tools.registry import KINDS
from sightline.agent.web import WebHit, WebPage, WebPicture
from sightline.calls.session import Session
from sightline.retrieval.index.build import build_index
from sightline.retrieval.index.content import Content
from sightline.retrieval.searcher import Searcher
from sightline.types import Failure, Picture, Scope

COLOURS = ("red", "lime", "blue", "yellow", "magenta", "cyan")
PLACES = (
    "Gion, Kyoto, Japan",
    "Biarritz, France",
    "Arashiyama, Kyoto, Japan",
    "Denver, Colorado, United States",
    "Paris, France",
    None,
)


def tool(name: str, materials: Materials) -> Tool:
    made = KINDS[name].make(materials)
    assert made is not None
    return made


def call(used: Tool, state: AgentState | None = None, /, **arguments: Any) -> Observation:
    """One call, as the loop does it."""
    state = AgentState() if state is None else state
    observation = asyncio.run(used.call(arguments, state))
    state.note(observation)
    return observation


def history(folder: Path) -> list[Picture]:
    """Six pictures, a day after each other; ana has red, blue and magenta, bob the others."""
    pictures = painted(folder / "pictures", **{name: name for name in COLOURS})
    return [replace(picture, address=place) for picture, place in zip(pictures, PLACES, strict=True)]


def index_of(folder: Path) -> Path:
    """A workspace with the index of the history."""
    build_index(Session(folder / "ws"), content=Content(history(folder)), embedder=Colours())
    return folder / "ws"


def materials_of(searcher: Searcher) -> Materials:
    return Materials(IndexPictures(searcher), searcher)


def ana() -> AgentState:
    """What a task about ana may see."""
    return AgentState(Scope(owner="ana"), frozenset(("red.png", "blue.png", "magenta.png")))


def gallery(folder: Path, **images: Image.Image) -> Materials:
    """Pictures as PNG files, without an index."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, image in images.items():
        image.save(folder / f"{name}.png")
    return Materials({f"{name}.png": Picture(f"{name}.png", f"{name}.png") for name in images}, base=folder)


def opened(observation: Observation, at: int = 0) -> Image.Image:
    """The pixels of a picture that a tool made."""
    import io

    data = observation.pictures[at].part.data
    assert data is not None
    return Image.open(io.BytesIO(data)).convert("RGB")


class StubWeb:
    """A web of a few pages in memory; counts what it is asked."""

    name = "stub"
    offline = True

    def __init__(self, pages: Mapping[str, str], pictures: Mapping[str, bytes] | None = None) -> None:
        self._pages, self._pictures = dict(pages), dict(pictures or {})
        self.asked: list[str] = []

    async def search(self, query: str, k: int) -> Sequence[WebHit] | Failure:
        self.asked.append(query)
        found = [WebHit(url, text[:20], text) for url, text in self._pages.items() if query.lower() in text.lower()]
        return found[:k]

    async def open(self, url: str) -> WebPage | Failure:
        self.asked.append(url)
        text = self._pages.get(url)
        return Failure("not-found", f"There is no page at {url}.") if text is None else WebPage(url, text[:20], text)

    async def search_pictures(self, query: str | bytes, k: int) -> Sequence[WebPicture] | Failure:
        self.asked.append("likeness" if isinstance(query, bytes) else query)
        return [WebPicture(url, "https://pages.test/", "a picture") for url in self._pictures][:k]

    async def picture(self, url: str) -> bytes | Failure:
        self.asked.append(url)
        return self._pictures.get(url, Failure("not-found", "no picture"))

    async def close(self) -> None:
        self.asked.append("closed")
