"""A scanned workspace as a `Corpus`, read one picture at a time."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from shlex import quote
from typing import overload

import orjson

from sightline.corpus.film import frames_folder
from sightline.corpus.names import file_uri
from sightline.corpus.schema import FILE_NAME, SEALED_ROWS, DamagedCorpusError, is_sound
from sightline.corpus.store import CorpusStore
from sightline.errors import UserError
from sightline.io.workspace import workspace_option
from sightline.types import Corpus, Group, Json, Picture, Rights

_SELECT = f"{SEALED_ROWS} WHERE f.state IS NOT 'deleted'"


def open_corpus(workspace: str | os.PathLike[str]) -> Corpus:
    """The corpus of a workspace that has been scanned; pictures are fetched from disk as they are asked for."""
    path = Path(workspace).expanduser()
    if not (path / FILE_NAME).is_file():
        fix = f"make one with: sightline scan DIR{workspace_option(path)}"
        if path.is_dir() and any(path.iterdir()):  # Pictures, perhaps, beside which no workspace is made.
            fix = f"if it holds pictures: sightline scan {quote(str(path))} --workspace WS, and name WS instead"
        raise UserError(f"{path} holds no corpus.", fix)
    store = CorpusStore(path)
    return Corpus(name=path.resolve().name, pictures=StoredPictures(store), groups=StoredGroups(store))


class StoredPictures(Mapping[str, Picture]):
    """Pictures by id, or by an id that they had before they were moved; in order of id."""

    def __init__(self, store: CorpusStore) -> None:
        self._store = store

    def __getitem__(self, id_: str) -> Picture:
        cursor = self._store.database.cursor()
        cursor.row_factory = sqlite3.Row
        for query in (
            f"{_SELECT} AND p.id = ?",
            f"{_SELECT} AND p.id = (SELECT id FROM aliases WHERE alias = ?)",
        ):
            row = cursor.execute(query, (id_,)).fetchone()
            if row is not None:
                return _picture(row, self._store.workspace)
        raise KeyError(id_)

    def __iter__(self) -> Iterator[str]:
        return self._store.ids()

    def __len__(self) -> int:
        return self._store.count_pictures()

    def values(self) -> StoredValues:  # type: ignore[override]  # A view that streams, instead of one query a picture.
        return StoredValues(self._store)


class StoredValues:
    """Every picture, in order of id, streamed."""

    def __init__(self, store: CorpusStore) -> None:
        self._store = store

    def __iter__(self) -> Iterator[Picture]:
        cursor = self._store.database.cursor()
        cursor.row_factory = sqlite3.Row
        rows = cursor.execute(f"{_SELECT} ORDER BY p.id")
        return (_picture(row, self._store.workspace) for row in rows)


class StoredGroups(Sequence[Group]):
    """Groups, in order of id."""

    def __init__(self, store: CorpusStore) -> None:
        self._store = store

    def __len__(self) -> int:
        count: int = self._store.database.execute("SELECT count(*) FROM groups").fetchone()[0]
        return count

    def __iter__(self) -> Iterator[Group]:
        rows = self._store.database.execute("SELECT id, kind, hidden FROM groups ORDER BY id")
        return (self._group(*row) for row in rows)

    @overload
    def __getitem__(self, at: int) -> Group: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Group]: ...
    def __getitem__(self, at: int | slice) -> Group | Sequence[Group]:
        return list(self)[at]

    def of_picture(self, picture: str) -> list[str]:
        """The ids of the groups that a picture belongs to."""
        rows = self._store.database.execute("SELECT group_id FROM members WHERE picture = ? ORDER BY 1", (picture,))
        return [row[0] for row in rows]

    def _group(self, id_: str, kind: str, hidden: int) -> Group:
        rows = self._store.database.execute("SELECT picture FROM members WHERE group_id = ? ORDER BY position", (id_,))
        return Group(id_, kind, tuple(row[0] for row in rows), bool(hidden))  # type: ignore[arg-type]


def _picture(row: sqlite3.Row, workspace: Path) -> Picture:
    if not is_sound(tuple(row)):
        raise DamagedCorpusError(
            f"The corpus is damaged: what it holds of {row['id']} is not what was written.",
            "Scan its folder again: sightline scan FOLDER reads the picture again.",
        )
    taken_at = row["taken_at"]
    return Picture(
        id=row["id"],
        uri=file_uri(_address(row, workspace)),
        sha256=row["sha256"].hex(),
        phash=row["phash"] % (1 << 64),
        width=row["width"],
        height=row["height"],
        mime=row["mime"],
        taken_at=None if taken_at is None else datetime.fromisoformat(taken_at),
        lat=row["lat"],
        lon=row["lon"],
        altitude=row["altitude"],
        address=row["address"],
        device=row["device"],
        rights=Rights(row["license"], row["doi"], row["source"], row["attribution"]),
        extra=_extra(row),
    )


def _address(row: sqlite3.Row, workspace: Path) -> bytes:
    """Where the picture's file is: of a frame in the workspace."""
    path: bytes = row["root_path"] + b"/" + row["file_path"]
    return os.fsencode(frames_folder(workspace, path)) if "film_time" in orjson.loads(row["extra"]) else path


def _extra(row: sqlite3.Row) -> dict[str, Json]:
    extra: dict[str, Json] = {} if row["owner"] is None else {"owner": row["owner"]}
    return {**extra, **orjson.loads(row["extra"]), **orjson.loads(row["given"])}
