"""An index, opened once and asked many times, by any number of threads."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np

from sightline.calls.session import CallOptions
from sightline.config import Config
from sightline.errors import UserError
from sightline.io import PathLike
from sightline.models.embedders.session import EmbedderSession
from sightline.models.protocols import Embedder
from sightline.retrieval.columns import load_columns
from sightline.retrieval.index.content import folder_address
from sightline.retrieval.index.manifest import (
    DEFAULT_INDEX,
    FILE_NAME,
    IndexManifest,
    find_manifest,
    index_folder,
    read_manifest,
    refuse_other_backend,
)
from sightline.retrieval.index.table import IndexTable, noticing_damage
from sightline.retrieval.index.vectors import vectors_folder
from sightline.retrieval.methods import checked
from sightline.retrieval.pipeline import Pipeline
from sightline.retrieval.query import QueryEmbedder
from sightline.retrieval.ranking import HeldVectors, RankedList
from sightline.retrieval.results import Hit, Results
from sightline.retrieval.scope import Selection, Selector
from sightline.retrieval.threshold import Threshold, calibrate, load_threshold
from sightline.retrieval.vector_stores import Rows, open_vector_store
from sightline.retrieval.vector_stores.exact import ExactIndex
from sightline.types import Method, SearchQuery

_Part = TypeVar("_Part")


class Searcher:
    """An open index, as it was when it was opened; `close` it, or use it in a `with` block.

    Reading is for any number of threads. Only the embedder, the word index and the threshold wait for each other.
    """

    def __init__(
        self,
        folder: Path,
        manifest: IndexManifest,
        *,
        session: EmbedderSession | None = None,
        embedder: str | Embedder | None = None,
        backend: str | None = None,
        config: Config | None = None,
        local_only: bool = False,
        asking: CallOptions | None = None,
    ) -> None:
        refuse_other_backend(manifest, backend)
        self.folder, self.manifest = folder, manifest
        self.config, asking = config or Config(), asking or CallOptions()
        self.asking = replace(asking, local_only=local_only or asking.local_only)
        self._given, self._session, self._ours = embedder, session, session is None
        self._backend = backend or manifest.backend
        self._lock = threading.RLock()
        self._parts: dict[str, Any] = {}
        self.table_lock = threading.Lock()
        self.table = IndexTable(folder)
        self.columns = load_columns(folder)
        self._selector = Selector(self.columns)
        with noticing_damage(folder):
            self._size = self.table.size
            living = self.table.rows()
        # A picture that came after the columns were written is not known to filters yet.
        self._living = living[living < len(self.columns)]

    @classmethod
    def open(
        cls,
        place: PathLike = ".sightline",
        name: str | None = None,
        *,
        embedder: str | Embedder | None = None,
        backend: str | None = None,
        config: Config | None = None,
        local_only: bool = False,
        asking: CallOptions | None = None,
    ) -> Searcher:
        """The index of that name in a workspace, or the one in this folder.

        The embedder is the one that built the index, unless one is given that is open already. A back-end with a
        password has to be given again, because no password is ever kept.
        """
        folder = Path(place).expanduser().absolute()
        if name is None and (folder / FILE_NAME).is_file():
            manifest = read_manifest(folder)
            assert manifest is not None
        else:
            manifest = find_manifest(folder, name or DEFAULT_INDEX)
            folder = index_folder(folder, manifest.name)
        return cls(
            folder, manifest, embedder=embedder, backend=backend, config=config, local_only=local_only, asking=asking
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of files, connections and the embedder, if it was opened here."""
        for part in self._parts.values():
            if isinstance(part, HeldVectors):
                part.index.close()
            elif isinstance(part, QueryEmbedder) and self._ours:
                part.close()
        self.table.close()

    def __len__(self) -> int:
        return len(self._living)

    @property
    def workspace(self) -> Path:
        return self.folder.parent.parent

    # --- search -----------------------------------------------------------------------------------------------

    def search(self, query: SearchQuery, method: Method | None = None, *, under: PathLike | None = None) -> Results:
        """The pictures that fit best; `under` limits it to those in a folder."""
        with noticing_damage(self.folder):
            return self._search(query, method, under)

    def _search(self, query: SearchQuery, method: Method | None, under: PathLike | None) -> Results:
        started = time.monotonic()
        method = checked(query, method or Method(), self.manifest)
        selection = self.select(query, under)
        pipeline = Pipeline(self, query, method, selection.rows)
        found = pipeline.run()
        mark = self.manifest.embedder if method.vectors else None
        return Results(
            query=query.text or "",
            hits=self._hits(found),
            embedder=None if mark is None else mark.name,
            revision=None if mark is None else mark.revision,
            searched=self._count(selection.rows, method),
            query_was_cut=pipeline.was_cut,
            seconds=time.monotonic() - started,
            index=self.manifest.name,
            backend=self.manifest.backend,
            exact=self._is_exact(selection.rows, method),
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
        with self.table_lock:
            below = self.table.rows_under(folder_address(Path(under)))
        below = below[below < len(self.columns)]
        rows = below if found.rows is None else np.intersect1d(found.rows, below, assume_unique=True)
        return Selection(rows, found.notes)

    # --- parts, each opened when it is first needed -----------------------------------------------------------

    def _once(self, name: str, make: Callable[[], _Part]) -> _Part:
        """The part of that name: made by the first thread that asks, while others wait."""
        if name not in self._parts:
            with self._lock:
                if name not in self._parts:
                    self._parts[name] = make()
        part: _Part = self._parts[name]
        return part

    @property
    def asker(self) -> QueryEmbedder:
        """The embedder that built the index."""
        return self._once("asker", self._open_embedder)

    def _open_embedder(self) -> QueryEmbedder:
        mark = self.manifest.embedder
        if mark is None:
            raise UserError(f'the index "{self.manifest.name}" holds no vectors.', "make them: sightline index")
        given = self._given if self._given is not None else mark.spec
        session = self._session or EmbedderSession(
            given, self.workspace, config=self.config, local_only=self.asking.local_only, asking=self.asking
        )
        now = session.embedder
        if not mark.is_of(now):
            if self._ours:
                session.__exit__()
            raise UserError(
                f'the index "{self.manifest.name}" was built by {mark}, and the embedder now is '
                f"{now.name} ({now.revision}).",
                f"bring it up to date: sightline index --name {self.manifest.name} --embedder {now.name}",
            )
        session.tell_who_sees("queries")
        return QueryEmbedder(session, self.config)

    @property
    def pictures(self) -> HeldVectors | None:
        """The vectors of pictures; None where there are none."""
        return self._once("pictures", lambda: self._held("pictures"))

    @property
    def captions(self) -> HeldVectors | None:
        """The vectors of captions; None where there are none."""
        return self._once("captions", lambda: self._held("captions")) if self.manifest.captions else None

    def _held(self, what: str) -> HeldVectors | None:
        mark, tag = self.manifest.embedder, self.manifest.tag
        if mark is None or tag is None or mark.dim == 0:
            return None
        folder = vectors_folder(self.folder, tag, what)
        index = open_vector_store(self._backend, folder, mark.dim, create=False)
        holds = np.zeros(self._size, np.bool_)
        rows = index.rows()
        holds[rows[rows < self._size]] = True
        # The exact back-end only reads arrays; what others do with a connection is theirs to say.
        return HeldVectors(index, holds, nullcontext() if isinstance(index, ExactIndex) else threading.Lock())

    @property
    def all_rows(self) -> Rows | None:
        """What an unlimited search by vectors is limited to: None for nothing.

        While an update goes on, or after one was killed, back-ends may hold pictures that left the index.
        """
        return self._once("all rows", self._living_rows)

    def _living_rows(self) -> Rows | None:
        living = np.zeros(self._size, np.bool_)
        living[self._living] = True
        held = (part for part in (self.pictures, self.captions) if part is not None)
        return self._living if any((part.holds & ~living).any() for part in held) else None

    def threshold(self) -> Threshold:
        """The calibrated one; made, and kept in the index, when it is first asked for."""
        return self._once("threshold", self._calibrated)

    def _calibrated(self) -> Threshold:
        pictures, asker = self.pictures, self.asker
        if pictures is None:
            raise UserError("there are no vectors to calibrate a threshold on.", "leave --threshold out")
        stamp = f"{self.manifest.tag} {self.manifest.vectors_state}"
        found = load_threshold(self.folder, stamp)
        if found is None:
            found = calibrate(pictures.index, asker.texts, stamp)
            if self.manifest.vectors_state is not None:  # More vectors are to come otherwise.
                found.save(self.folder)
        return found

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
        with self.table_lock:
            pictures = self.table.pictures(rows)
        tags, places = self.columns.labels("tag"), self.columns.texts("place")
        hits = []
        for row, score in zip(rows, found.scores.tolist(), strict=True):
            picture = pictures.get(row)
            if picture is None:  # Removed since the index was opened.
                continue
            parts = {name: scores[row] for name, scores in found.parts.items() if row in scores}
            said = tuple(dict.fromkeys(tags[row]))  # A file and an annotation may say the same.
            hits.append(Hit(picture, score, parts, said, picture.address or places[row]))
        return tuple(hits)
