"""Vectors of pictures and captions: made where the workspace has none, then put into the back-end, page by page."""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np

from sightline.config import Config
from sightline.corpus.walk import FoundFile
from sightline.engine.progress import progress
from sightline.errors import SightlineError, StoppedError
from sightline.models.embedders.bulk_embedding import embed_files, embed_new_texts
from sightline.models.embedders.embedded_files import Listing
from sightline.models.embedders.session import EmbedderSession
from sightline.models.protocols import Vectors
from sightline.retrieval.index.content import local_path
from sightline.retrieval.index.manifest import vectors_folder
from sightline.retrieval.index.table import IndexTable, ToEmbed
from sightline.retrieval.threshold import phrases
from sightline.retrieval.vector_stores.base import DamagedError, MeasuresRecall, Rows, VectorIndex
from sightline.retrieval.vector_stores.faiss import SAMPLE
from sightline.retrieval.vector_stores.registry import open_vector_store, public_spec

_log = logging.getLogger(__name__)
_TAG = "vectors of"
_ROOT = Path("/")  # Paths in the listing are absolute.
_FIRST_ROUND = 256
"""So many pictures can be searched first, then twice as many, and so on, while the others are being embedded."""
_FEW = 32
"""Fewer texts than these say little about how well texts are answered."""


@dataclass(slots=True)
class VectorCounts:
    """How many vectors were made now and put into the back-end, and how many pictures gave none, by reason.

    `recalls` is what an approximate back-end measured: by kind of query, the share of true neighbours that it finds.
    """

    made: int = 0
    put: int = 0
    captions: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    stopped: StoppedError | None = None
    recalls: Mapping[str, float] = field(default_factory=dict)


def tag_of(session: EmbedderSession, backend: str) -> str:
    """What tells the vectors of this embedder in this back-end from those of others."""
    embedder = session.embedder
    text = "\0".join((embedder.name, embedder.revision, public_spec(backend)))
    return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()


class VectorStep:
    """Brings the back-end to what the table says."""

    def __init__(self, folder: Path, table: IndexTable, session: EmbedderSession, backend: str, config: Config) -> None:
        self._folder, self._table, self._session, self._config = folder, table, session, config
        self._backend = backend
        self.tag = tag_of(session, backend)
        self.done = VectorCounts()

    def run(self, *, captions: bool, checkpoint: Callable[[], None]) -> VectorCounts:
        """All of it; a budget that is used up ends it after what was made has been put.

        What a `checkpoint` follows can be searched.
        """
        # Rows that are done, and no vectors in the workspace: those are gone, and made again.
        is_lost = self.dim is None and len(self._table.rows("done IS NOT NULL")) > 0
        if self._table.note(_TAG) != self.tag or is_lost:
            with self._table.transaction():
                self._table.forget("done")
                self._table.forget("caption")
                self._table.database.execute("DELETE FROM tokens")
                self._table.set_note(_TAG, self.tag)
        # An approximate index is trained and tried whenever it is filled: it is filled once.
        most = _FIRST_ROUND if self._backend.startswith("exact") else None
        last = self._make(-1, most)
        self._fill("pictures", "done", self._put_pictures)
        while last is not None and most is not None and self.done.stopped is None:
            checkpoint()
            most *= 2
            last = self._make(last, most)
            self._fill("pictures", "done", self._put_pictures)
        if captions and self.done.stopped is None:
            self._fill("captions", "caption", self._put_captions)
        return self.done

    @property
    def dim(self) -> int | None:
        """The length of the vectors; None as long as there are none."""
        space = self._session.cache.space(self._session.embedder)
        return None if space is None else space.dim

    # --- make -------------------------------------------------------------------------------------------------

    def _make(self, after: int, most: int | None) -> int | None:
        """Read and embed the pictures whose content has no vector in the workspace, beginning `after` a row.

        The last row of these where there were as many as may be, and there may be more.
        """
        rows = array("q")
        listing = Listing(self._session.cache, _ROOT, islice(self._files(rows, after), most))
        if not listing.count:
            return None
        waiting = self._table.count_to_embed(after)
        part = (self.done.made, self.done.made + waiting)
        made, self.done.stopped = embed_files(listing, self._session, self._config, part)
        self.done.made += made
        self._table.set_keys((key, why, rows[number - 1]) for number, key, why in listing.outcomes())
        return rows[listing.count - 1] if listing.count == most else None

    def _files(self, rows: array[int], after: int) -> Iterator[FoundFile]:
        for page in self._table.to_embed(after):
            known = [item for item in page if item.key is not None]
            missing = set(self._session.cache.missing([item.key or b"" for item in known], self._session.embedder))
            there = {item.row for at, item in enumerate(known) if at not in missing}
            lost = []
            for item in page:
                if item.row in there:
                    continue
                found = _file(item)
                if isinstance(found, FoundFile):
                    rows.append(item.row)
                    yield found
                else:
                    lost.append((item.key, found, item.row))
            self._table.set_keys(lost)

    # --- put --------------------------------------------------------------------------------------------------

    def _fill(self, what: str, column: str, put: Callable[[VectorIndex], None]) -> None:
        dim = self.dim
        if dim is None:
            self._count_left_out()
            return
        backend = self._opened(vectors_folder(self._folder, self.tag, what), dim)
        try:
            self._reconcile(backend, column)
            put(backend)
            if isinstance(backend, MeasuresRecall):
                backend.expect(self._texts_asked)
            backend.flush()
            if isinstance(backend, MeasuresRecall) and what == "pictures":
                self.done.recalls = backend.recalls
        finally:
            backend.close()

    def _opened(self, folder: Path, dim: int) -> VectorIndex:
        try:
            return open_vector_store(self._backend, folder, dim, create=True)
        except DamagedError as error:
            _log.warning("%s It is made again.", error.message)
            shutil.rmtree(folder)
            return open_vector_store(self._backend, folder, dim, create=True)

    def _reconcile(self, backend: VectorIndex, column: str) -> None:
        """What the back-end lost is put again, and what it should not hold leaves."""
        there, wanted = backend.rows(), self._table.rows(f"{column} IS NOT NULL")
        lost = np.setdiff1d(wanted, there, assume_unique=True)
        if len(lost):
            self._table.forget(column, lost)
        gone = np.setdiff1d(there, self._table.rows(), assume_unique=True)
        if len(gone):
            backend.remove(gone)

    def _put_pictures(self, backend: VectorIndex) -> None:
        with progress("index", None) as advance:
            for page in self._table.to_embed():
                good, vectors = self._cached([item.key or b"" for item in page])
                items = [page[at] for at in good]
                self._put(backend, [item.row for item in items], vectors)
                self._table.set_done((item.source, item.row) for item in items)
                stale = {item.row for item in page} - {item.row for item in items}
                if stale:  # An older content of theirs may be there still.
                    backend.remove(np.array(sorted(stale), np.int64))
                self.done.put += len(items)
                advance(len(items))
        self._count_left_out()

    def _put_captions(self, backend: VectorIndex) -> None:
        session = self._session
        captioned = [np.zeros(0, np.int64)]
        with progress("captions", None) as advance:
            for page in self._table.captions():
                made = embed_new_texts([text for _, text, _ in page], session.embedder, session.cache, advance)
                new = [at for at, (_, _, before) in enumerate(page) if before != made.keys[at]]
                good, vectors = self._cached([made.keys[at] for at in new])
                self._put(backend, [page[new[at]][0] for at in good], vectors)
                self._table.set_captions((made.keys[new[at]], page[new[at]][0]) for at in good)
                self.done.captions += len(good)
                captioned.append(np.array([row for row, _, _ in page], np.int64))
                if made.stopped is not None:
                    self.done.stopped = made.stopped
                    return
        gone = np.setdiff1d(backend.rows(), np.concatenate(captioned))
        if len(gone):  # Pictures that lost their caption.
            self._table.forget("caption", gone)
            backend.remove(gone)

    def _texts_asked(self) -> dict[str, Vectors]:
        """Texts as people ask for pictures: what is said of these, and a bank of phrases."""
        kinds = {"captions": self._table.texts_said(SAMPLE), "phrases": phrases()}
        return {kind: self._embedded_texts(texts) for kind, texts in kinds.items() if len(texts) >= _FEW}

    def _embedded_texts(self, texts: Sequence[str]) -> Vectors:
        """Their vectors; none where the embedder has none for texts, or may not be asked any more."""
        session = self._session
        try:
            made = embed_new_texts(texts, session.embedder, session.cache, lambda _: None)
        except (SightlineError, NotImplementedError) as error:
            _log.warning("searches by words were not tried on the approximate index: %s", error)
            return np.zeros((0, self.dim or 0), np.float32)
        return self._cached(made.keys)[1]

    def _cached(self, keys: Sequence[bytes]) -> tuple[list[int], Vectors]:
        """Positions of the keys that have a vector, and those vectors."""
        got = self._session.cache.get_many(keys, self._session.embedder)
        missing = set(got.missing.tolist())
        good = [at for at in range(len(keys)) if at not in missing]
        return good, got.vectors if not missing else got.vectors[good]

    def _put(self, backend: VectorIndex, rows: Sequence[int], vectors: Vectors) -> None:
        if rows:
            numbers: Rows = np.array(rows, np.int64)
            backend.put([(numbers, vectors)])

    def _count_left_out(self) -> None:
        query = "SELECT coalesce(why, 'unreadable'), count(*) FROM rows WHERE done IS NOT source GROUP BY 1"
        self.done.left_out = Counter(dict(self._table.database.execute(query).fetchall()))


def _file(item: ToEmbed) -> FoundFile | str:
    """The file of a picture, or why there is none."""
    path = local_path(item.uri)
    if path is None:
        return "not on this machine"
    try:
        status = os.stat(path)  # noqa: PTH116 (bytes, which pathlib does not take)
    except OSError:
        return "missing"
    return FoundFile(os.path.abspath(path), status.st_size, status.st_mtime_ns, b"")  # noqa: PTH100
