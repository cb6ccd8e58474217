"""Steps that look at pictures one by one: words in them, and token vectors for late interaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np

from sightline.config import Config
from sightline.engine.progress import progress
from sightline.models.embedders.base import batch_of, side_of
from sightline.models.embedders.pixels import decode_region, read_bytes
from sightline.models.protocols import Embedder, Pixels
from sightline.retrieval.bm25 import words_of
from sightline.retrieval.index.content import local_path
from sightline.retrieval.index.table import PAGE, IndexTable, load_picture
from sightline.retrieval.ranking import TokenVectors
from sightline.types import Failure

_READ_SIDE = 960
"""Of the shorter side of a picture in which words are read."""
_WITHOUT_WORDS = "source NOT IN (SELECT source FROM seen_words)"
_WITHOUT_TOKENS = "row NOT IN (SELECT t.row FROM tokens AS t WHERE t.source = rows.source)"


class PictureSteps:
    """Pictures of an index that somebody has yet to look at; each is kept as soon as it was."""

    def __init__(self, table: IndexTable, config: Config) -> None:
        self._table, self._max_pixels = table, config.scan.max_pixels
        self.left_out: Counter[str] = Counter()

    def read_words(self) -> int:
        """Read the words in pictures; how many pictures were read."""
        from sightline.models.photos.ocr import WordReader

        reader = WordReader()

        def keep(row: int, source: bytes, pixels: Pixels) -> None:
            lines = [item["text"] for item in reader.read(pixels) if isinstance(item, dict)]
            self._keep_words(row, source, " ".join(map(str, lines)))

        return self._each("words", _WITHOUT_WORDS, _READ_SIDE, keep)

    def make_tokens(self, embedder: Embedder, offered: TokenVectors) -> int:
        """Make token vectors of pictures; how many pictures have new ones."""
        waiting: list[tuple[int, bytes, Pixels]] = []

        def keep(row: int, source: bytes, pixels: Pixels) -> None:
            waiting.append((row, source, pixels))
            if len(waiting) >= batch_of(embedder):
                self._keep_tokens(offered, waiting)

        count = self._each("tokens", _WITHOUT_TOKENS, side_of(embedder), keep)
        self._keep_tokens(offered, waiting)
        return count

    def _each(self, what: str, where: str, side: int, keep: Callable[[int, bytes, Pixels], None]) -> int:
        count, last = 0, -1
        query = f"SELECT row, uri, source FROM rows WHERE {where} AND row > ? ORDER BY row LIMIT ?"
        with progress(what, None) as advance:
            while page := self._table.database.execute(query, (last, PAGE)).fetchall():
                last = page[-1][0]
                for row, uri, source in page:
                    pixels = self._pixels(uri, side)
                    if isinstance(pixels, Failure):
                        self.left_out[pixels.kind] += 1
                    else:
                        keep(row, source, pixels)
                        count += 1
                    advance(1)
        return count

    def _pixels(self, uri: str, side: int) -> Pixels | Failure:
        path = local_path(uri)
        if path is None:
            return Failure("not on this machine", uri)
        data = read_bytes(path)
        return data if isinstance(data, Failure) else decode_region(data, side, self._max_pixels)

    def _keep_words(self, row: int, source: bytes, words: str) -> None:
        table = self._table
        with table.transaction():
            table.database.execute("INSERT OR REPLACE INTO seen_words VALUES (?, ?)", (source, words))
            query = "SELECT row, picture FROM rows WHERE source = ?"
            for same, data in table.database.execute(query, (source,)).fetchall():
                picture = load_picture(data)
                table.index_words(same, words_of(picture, table.annotation(picture.id), words))

    def _keep_tokens(self, offered: TokenVectors, waiting: list[tuple[int, bytes, Pixels]]) -> None:
        if not waiting:
            return
        found = offered.pictures([pixels for _, _, pixels in waiting])
        with self._table.transaction():
            self._table.database.executemany(
                "INSERT OR REPLACE INTO tokens VALUES (?, ?, ?, ?)",
                (
                    (row, source, vectors.shape[1], np.ascontiguousarray(vectors, "<f2").tobytes())
                    for (row, source, _), vectors in zip(waiting, found, strict=True)
                ),
            )
        waiting.clear()
