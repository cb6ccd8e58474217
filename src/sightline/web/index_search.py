"""Searches of the app: indexes stay open, uploads stay in memory, and live counts ask only the filter."""

from __future__ import annotations

import hashlib
import tempfile
import threading
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from pathlib import Path

from sightline.calls.session import Session
from sightline.errors import UserError
from sightline.io.workspace import workspace_option
from sightline.models.protocols import Embedder
from sightline.retrieval.gazetteer import find_place
from sightline.retrieval.index.manifest import DEFAULT_INDEX, FILE_NAME, index_folder, index_names, read_manifest
from sightline.retrieval.methods import METHODS
from sightline.retrieval.results import Results
from sightline.retrieval.searcher import Searcher
from sightline.types import Failure, PictureRef, SearchQuery
from sightline.web.thumbnails import shrink

_UPLOADS = 32
_SIDE = 1024


@dataclass(frozen=True, slots=True)
class SearchForm:
    """A search as the page asks it: words, a picture of the corpus or an upload to look like, a filter."""

    text: str = ""
    like: str = ""
    upload: str = ""
    where: str = ""
    method: str = "vectors"
    k: int = 60

    @property
    def is_empty(self) -> bool:
        return not (self.text.strip() or self.like or self.upload)


@dataclass(eq=False)
class AppSearch:
    """The indexes of a workspace, opened when first needed and again when they were changed."""

    workspace: Path | None
    embedder: str | Embedder | None = None
    session: Session = field(default_factory=Session)
    _lock: threading.Lock = field(init=False, default_factory=threading.Lock)
    _open: dict[str, tuple[int, Searcher]] = field(init=False, default_factory=dict)
    _uploads: OrderedDict[str, bytes] = field(init=False, default_factory=OrderedDict)

    def names(self) -> list[str]:
        """The indexes that are there, the usual one first."""
        found = [] if self.workspace is None else index_names(self.workspace)
        return sorted(found, key=lambda name: (name != DEFAULT_INDEX, name))

    def index_of(self, benchmark: Path) -> str | None:
        """The index that was built from a benchmark's own pictures."""
        for name in self.names():
            manifest = None if self.workspace is None else read_manifest(index_folder(self.workspace, name))
            if manifest is not None and manifest.origin and Path(manifest.origin).parent == benchmark.absolute():
                return name
        return None

    def searcher(self, name: str = DEFAULT_INDEX) -> Searcher | None:
        """An open index; None where there is none of that name."""
        if self.workspace is None or name not in self.names():
            return None
        with self._lock:
            stamp = index_folder(self.workspace, name).joinpath(FILE_NAME).stat().st_mtime_ns
            held = self._open.get(name)
            if held is None or held[0] != stamp:
                given = None if isinstance(self.embedder, str) else self.embedder
                # Whoever still searches the old one may finish: it is closed when nobody holds it any more.
                found = Searcher.open(self.workspace, name, embedder=given, session=self.session)
                held = self._open[name] = (stamp, found)
            return held[1]

    @property
    def stamp(self) -> int:
        """Changes when more pictures are found by the usual index; 0 without one."""
        manifest = None if self.workspace is None else index_folder(self.workspace, DEFAULT_INDEX) / FILE_NAME
        return 0 if manifest is None or not manifest.is_file() else manifest.stat().st_mtime_ns

    @property
    def index_command(self) -> str:
        """Makes the index that is missing."""
        return f"sightline index{workspace_option(self.workspace)}"

    def _needed(self, name: str) -> Searcher:
        searcher = self.searcher(name)
        if searcher is None:
            raise UserError("there is no index to search yet.", f"make one: {self.index_command}")
        return searcher

    def warm(self) -> None:
        """Open the usual index, and read the names of places, which the first `near` needs."""
        if self.searcher() is not None:
            find_place("Paris")

    def search(self, wanted: SearchForm, index: str = DEFAULT_INDEX) -> Results:
        """The pictures that fit best."""
        searcher = self._needed(index)
        by_picture = wanted.like or wanted.upload
        name = "vectors" if by_picture else "words" if searcher.manifest.embedder is None else wanted.method
        method = METHODS.get(name, METHODS["vectors"])
        like = (PictureRef(wanted.like),) if wanted.like else ()
        query = SearchQuery(wanted.text.strip() or None, like, (), wanted.where.strip() or None, k=wanted.k)
        if not wanted.upload:
            return searcher.search(query, method)
        with tempfile.NamedTemporaryFile(suffix=".jpg") as file:
            file.write(self.upload(wanted.upload))
            file.flush()
            return searcher.search(replace(query, files=(file.name,)), method)

    def count(self, where: str, index: str = DEFAULT_INDEX) -> int:
        """How many pictures a filter leaves, copies once; a slip in it is a `UserError`, and so is a missing index."""
        searcher = self._needed(index)
        rows = searcher.each_once(searcher.select(SearchQuery(where=where.strip() or None)).rows)
        return len(searcher) if rows is None else len(rows)

    def place(self, id_: str, index: str = DEFAULT_INDEX) -> str | None:
        """The place nearest to a picture's coordinates, where the index knows it."""
        searcher = self.searcher(index)
        if searcher is None:
            return None
        with searcher.reading_table():
            known = searcher.table.find(id_)
        if known is None or known.row >= len(searcher.columns):
            return None
        return searcher.columns.texts("place")[known.row]

    def left_by(self, where: str, index: str = DEFAULT_INDEX) -> list[str]:
        """The ids of all pictures that a filter alone leaves."""
        searcher = self._needed(index)
        rows = searcher.select(SearchQuery(where=where.strip() or None)).rows
        with searcher.reading_table():
            wanted = searcher.table.rows() if rows is None else rows
        ids = searcher.columns.texts("id")
        return [id_ for row in wanted.tolist() if row < len(searcher.columns) and (id_ := ids[row]) is not None]

    def keep_upload(self, data: bytes) -> str | Failure:
        """A picture that somebody dropped, made small and kept in memory for its search; the key that names it."""
        small = shrink(data, _SIDE)
        if isinstance(small, Failure):
            return small
        key = hashlib.sha256(small).hexdigest()
        with self._lock:
            self._uploads[key] = small
            self._uploads.move_to_end(key)
            while len(self._uploads) > _UPLOADS:
                self._uploads.popitem(last=False)
        return key

    def upload(self, key: str) -> bytes:
        """An upload that is still held."""
        with self._lock:
            if key not in self._uploads:
                raise UserError("That picture is no longer available.", "drop it again")
            return self._uploads[key]

    def has_upload(self, key: str) -> bool:
        return key in self._uploads
