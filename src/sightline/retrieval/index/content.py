"""What an index is to hold: the pictures of a workspace, or any others."""

from __future__ import annotations

import hashlib
import logging
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from sightline.corpus.names import file_uri, path_of
from sightline.corpus.schema import FILE_NAME
from sightline.corpus.store import LIVE_PICTURES, CorpusRoot, CorpusStore
from sightline.corpus.view import StoredGroups, StoredPictures
from sightline.errors import UserError
from sightline.io.files import write_whole
from sightline.retrieval.index.manifest import WORKSPACE
from sightline.types import Annotation, Group, Picture

_log = logging.getLogger(__name__)
_STATE_FILE = "corpus.state"
_SETTLED = 2_000_000_000
"""Nanoseconds."""
_STATE = f"SELECT p.*, f.path, f.root {LIVE_PICTURES} ORDER BY p.id"
_GROUPS = """SELECT group_id, kind, hidden, picture FROM members JOIN groups ON id = group_id
    ORDER BY group_id, position"""


@dataclass(frozen=True, slots=True)
class Content:
    """Pictures (each id counts once), their groups and what was said of them; all are read once, as streams.

    `annotations` None keeps those that the index has. `base` is where relative addresses of pictures begin. `state`
    changes with whatever changes the index; None: it is found out by reading. `origin` is a file that changes with
    the pictures, where there is one, such as the header of a benchmark.
    """

    pictures: Iterable[Picture]
    groups: Iterable[Group] = ()
    annotations: Iterable[Annotation] | None = None
    base: Path | None = None
    source: str = "pictures"
    state: str | None = None
    origin: Path | None = None


def workspace_content(store: CorpusStore, annotations: Iterable[Annotation] | None = None) -> Content:
    """All pictures that a workspace knows, less those of folders that are not there (deleted, or not plugged in).

    The corpus keeps the latter, and the workspace their vectors: with their folder they come back, for nothing.
    """
    absent = absent_roots(store)
    for root in absent:
        _log.warning("%s is not there, or empty: its pictures are not in the index until it is back", root.path)
    pictures = _elsewhere(StoredPictures(store).values(), absent) if absent else StoredPictures(store).values()
    return Content(pictures, StoredGroups(store), annotations, source=WORKSPACE, state=corpus_state(store))


def corpus_state(store: CorpusStore) -> str:
    """A hash of all that an index takes from a corpus: seconds for 100,000 pictures, so it is kept until it changes."""
    kept, stamp = store.workspace / _STATE_FILE, _stamp(store)
    with suppress(OSError, ValueError):
        known, state = kept.read_text().rsplit(" ", 1)
        if known == stamp:
            return state
    state = _hashed(store)
    # What was written a moment ago may be written again without a change of the date.
    if _stamp(store) == stamp and time.time_ns() - _changed(store) > _SETTLED:
        with suppress(OSError, UserError):  # A workspace that can't be written is read all the same.
            write_whole(kept, f"{stamp} {state}".encode())
    return state


def _stamp(store: CorpusStore) -> str:
    """What changes when the database does, or when a folder comes or goes."""
    absent = [root.id for root in absent_roots(store)]
    return repr([(found.st_size, found.st_mtime_ns) for found in _database_files(store)] + absent)


def _changed(store: CorpusStore) -> int:
    return max(found.st_mtime_ns for found in _database_files(store))


def _database_files(store: CorpusStore) -> list[os.stat_result]:
    """The database, and what was written beside it and is not in it yet."""
    files = (store.workspace / f"{FILE_NAME}{end}" for end in ("", "-wal"))
    return [found for path in files if path.exists() and (found := path.stat()).st_size]


def _hashed(store: CorpusStore) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for query in (_STATE, _GROUPS):
        for row in store.database.execute(query):
            digest.update(repr(row).encode("utf-8", "surrogatepass"))
    for root in absent_roots(store):
        digest.update(f"without {root.id}".encode())
    return digest.hexdigest()


def absent_roots(store: CorpusStore) -> list[CorpusRoot]:
    """Folders that were scanned and now are not there, or have nothing in them, as the place of a drive has then."""
    return [root for root in store.roots() if not _has_something(root.path)]


def _has_something(folder: Path) -> bool:
    try:
        with os.scandir(folder) as entries:
            return next(entries, None) is not None
    except OSError:
        return False


def _elsewhere(pictures: Iterable[Picture], roots: Sequence[CorpusRoot]) -> Iterator[Picture]:
    below = tuple(folder_address(root.path) for root in roots)
    return (picture for picture in pictures if not picture.uri.startswith(below))


def require_corpus(workspace: Path) -> None:
    """Refuse a workspace in which nothing was scanned."""
    if not (workspace / FILE_NAME).is_file():
        raise UserError(f"{workspace} holds no corpus to search.", "name a folder of pictures: --in DIR")


def folder_address(folder: Path) -> str:
    """How the addresses of all pictures below a folder begin."""
    path = os.path.normpath(folder.expanduser().absolute())
    return file_uri(os.fsencode(path)).rstrip("/") + "/"


def absolute(picture: Picture, base: Path | None) -> Picture:
    """The picture with an address that holds wherever the index is opened from."""
    if not _is_local(picture.uri) or picture.uri.startswith("file://"):
        return picture
    path = Path(picture.uri) if base is None else base / picture.uri
    return replace(picture, uri=file_uri(os.fsencode(path.absolute())))


def local_path(uri: str) -> bytes | None:
    """The file behind an address; None where it is not one of this machine."""
    return os.fsencode(path_of(uri)) if _is_local(uri) else None


def _is_local(uri: str) -> bool:
    return uri.startswith("file://") or ("://" not in uri and not uri.startswith("data:"))
