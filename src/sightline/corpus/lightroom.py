"""Lightroom Classic catalogues (`.lrcat`, SQLite): stars, flags, labels, keywords, people, collections of each file.

A catalogue is only read. What it says of a picture becomes metadata that filters know: `rating >= 4`, `pick:picked`,
`label:red`, `collection:"Best of 2021"`, and keywords, beside those of the file, as tags.
"""

from __future__ import annotations

import os
import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

import orjson

from sightline.corpus.names import picture_id
from sightline.corpus.store import LIVE_PICTURES, CorpusStore
from sightline.errors import UserError
from sightline.types import Json

ENDING = ".lrcat"
_FILES = """SELECT b.id_local, r.absolutePath || f.pathFromRoot || b.baseName || '.' || b.extension,
    i.rating, i.pick, lower(i.colorLabels)
    FROM Adobe_images AS i JOIN AgLibraryFile AS b ON b.id_local = i.rootFile
    JOIN AgLibraryFolder AS f ON f.id_local = b.folder JOIN AgLibraryRootFolder AS r ON r.id_local = f.rootFolder
    WHERE i.masterImage IS NULL ORDER BY 2"""
_KEYWORDS = """SELECT i.rootFile, k.name, {kind} FROM AgLibraryKeywordImage AS m
    JOIN Adobe_images AS i ON i.id_local = m.image JOIN AgLibraryKeyword AS k ON k.id_local = m.tag
    WHERE k.name IS NOT NULL ORDER BY k.name"""
_COLLECTIONS = """SELECT i.rootFile, c.name, 'collection' FROM AgLibraryCollectionImage AS m
    JOIN Adobe_images AS i ON i.id_local = m.image JOIN AgLibraryCollection AS c ON c.id_local = m.collection
    WHERE c.creationId = 'com.adobe.ag.library.collection' AND CAST(coalesce(c.systemOnly, 0) AS REAL) = 0
    ORDER BY c.name"""
_PICKS = {1: "picked", -1: "rejected"}


def read_catalogue(path: Path) -> Iterator[tuple[str, dict[str, Json]]]:
    """Each file's path and what the catalogue says of it; virtual copies add their keywords and collections to it."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
            labels = _labels(database)
            for file, name, rating, pick, color in database.execute(_FILES).fetchall():
                said: dict[str, Json] = {name: list[Json](values) for name, values in labels.get(file, {}).items()}
                said |= {"rating": rating and int(rating), "pick": _PICKS.get(int(pick or 0)), "label": color or None}
                yield name, {key: value for key, value in said.items() if value is not None}
    except sqlite3.Error as error:
        raise UserError(
            f"{path} can't be read as a Lightroom Classic catalogue: {error}.",
            "close Lightroom and try again, or give a copy of the catalogue",
        ) from error


def _labels(database: sqlite3.Connection) -> Mapping[int, Mapping[str, list[str]]]:
    """By file: its keywords, people and collections, each name once."""
    columns = {row[1] for row in database.execute("PRAGMA table_info(AgLibraryKeyword)")}
    person = "iif(k.keywordType = 'person', 'people', 'keywords')" if "keywordType" in columns else "'keywords'"
    found: dict[int, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for query in (_KEYWORDS.format(kind=person), _COLLECTIONS):
        for file, name, kind in database.execute(query):
            if name not in found[file][kind]:
                found[file][kind].append(name)
    return found


def merge_catalogue(store: CorpusStore, path: Path) -> int:
    """Merge a catalogue into the pictures that it names; how many files of the workspace's folders it names in vain."""
    known = _known(store)
    below = tuple(f"{picture_id(os.fsencode(root.path))}/" for root in store.roots())
    unmatched = 0
    with store.transaction():
        for name, said in read_catalogue(path):
            full = picture_id(os.fsencode(name))
            id_, keywords = known.get(full, (None, []))
            if id_ is None:
                unmatched += full.startswith(below)
                continue
            both = dict.fromkeys([*keywords, *_list(said.get("keywords"))])
            store.give(id_, said | ({"keywords": list[Json](both)} if both else {}))
    return unmatched


def _known(store: CorpusStore) -> dict[str, tuple[str, list[Json]]]:
    """By path: a picture's id, and the keywords of its file. Lightroom names the RAW of a pair, so parts count too."""
    roots = {root.id: os.fsencode(root.path) for root in store.roots()}
    found: dict[str, tuple[str, list[Json]]] = {}
    for id_, root, path, extra in store.database.execute(f"SELECT p.id, f.root, f.path, p.extra {LIVE_PICTURES}"):
        own = orjson.loads(extra)
        full = picture_id(roots[root] + b"/" + path)
        found[full] = id_, _list(own.get("keywords"))
        for part in _list(own.get("parts")):
            found.setdefault(f"{full.rpartition('/')[0]}/{picture_id(os.fsencode(str(part)))}", found[full])
    return found


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []
