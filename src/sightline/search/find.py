"""Words → pictures of a workspace; what is new is read and embedded first."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sightline.config import Config
from sightline.corpus.scan import checked_places, scan
from sightline.corpus.schema import FILE_NAME
from sightline.corpus.store import LIVING, Root, Store
from sightline.corpus.view import StoredPictures
from sightline.corpus.walk import Found
from sightline.engine import progress
from sightline.errors import SightlineError, UserError
from sightline.io import PathLike
from sightline.models.embedders.listing import Listing
from sightline.models.embedders.session import Session
from sightline.models.embedders.stream import embed_files, embed_new_texts
from sightline.models.protocols import Embedder, Vectors
from sightline.search.exact import nearest
from sightline.search.results import Hit, Results

_PAGE = 8192
"""Vectors that are compared at a time."""


def search(
    query: str,
    folder: PathLike | None = None,
    *,
    k: int = 10,
    embedder: str | Embedder | None = None,
    workspace: PathLike = ".sightline",
    config: Config | None = None,
    limit: int | None = None,
    local_only: bool = False,
) -> Results:
    """The pictures nearest to a text: of the folder, which is scanned first, or of all that the workspace knows."""
    started = time.monotonic()
    config = config or Config()
    query = query.strip()
    if not query:
        raise UserError("the query is empty.", 'say what to look for: sightline search "a dog on the beach"')
    if k < 1:
        raise UserError(f"-k {k} asks for no picture.", "give a number from 1 on")
    place = _checked_workspace(folder, Path(workspace))
    # The embedder first: what is missing for it is said before an hour of reading pictures, not after.
    with Session(embedder, place, config=config, local_only=local_only) as session, Store(place) as store:
        session.tell_who_sees("pictures and queries")
        if folder is not None:
            scan(folder, workspace=place, config=config, limit=limit)
        pictures = _Pictures(store, None if folder is None else Path(folder))
        embedded, left_out = _embed_new(pictures, session, config)
        vector, was_cut = _query_vector(query, session)
        ids, keys = pictures.with_vectors(session)
        found = nearest(_pages(keys, session), vector, k)
        known = StoredPictures(store)
        hits = zip(found.positions, found.scores, strict=True)
        return Results(
            query=query,
            hits=tuple(Hit(known[ids[at]], float(score)) for at, score in hits),
            embedder=session.embedder.name,
            revision=session.embedder.revision,
            searched=len(ids),
            embedded=embedded,
            left_out=dict(left_out.most_common()),
            query_was_cut=was_cut,
            seconds=time.monotonic() - started,
        )


def _checked_workspace(folder: PathLike | None, workspace: Path) -> Path:
    if folder is not None:
        root, place = checked_places(Path(folder), workspace)
        if not root.is_dir():
            raise UserError(f"there is no folder {root}.", "check the path after --in")
        return place
    place = workspace.expanduser().absolute()
    if not (place / FILE_NAME).is_file():
        raise UserError(f"{place} holds no corpus to search.", "name a folder of pictures: --in DIR")
    return place


class _Pictures:
    """The pictures to search: all of the corpus, or those below a folder."""

    def __init__(self, store: Store, folder: Path | None) -> None:
        self._store = store
        self._where = ""
        self._values: tuple[int | bytes, ...] = ()
        if folder is not None:
            root, part = _place(store, folder)
            self._where = " AND f.root = ? AND (? = x'' OR f.path BETWEEN ? AND ?)"
            self._values = (root.id, part, part + b"/", part + b"0")  # "0" is the byte after "/"

    def without_vectors(self, root: Root, session: Session) -> list[Found]:
        """Files of a root that are at hand, and whose content has no vector yet."""
        rows = self._store.database.execute(
            f"""SELECT f.path, f.size, f.mtime_ns, p.sha256 {LIVING}
            AND f.state = 'present' AND f.root = {root.id}{self._where} ORDER BY f.path""",
            self._values,
        ).fetchall()
        missing = session.cache.missing([row[3] for row in rows], session.embedder)
        return [Found(path, size, changed, b"") for path, size, changed, _ in (rows[at] for at in missing)]

    def with_vectors(self, session: Session) -> tuple[list[str], list[bytes]]:
        """Ids, in their order, and hashes of all that can be compared."""
        rows = self._store.database.execute(
            f"SELECT p.id, p.sha256 {LIVING}{self._where} ORDER BY p.id", self._values
        ).fetchall()
        missing = set(session.cache.missing([row[1] for row in rows], session.embedder))
        there = [row for at, row in enumerate(rows) if at not in missing]
        return [row[0] for row in there], [row[1] for row in there]

    @property
    def roots(self) -> list[Root]:
        return self._store.roots()


def _place(store: Store, folder: Path) -> tuple[Root, bytes]:
    """The root that a scanned folder belongs to, and its path below that."""
    path = Path(os.path.normpath(folder.expanduser().absolute()))
    root = next(root for root in store.roots() if path == root.path or root.path in path.parents)
    return root, b"" if path == root.path else os.fsencode(path.relative_to(root.path))


def _embed_new(pictures: _Pictures, session: Session, config: Config) -> tuple[int, Counter[str]]:
    """Make the vectors that are missing; how many, and why some could not be made."""
    made, left_out = 0, Counter[str]()
    for root in pictures.roots:
        files = pictures.without_vectors(root, session)
        if not files:
            continue
        listing = Listing(session.cache, root.path, files)
        made += embed_files(
            listing,
            session.embedder,
            session.cache,
            max_pixels=config.scan.max_pixels,
            workers=config.scan.workers,
        )
        left_out.update(item.reason for item in listing.left_out())
    return made, left_out


def _query_vector(query: str, session: Session) -> tuple[NDArray[np.float32], bool]:
    embedder, cache = session.embedder, session.cache
    with progress("query", None) as advance:
        keys, made = embed_new_texts([query], embedder, cache, advance)
    failure = made.get(keys[0])
    if failure is not None:
        raise SightlineError(f"{embedder.name} gave no vector for the query: {failure.message}.")
    return cache.get_many(keys, embedder).vectors[0], bool(cache.count_cut(keys, embedder))


def _pages(keys: list[bytes], session: Session) -> Iterator[Vectors]:
    for start in range(0, len(keys), _PAGE):
        yield session.cache.get_many(keys[start : start + _PAGE], session.embedder).vectors
