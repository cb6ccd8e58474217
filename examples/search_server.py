"""A search service that `sightline run BENCH --system http:url=…` can test: all of the contract in one file.

Two ways to find, so that the file runs as it is:

    python examples/search_server.py --pictures ~/Pictures         # words of the query in the names of files
    python examples/search_server.py --index .sightline            # Sightline's own index of that workspace

Put your own search in place of `NameFinder`: anything with `find(query, pictures, scope, k)` will do. Then:

    sightline run BENCH --system http:url=http://127.0.0.1:8765 --out runs/mine
"""

from __future__ import annotations

import argparse
import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from aiohttp import web

SUFFIXES = {".jpg", ".jpeg", ".png", ".webp", ".gif", ".tif", ".tiff", ".bmp", ".heic"}
MOST = 1000
"""The largest k that is answered."""


@dataclass(frozen=True)
class Wanted:
    """Where may be searched; all empty means everywhere.

    Groups and pictures add up: a picture of any of the groups, or one of those named. An owner narrows that to theirs.
    """

    owner: str | None = None
    groups: tuple[str, ...] = ()
    pictures: tuple[str, ...] = ()


@dataclass(frozen=True)
class Shown:
    """A picture of the prompt, and the region that is meant: left, top, right, bottom in fractions."""

    id: str
    region: tuple[float, float, float, float] | None = None


class UnknownError(Exception):
    """An owner, a group or a picture that the service does not have."""


class Finder(Protocol):
    """What you bring: the best pictures first, each with a score (higher is better); raises `UnknownError`."""

    name: str
    version: str

    def find(
        self, query: str | None, pictures: Sequence[Shown], scope: Wanted, k: int
    ) -> Sequence[tuple[str, float]]: ...


class NameFinder:
    """Finds pictures whose path holds the words of the query: a stand-in for a real search engine."""

    name, version = "file names", "1"

    def __init__(self, folder: Path) -> None:
        paths = (path for path in sorted(folder.rglob("*")) if path.suffix.lower() in SUFFIXES)
        self._words = {path.relative_to(folder).as_posix(): _words(str(path.relative_to(folder))) for path in paths}

    def find(self, query: str | None, pictures: Sequence[Shown], scope: Wanted, k: int) -> list[tuple[str, float]]:
        """Score: the share of the query's words that the name holds. An owner is the first folder of the path."""
        self._refuse_unknown(pictures, scope)
        asked = _words(query or " ".join(shown.id for shown in pictures))
        scored = [
            (id_, len(asked & words) / len(asked))
            for id_, words in self._words.items()
            if asked & words and self._is_inside(id_, scope)
        ]
        return sorted(scored, key=lambda pair: (-pair[1], pair[0]))[:k]

    def _refuse_unknown(self, pictures: Sequence[Shown], scope: Wanted) -> None:
        if scope.groups:
            raise UnknownError(f"there is no group {scope.groups[0]!r}: files have none")
        if scope.owner is not None and not any(id_.startswith(f"{scope.owner}/") for id_ in self._words):
            raise UnknownError(f"there is no owner {scope.owner!r}")
        for shown in pictures:
            if shown.id not in self._words:
                raise UnknownError(f"there is no picture {shown.id!r}")

    def _is_inside(self, id_: str, scope: Wanted) -> bool:
        if scope.pictures and id_ not in scope.pictures:
            return False
        return scope.owner is None or id_.partition("/")[0] == scope.owner


class IndexFinder:
    """Finds by an index that `sightline index` built."""

    name = "sightline"

    def __init__(self, workspace: Path) -> None:
        from sightline import __version__
        from sightline.retrieval.searcher import Searcher

        self.version = __version__
        self._searcher = Searcher.open(workspace)

    def find(self, query: str | None, pictures: Sequence[Shown], scope: Wanted, k: int) -> list[tuple[str, float]]:
        from sightline.errors import UserError
        from sightline.types import Box, PictureRef, Scope, SearchQuery

        like = tuple(PictureRef(shown.id, None if shown.region is None else Box(*shown.region)) for shown in pictures)
        within = Scope(scope.owner, scope.groups, scope.pictures)
        try:
            found = self._searcher.search(SearchQuery(text=query, like=like, scope=within, k=k))
        except UserError as error:
            raise UnknownError(error.message) from error
        return [(hit.picture.id, hit.score) for hit in found.hits]


class BadRequestError(Exception):
    """The request does not keep to the contract."""


def make_app(finder: Finder) -> web.Application:
    """`POST /search` and `GET /health` over a finder."""

    async def health(_: web.Request) -> web.Response:
        return web.json_response({"status": "ok", "name": finder.name, "version": finder.version})

    async def search(request: web.Request) -> web.Response:
        try:
            query, pictures, scope, k = _read(await request.json())
        except (ValueError, BadRequestError) as error:
            return web.json_response({"error": str(error)}, status=400)
        # A search may take its time: it must not keep other requests from being heard.
        try:
            found = await asyncio.to_thread(finder.find, query, pictures, scope, k)
        except UnknownError as error:
            return web.json_response({"error": str(error)}, status=404)
        return web.json_response({"hits": [{"id": id_, "score": score} for id_, score in found]})

    app = web.Application(client_max_size=64 << 20)
    app.add_routes([web.get("/health", health), web.post("/search", search)])
    return app


def _read(body: Any) -> tuple[str | None, list[Shown], Wanted, int]:
    if not isinstance(body, dict):
        raise BadRequestError("the body is not an object")
    query, shown, scope, k = body.get("query"), body.get("pictures", []), body.get("scope", {}), body.get("k", 10)
    if query is not None and not isinstance(query, str):
        raise BadRequestError("query is not a text")
    if not isinstance(k, int) or not 1 <= k <= MOST:
        raise BadRequestError(f"k is not a number from 1 to {MOST}")
    if not isinstance(scope, dict) or not isinstance(shown, list) or not all(map(_is_picture, shown)):
        raise BadRequestError("scope is not an object, or pictures are not objects with an id (and four numbers)")
    if not query and not shown:
        raise BadRequestError("there is neither a query nor a picture")
    wanted = Wanted(scope.get("owner"), tuple(scope.get("groups") or ()), tuple(scope.get("pictures") or ()))
    return query, [_shown(one) for one in shown], wanted, k


def _is_picture(one: Any) -> bool:
    if not isinstance(one, dict) or not isinstance(one.get("id"), str):
        return False
    box = one.get("region")
    numbers = isinstance(box, list) and len(box) == 4 and all(isinstance(side, int | float) for side in box)
    return box is None or (numbers and 0 <= box[0] < box[2] <= 1 and 0 <= box[1] < box[3] <= 1)


def _shown(one: dict[str, Any]) -> Shown:
    box = one.get("region")
    return Shown(one["id"], None if box is None else (box[0], box[1], box[2], box[3]))


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]+|\d+", text.lower()))


def main() -> None:
    """Serve until stopped."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--pictures", type=Path, help="a folder: find by the names of its files")
    source.add_argument("--index", type=Path, help="a workspace: find by the index that Sightline built there")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8765)
    given = parser.parse_args()
    finder: Finder = NameFinder(given.pictures) if given.pictures else IndexFinder(given.index)
    web.run_app(make_app(finder), host=given.host, port=given.port)


if __name__ == "__main__":
    main()
