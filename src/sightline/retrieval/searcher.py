"""An index, opened once and asked many times, by any number of threads."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np

from sightline.calls.session import Session
from sightline.corpus.film import frames_folder
from sightline.io.files import PathLike
from sightline.models.protocols import Embedder
from sightline.retrieval.index.content import folder_address
from sightline.retrieval.index.manifest import (
    DEFAULT_INDEX,
    FILE_NAME,
    WORKSPACE,
    find_manifest,
    index_folder,
    read_manifest,
)
from sightline.retrieval.index.table import noticing_damage
from sightline.retrieval.methods import checked
from sightline.retrieval.open_index import OpenIndex
from sightline.retrieval.pipeline import Pipeline
from sightline.retrieval.ranking import RankedList
from sightline.retrieval.results import Hit, Results
from sightline.retrieval.scope import Selection
from sightline.retrieval.vector_stores.base import Rows
from sightline.types import Method, SearchQuery


class Searcher(OpenIndex):
    """An open index, as it was when it was opened; `close` it, or use it in a `with` block.

    Reading is for any number of threads. Only the embedder, the word index and the threshold wait for each other.
    """

    @classmethod
    def open(
        cls,
        place: PathLike | None = None,
        name: str | None = None,
        *,
        embedder: str | Embedder | None = None,
        backend: str | None = None,
        session: Session | None = None,
    ) -> Searcher:
        """The index of that name in a workspace (that of the session when not given), or the one in this folder.

        The embedder is the one that built the index, unless one is given that is open already. A back-end with a
        password has to be given again, because no password is ever kept.
        """
        session = Session.of(session, place)
        folder = session.workspace.absolute()
        if name is None and (folder / FILE_NAME).is_file():
            manifest = read_manifest(folder)
            assert manifest is not None
        else:
            manifest = find_manifest(folder, name or DEFAULT_INDEX)
            folder = index_folder(folder, manifest.name)
        return cls(folder, manifest, session, embedder=embedder, backend=backend)

    # --- search -----------------------------------------------------------------------------------------------

    def search(self, query: SearchQuery, method: Method | None = None, *, under: PathLike | None = None) -> Results:
        """The pictures that fit best; `under` limits it to those in a folder."""
        with noticing_damage(self.folder):
            return self._search(query, method, under)

    def _search(self, query: SearchQuery, method: Method | None, under: PathLike | None) -> Results:
        started = time.monotonic()
        method = checked(query, method or Method(), self.manifest)
        selection = self.select(query, under)
        rows = self.each_once(selection.rows)
        pipeline = Pipeline(self, query, method, rows)
        found = pipeline.run()
        mark = self.manifest.embedder if method.vectors else None
        return Results(
            query=query.text or "",
            hits=self._hits(found),
            embedder=None if mark is None else mark.name,
            revision=None if mark is None else mark.revision,
            searched=self._count(rows, method),
            query_was_cut=pipeline.was_cut,
            seconds=time.monotonic() - started,
            index=self.manifest.name,
            backend=self.manifest.backend,
            exact=self._is_exact(rows, method),
            method=method,
            threshold=pipeline.threshold,
            below=pipeline.below,
            failures=pipeline.failures,
            stopped=pipeline.stopped,
            notes=(*selection.notes, *pipeline.notes),
        )

    def select(self, query: SearchQuery, under: PathLike | None = None) -> Selection:
        """The rows that scope, filter and folder leave; None for all."""
        found = self._selector.select(query.scope, query.where)
        if under is None:
            return found
        with self.reading_table():
            folder = Path(under).expanduser().absolute()
            frames = frames_folder(self.folder.parents[1], os.fsencode(os.path.normpath(folder)))
            below = np.union1d(*(self.table.rows_under(folder_address(each)) for each in (folder, frames)))
        below = below[below < len(self.columns)]
        rows = below if found.rows is None else np.intersect1d(found.rows, below, assume_unique=True)
        return Selection(rows, found.notes)

    @property
    def _copies(self) -> dict[int, tuple[int, ...]]:
        """Rows of a workspace's pictures that have the same content; of a benchmark's every picture counts."""
        return self._once("copies", self._find_copies)

    def _find_copies(self) -> dict[int, tuple[int, ...]]:
        if self.manifest.source != WORKSPACE:
            return {}
        with self.reading_table():
            return self.table.copies()

    def each_once(self, rows: Rows | None) -> Rows | None:
        """Of copies within the selection only the first is looked for."""
        if not self._copies:
            return rows
        chosen = self._living if rows is None else rows
        first = np.arange(self._size)
        known = {row: group[0] for row, group in self._copies.items() if row < self._size}
        first[list(known)] = list(known.values())
        _, kept = np.unique(first[chosen], return_index=True)
        return chosen[np.sort(kept)]

    # --- inside -----------------------------------------------------------------------------------------------

    def _is_exact(self, rows: Rows | None, method: Method) -> bool:
        """Was every vector compared? What is limited to some rows is so by any back-end."""
        if rows is not None or not method.vectors or self.all_rows is not None:
            return True
        parts = (self.pictures, self.captions if method.captions else None)
        return all(part.index.exact for part in parts if part is not None)

    def _count(self, rows: Rows | None, method: Method) -> int:
        pictures = self.pictures if method.vectors else None
        if pictures is None:
            return len(self._living) if rows is None else len(rows)
        if rows is None:
            return int(self._once("held", lambda: np.count_nonzero(pictures.holds)))
        return int(np.count_nonzero(pictures.holds[rows]))

    def _hits(self, found: RankedList) -> tuple[Hit, ...]:
        rows = found.rows.tolist()
        with self.reading_table():
            pictures = self.table.pictures([other for row in rows for other in self._copies.get(row, (row,))])
        tags, places = self.columns.labels("tag"), self.columns.texts("place")
        hits = []
        for row, score in zip(rows, found.scores.tolist(), strict=True):
            picture = pictures.get(row)
            if picture is None:  # Removed since the index was opened.
                continue
            parts = {name: scores[row] for name, scores in found.parts.items() if row in scores}
            said = tuple(dict.fromkeys(tags[row]))  # A file and an annotation may say the same.
            also_at = tuple(pictures[at].uri for at in self._copies.get(row, ()) if at != row and at in pictures)
            hits.append(Hit(picture, score, parts, said, picture.address or places[row], also_at))
        return tuple(hits)
