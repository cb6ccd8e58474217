"""An index opened to be read: its table and columns, and its vectors, embedder and threshold when they are needed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np

from sightline.calls.session import Session
from sightline.errors import UserError
from sightline.models.embedders.session import EmbedderSession
from sightline.models.protocols import Embedder
from sightline.retrieval.columns.files import load_columns
from sightline.retrieval.index.manifest import IndexManifest, refuse_other_backend, vectors_folder
from sightline.retrieval.index.table import IndexTable, noticing_damage
from sightline.retrieval.query import QueryEmbedder
from sightline.retrieval.ranking import HeldVectors
from sightline.retrieval.scope import Selector
from sightline.retrieval.threshold import Threshold, calibrate, load_threshold
from sightline.retrieval.vector_stores.base import Rows
from sightline.retrieval.vector_stores.exact import ExactIndex
from sightline.retrieval.vector_stores.registry import open_vector_store

_Part = TypeVar("_Part")


class OpenIndex:
    """The parts of an index, each opened once, for any number of threads."""

    def __init__(
        self,
        folder: Path,
        manifest: IndexManifest,
        session: Session | None = None,
        *,
        embedding: EmbedderSession | None = None,
        embedder: str | Embedder | None = None,
        backend: str | None = None,
    ) -> None:
        refuse_other_backend(manifest, backend)
        self.folder, self.manifest = folder, manifest
        self.session = Session.of(session, folder.parent.parent)
        self._given, self._embedding, self._ours = embedder, embedding, embedding is None
        self._backend = backend or manifest.backend
        self._lock = threading.RLock()
        self._parts: dict[str, Any] = {}
        self._table_lock = threading.Lock()
        self.table = IndexTable(folder)
        self.columns = load_columns(folder)
        self._selector = Selector(self.columns)
        with noticing_damage(folder):
            self._size = self.table.size
            living = self.table.rows()
        # A picture that came after the columns were written is not known to filters yet.
        self._living = living[living < len(self.columns)]

    @contextmanager
    def reading_table(self) -> Iterator[None]:
        """While the table is read: one thread at a time, and what is damaged there is told as such."""
        with self._table_lock, noticing_damage(self.folder):
            yield

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
        embedding = self._embedding or EmbedderSession(given, self.session)
        now = embedding.embedder
        if not mark.is_of(now):
            if self._ours:
                embedding.__exit__()
            raise UserError(
                f'the index "{self.manifest.name}" was built by {mark}, and the embedder now is '
                f"{now.name} ({now.revision}).",
                f"bring it up to date: sightline index --name {self.manifest.name} --embedder {now.name}",
            )
        embedding.tell_who_sees("queries")
        return QueryEmbedder(embedding, self.session.config)

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
