"""Searching the pages: by words through SQLite's FTS5, and pictures by their captions or by their look."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sightline.retrieval.bm25 import TOKENIZER, match_expression, query_words
from sightline_world.draw import ScenePlan, draw
from sightline_world.web.facts import FactBase, plain
from sightline_world.web.pages import Page, unlinked

_WEIGHTS = (6.0, 2.0, 1.0)
"""Of a word in the title, in the info box, in the text."""
_SNIPPET_WORDS = 32
_DRAWN = (96, 72)
_SIDE = 24


@dataclass(frozen=True, slots=True)
class PageHit:
    """A page that was found: `snippet` is the part of its text that fits the query best."""

    url: str
    title: str
    snippet: str


@dataclass(frozen=True, slots=True)
class PictureHit:
    """A page's picture that was found; lower `distance` is more alike, and 0 when words were searched for."""

    url: str
    page: str
    caption: str
    distance: float = 0.0


class PageIndex:
    """An index in memory over titles, boxes and texts of pages, and over captions of their pictures."""

    def __init__(self, base: FactBase, pages: Sequence[Page]) -> None:
        self._lock = threading.Lock()
        self._database = sqlite3.connect(":memory:", check_same_thread=False)
        self._pages = pages
        self._exact = _exact(base, pages)
        rows = ((n, page.title, _box_words(page), page.text) for n, page in enumerate(pages))
        self._fill("pages", "title, box, text", rows)
        captions = ((n, page.picture.caption) for n, page in enumerate(pages) if page.picture is not None)
        self._fill("captions", "caption", captions)

    def _fill(self, table: str, columns: str, rows: Iterable[tuple[int | str, ...]]) -> None:
        marks = ", ".join("?" * (columns.count(",") + 2))
        self._database.execute(f'CREATE VIRTUAL TABLE {table} USING fts5({columns}, tokenize="{TOKENIZER}")')
        self._database.executemany(f"INSERT INTO {table}(rowid, {columns}) VALUES ({marks})", rows)

    def find(self, query: str, top_k: int) -> list[PageHit]:
        """Entries whose name is the query first, then by BM25, then in the order of the pages."""
        named = self._exact.get(plain(query), [])[:top_k]
        rows = self._match(
            f"SELECT rowid, snippet(pages, 2, '', '', '…', {_SNIPPET_WORDS}) FROM pages WHERE pages MATCH ?"
            f" ORDER BY bm25(pages, {', '.join(map(str, _WEIGHTS))}), rowid LIMIT ?",
            query,
            top_k + len(named),
        )
        snippets = dict(rows)
        order = [*named, *(number for number in snippets if number not in named)][:top_k]
        return [
            PageHit(page.url, page.title, snippets.get(number) or _beginning(page))
            for number, page in ((number, self._pages[number]) for number in order)
        ]

    def find_captions(self, query: str, top_k: int) -> list[int]:
        """Numbers of pages with a picture whose caption has the words."""
        sql = "SELECT rowid, rowid FROM captions WHERE captions MATCH ? ORDER BY bm25(captions), rowid LIMIT ?"
        return [number for number, _ in self._match(sql, query, top_k)]

    def _match(self, sql: str, query: str, limit: int) -> list[tuple[int, str]]:
        words = query_words(query)
        if not words or limit < 1:
            return []
        with self._lock:
            return self._database.execute(sql, (match_expression(words), limit)).fetchall()


def _exact(base: FactBase, pages: Sequence[Page]) -> dict[str, list[int]]:
    """Numbers of entries by their title, then by other names of what they are about."""
    found: dict[str, list[int]] = {}
    entries = [(n, page) for n, page in enumerate(pages) if page.kind == "entry"]
    for number, page in entries:
        found.setdefault(plain(page.title), []).append(number)
    for number, page in entries:
        entity = base.entities[page.about]
        for name in (entity.name, entity.short):
            numbers = found.setdefault(plain(name), [])
            if number not in numbers:
                numbers.append(number)
    return found


def _box_words(page: Page) -> str:
    return unlinked(" ".join(f"{label} {value}" for label, value in page.box))


def _beginning(page: Page) -> str:
    words = page.text.split()
    return " ".join(words[:_SNIPPET_WORDS]) + ("…" if len(words) > _SNIPPET_WORDS else "")


class Likeness:
    """Thumbnails of all pictures; the plans are drawn small, once, when this is made."""

    def __init__(self, plans: Sequence[ScenePlan]) -> None:
        self._thumbnails = np.stack([_thumbnail(draw(replace(plan, size=_DRAWN)).image) for plan in plans])

    def nearest(self, image: Image.Image, top_k: int) -> list[tuple[int, float]]:
        """Numbers of plans with their distance (root mean square, in grey levels), the most alike first."""
        apart = self._thumbnails - _thumbnail(image)
        distances = np.sqrt(np.mean(apart * apart, axis=1))
        order = np.argsort(distances, kind="stable")[:top_k]
        return [(int(number), float(distances[number])) for number in order]


def _thumbnail(image: Image.Image) -> NDArray[np.float32]:
    small = image.convert("RGB").resize((_SIDE, _SIDE), Image.Resampling.BOX)
    return np.asarray(small, dtype=np.float32).ravel()
