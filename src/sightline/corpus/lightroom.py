"""Lightroom Classic catalogues (`.lrcat`, SQLite): stars, flags, labels, keywords, people, collections of each file.

A catalogue is only read. What it says of a picture becomes metadata that filters know: `rating >= 4`, `pick:picked`,
`label:red`, `album:"Best of 2021"`, and keywords, beside those of the file, as tags.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

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
_COLLECTIONS = """SELECT i.rootFile, c.name, 'album' FROM AgLibraryCollectionImage AS m
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
                said["rating"] = None if rating is None else int(rating)
                said |= {"pick": _PICKS.get(int(pick or 0)), "label": color or None}
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
