"""A web of your own for agents: a folder of saved pages with their pictures, searched by words and by picture.

    python examples/picture_index.py ~/saved-pages
    sightline run BENCH --system agent:model=…,web=index:http://127.0.0.1:9000,share_pictures=true --out runs/mine

Pages are `.html` files anywhere in the folder; a picture belongs to the page whose `<img src>` names it. The calls are
those of docs/tools.md, "Your own index": put your own search engine behind them.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote

from aiohttp import web

import sightline
from sightline.agent.web.html_text import html_text
from sightline.models.protocols import Embedder

ROOT = "https://pages.invalid/"
"""Where the pages say that they are: `.invalid` is no real site."""
_PICTURE = re.compile(rf"!\[([^\]]*)\]\(({re.escape(ROOT)}[^)\s]+)\)")


@dataclass(frozen=True)
class Page:
    """A page as text, and how often each word stands in it."""

    url: str
    title: str
    text: str
    words: Counter[str]


class SavedPages:
    """Pages found by the share of their words that was asked for, pictures by Sightline's index of the folder."""

    def __init__(self, folder: Path, session: sightline.Session, embedder: str | Embedder | None = None) -> None:
        self._folder, self._session, self._embedder = folder, session, embedder
        self.pages = {page.url: page for page in map(self._page, sorted(folder.rglob("*.html")))}
        self.shown = {
            url: (page.url, words) for page in self.pages.values() for words, url in _PICTURE.findall(page.text)
        }

    def search(self, query: str, k: int) -> list[dict[str, str]]:
        """The best pages, each with its beginning."""
        asked = _words(query)
        scored = [(sum(page.words[word] > 0 for word in asked), page) for page in self.pages.values()]
        best = sorted((each for each in scored if each[0]), key=lambda each: -each[0])[:k]
        return [{"url": page.url, "title": page.title, "text": page.text[:500]} for _, page in best]

    def pictures(self, query: str | bytes, k: int) -> list[dict[str, str]]:
        """The pictures that fit words, or look most like a picture."""
        if isinstance(query, str):
            ids = self._found(query, (), k)
        else:
            with tempfile.NamedTemporaryFile(suffix=".jpg") as file:
                file.write(query)
                file.flush()
                ids = self._found(None, (file.name,), k)
        urls = [ROOT + quote(id_) for id_ in ids]
        return [{"url": url, "page": self.shown[url][0], "caption": self.shown[url][1]} for url in urls]

    def file(self, url: str) -> Path | None:
        """The file of a picture that a page shows; nothing else of this machine."""
        return self._folder / unquote(url.removeprefix(ROOT)) if url in self.shown else None

    def _found(self, query: str | None, like: Sequence[str], k: int) -> list[str]:
        hits = self._session.search(query, self._folder, k=1000, like=like, embedder=self._embedder).hits
        return [hit.picture.id for hit in hits if ROOT + quote(hit.picture.id) in self.shown][:k]

    def _page(self, path: Path) -> Page:
        url = ROOT + quote(path.relative_to(self._folder).as_posix())
        read = html_text(path.read_bytes(), url)
        return Page(url, read.title, read.text, Counter(_words(read.text)))


def make_app(saved: SavedPages) -> web.Application:
    """The five calls."""

    async def search(request: web.Request) -> web.Response:
        return web.json_response({"results": saved.search(request.query["q"], _count(request))})

    async def pictures(request: web.Request) -> web.Response:
        query = request.query["q"] if request.method == "GET" else await request.read()
        return web.json_response({"results": await asyncio.to_thread(saved.pictures, query, _count(request))})

    async def page(request: web.Request) -> web.Response:
        found = saved.pages.get(request.query["url"])
        if found is None:
            raise web.HTTPNotFound
        return web.json_response({"url": found.url, "title": found.title, "text": found.text})

    async def picture(request: web.Request) -> web.StreamResponse:
        path = saved.file(request.query["url"])
        if path is None or not path.is_file():
            raise web.HTTPNotFound
        return web.FileResponse(path)

    app = web.Application(client_max_size=16 << 20)
    app.router.add_get("/search", search)
    app.router.add_get("/pictures", pictures)
    app.router.add_post("/pictures", pictures)
    app.router.add_get("/page", page)
    app.router.add_get("/picture", picture)
    return app


def _count(request: web.Request) -> int:
    return max(1, min(20, int(request.query.get("k", "5"))))


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def main() -> None:
    """Serve until stopped."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="saved pages with their pictures")
    parser.add_argument("--workspace", type=Path, default=None, help="where the index of the pictures is kept")
    parser.add_argument("--port", type=int, default=9000)
    given = parser.parse_args()
    with sightline.Session(given.workspace) as session:
        web.run_app(make_app(SavedPages(given.folder, session)), host="127.0.0.1", port=given.port)


if __name__ == "__main__":
    main()
