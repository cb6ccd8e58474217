"""Where a scan finds pictures, and what programs for photographs say of them.

A source is a folder, which files in it are pictures, and records: albums, people, stars and keywords by file.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol, TypeAlias

import orjson

from sightline.corpus import apple_photos, immich, takeout
from sightline.corpus.names import picture_id
from sightline.corpus.store import LIVE_PICTURES, CorpusStore
from sightline.corpus.walk import FoundFile
from sightline.io.files import PathLike, as_path
from sightline.types import Json

Record: TypeAlias = tuple[str, Mapping[str, Json]]
"""The absolute path of a file, and what is said of its picture: what a source says nothing of is None or missing."""


class FileList(Protocol):
    """The files of a source, once; afterwards it knows what was skipped."""

    warnings: Counter[str]
    unreachable: list[bytes]

    def __iter__(self) -> Iterator[FoundFile]: ...


@dataclass(frozen=True, slots=True)
class Source:
    """What a scan reads: the `files` of a folder, all of them where they are not given, and the records about them.

    A folder of its `own` is a root by itself, wherever it lies. `unread` counts what could not be had, by reason.
    """

    folder: Path
    files: FileList | None = None
    records: Iterable[Record] = ()
    own: bool = False
    unread: Mapping[str, int] = field(default_factory=dict)


def open_source(given: PathLike, workspace: Path, *, local_only: bool = False) -> Source:
    """The source that was named: a folder, an Apple Photos library, the zips of a Takeout, or an Immich server."""
    if isinstance(given, str) and given.startswith(immich.PREFIX):
        fetched = immich.fetch(given.removeprefix(immich.PREFIX), workspace, local_only=local_only)
        return Source(fetched.folder, records=fetched.records, own=True, unread=fetched.unread)
    path = as_path(given, "a folder of pictures").absolute()
    if path.suffix.lower() == ".zip" and path.is_file():
        unpacked = takeout.unpack(path, workspace)
        return Source(unpacked.folder, own=True, unread=unpacked.unread)
    if apple_photos.is_library(path):
        library = apple_photos.read_library(path)
        return Source(path, library, library.records, own=True)
    return Source(path)


class Merged(NamedTuple):
    """How many pictures were told something new, and how many files of scanned folders no picture is known for."""

    changed: int
    unmatched: int


def merge_records(store: CorpusStore, records: Iterable[Record]) -> Merged:
    """Merge records into the pictures of their files. Keywords are added to those of the file."""
    known = _known(store)
    below = tuple(f"{picture_id(os.fsencode(root.path))}/" for root in store.roots())
    changed = unmatched = 0
    with store.transaction():
        for name, said in records:
            full = picture_id(os.fsencode(name))
            unmatched += full not in known and full.startswith(below)
            for id_, own, given in known.get(full, ()):
                both = dict.fromkeys([*_list(own.get("keywords")), *_list(said.get("keywords"))])
                values = {**said, "keywords": list[Json](both) or None} if "keywords" in said else said
                if any(given.get(key) != value for key, value in values.items()):
                    store.give(id_, values)
                    changed += 1
    return Merged(changed, unmatched)


_Known: TypeAlias = tuple[str, dict[str, Json], dict[str, Json]]


def _known(store: CorpusStore) -> dict[str, list[_Known]]:
    """By path: ids of pictures, what their files say, what was given. A program may name the RAW of a pair, a part."""
    roots = {root.id: os.fsencode(root.path) for root in store.roots()}
    found: dict[str, list[_Known]] = {}
    query = f"SELECT p.id, f.root, f.path, p.extra, p.given {LIVE_PICTURES}"
    for id_, root, path, extra, given in store.database.execute(query):
        picture = id_, orjson.loads(extra), orjson.loads(given)
        is_frame = "film_time" in picture[1]  # What is said of a film is said of all its pictures.
        full = picture_id(roots[root] + b"/" + (path.rpartition(b"/")[0] if is_frame else path))
        found.setdefault(full, []).append(picture)
        for part in _list(picture[1].get("parts")):
            found.setdefault(f"{full.rpartition('/')[0]}/{picture_id(os.fsencode(str(part)))}", []).append(picture)
    return found


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []
