"""What a workspace knows of its files and pictures, and how a scan changes it."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, TypeAlias

import orjson

from sightline.corpus.file_reader import BEFORE_RAW, FILM, VERSION, FilmReading, PictureReading, ReadJob, RefusedFile
from sightline.corpus.film import FRAME, FilmLimits, frames_folder
from sightline.corpus.metadata import MetadataFacts
from sightline.corpus.names import picture_id
from sightline.corpus.schema import SEALED_ROWS, connect, is_sound, row_checksum
from sightline.corpus.walk import FoundFile, sidecar_names
from sightline.io.sqlite import DATABASE_FAULTS, Database

LIVE_PICTURES = "FROM pictures AS p JOIN files AS f ON f.id = p.file WHERE f.state <> 'deleted'"
"""Every query over the corpus: pictures whose file is there, or on a drive that is not plugged in."""
Outcome: TypeAlias = Literal["new", "changed", "moved"]
_PAGE = 512
_FILE_COLUMNS = "root, path, size, mtime_ns, sidecars, reader, state, reason, detail"


@dataclass(frozen=True, slots=True)
class CorpusRoot:
    """A folder of pictures that the workspace knows."""

    id: int
    path: Path
    name: str


@dataclass(frozen=True, slots=True)
class MissingFile:
    """A file that was there at the last scan and is not now."""

    file: int
    path: bytes


class CorpusStore(Database):
    """The workspace's database; each method that writes is one transaction, or is used inside `transaction()`.

    With `reading` a workspace that can't be written is read all the same.
    """

    def __init__(self, workspace: Path, *, reading: bool = False) -> None:
        self.workspace = workspace
        self.database = connect(workspace, reading=reading)

    # -- roots

    def roots(self) -> list[CorpusRoot]:
        rows = self.database.execute("SELECT id, path, name FROM roots ORDER BY id")
        return [CorpusRoot(id_, Path(os.fsdecode(path)), name) for id_, path, name in rows]

    def add_root(self, path: Path) -> CorpusRoot:
        with self.transaction():
            self.database.execute(
                "INSERT OR IGNORE INTO roots (path, name) VALUES (?, ?)",
                (os.fsencode(path), picture_id(os.fsencode(path.name))),
            )
        return next(root for root in self.roots() if root.path == path)

    def mark_scanned(self, root: CorpusRoot) -> None:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        self.database.execute("UPDATE roots SET scanned_at = ? WHERE id = ?", (now, root.id))

    def unfinished_roots(self) -> list[CorpusRoot]:
        """Folders whose first scan did not come to its end yet."""
        rows = self.database.execute("SELECT id FROM roots WHERE scanned_at IS NULL").fetchall()
        return [root for root in self.roots() if (root.id,) in rows]

    def forget_empty(self, root: CorpusRoot) -> bool:
        """Forget a folder in which no scan ever met a file; whether it was one."""
        with self.transaction():
            query = "DELETE FROM roots WHERE id = ? AND NOT EXISTS (SELECT 1 FROM files WHERE root = ?)"
            return self.database.execute(query, (root.id, root.id)).rowcount > 0

    # -- what changed since the last scan

    def remember_seen(self, files: Iterable[FoundFile]) -> int:
        """Lay down what a walk met, on disk, so that memory does not grow with the folder; how many they were."""
        self.database.execute("DROP TABLE IF EXISTS temp.seen")
        self.database.execute(
            """CREATE TEMP TABLE seen
            (path BLOB PRIMARY KEY, size INTEGER, mtime_ns INTEGER, sidecars BLOB) WITHOUT ROWID"""
        )
        with self.transaction():
            self.database.executemany(
                "INSERT OR REPLACE INTO seen VALUES (?, ?, ?, ?)",
                ((found.path, found.size, found.mtime_ns, found.sidecars) for found in files),
            )
        count: int = self.database.execute("SELECT count(*) FROM seen").fetchone()[0]
        return count

    def plan_reading(self, root: CorpusRoot, readers: tuple[str, ...]) -> int:
        """Choose what of the seen must be read: new, changed, back again, or refused for a cause that is gone."""
        marks = ", ".join("?" * len(readers))
        self.database.execute("DROP TABLE IF EXISTS temp.todo")
        self.database.execute(
            f"""CREATE TEMP TABLE todo AS
            SELECT seen.path, seen.size, seen.mtime_ns, seen.sidecars,
                CASE WHEN f.size = seen.size AND f.sidecars = seen.sidecars AND f.reader IN ({marks})
                     THEN p.sha256 END AS known
            FROM seen LEFT JOIN files AS f ON f.root = ? AND f.path = seen.path
                LEFT JOIN pictures AS p ON p.file = f.id
            WHERE f.id IS NULL OR f.state <> 'present' OR f.size <> seen.size OR f.mtime_ns <> seen.mtime_ns
                OR f.sidecars <> seen.sidecars
                OR NOT (f.reader IN ({marks}) OR (f.reader = ? AND coalesce(p.mime, 'image/tiff') <> 'image/tiff'))
            ORDER BY seen.path""",
            (*readers, root.id, *readers, BEFORE_RAW),
        )
        count: int = self.database.execute("SELECT count(*) FROM todo").fetchone()[0]
        return count

    def jobs(self, root: CorpusRoot, max_pixels: int, film: FilmLimits) -> Iterator[ReadJob]:
        """What `plan_reading` chose, page by page (writing goes on meanwhile)."""
        base = os.fsencode(root.path)
        last = 0
        while True:
            rows = self.database.execute(
                "SELECT rowid, path, sidecars, known FROM todo WHERE rowid > ? ORDER BY rowid LIMIT ?",
                (last, _PAGE),
            ).fetchall()
            if not rows:
                return
            for last, path, sidecars, known in rows:
                full = os.path.join(base, path)
                beside = tuple(os.path.join(os.path.dirname(full), name) for name in sidecar_names(sidecars))
                yield ReadJob(last, full, beside, max_pixels, known, film)

    def gone(self, root: CorpusRoot, part: bytes) -> list[MissingFile]:
        """Files of earlier scans, in that part of the root, that this walk did not meet."""
        rows = self.database.execute(
            """SELECT id, path FROM files
            WHERE root = ? AND state <> 'deleted' AND reader <> ? AND (? = x'' OR path BETWEEN ? AND ?)
            AND NOT EXISTS (SELECT 1 FROM seen WHERE seen.path = files.path)""",
            (root.id, FRAME, part, part + b"/", part + b"0"),  # "0" is the byte after "/"
        )
        return [MissingFile(*row) for row in rows]

    def set_state(self, root: CorpusRoot, files: Sequence[int], state: str) -> None:
        """Set the state of files of a root; the frames of a film share its state, and go with it."""
        with self.transaction():
            self.database.executemany("UPDATE files SET state = ? WHERE id = ?", ((state, file) for file in files))
            for file in files:
                query = "SELECT path FROM files WHERE id = ? AND reader LIKE ?"
                for (path,) in self.database.execute(query, (file, f"{FILM} %")).fetchall():
                    self.database.execute(
                        "UPDATE files SET state = ? WHERE id IN (SELECT value FROM json_each(?))",
                        (state, orjson.dumps([frame for frame, _ in self._frames(root, path)]).decode()),
                    )
                    if state == "deleted":
                        shutil.rmtree(self._frames_folder(root, path), ignore_errors=True)

    def _frames(self, root: CorpusRoot, film: bytes) -> list[tuple[int, bytes]]:
        """The files that are frames of a film, with their paths."""
        query = "SELECT id, path FROM files WHERE root = ? AND reader = ? AND path BETWEEN ? AND ?"
        return self.database.execute(query, (root.id, FRAME, film + b"/", film + b"0")).fetchall()

    def _frames_folder(self, root: CorpusRoot, film: bytes) -> Path:
        return frames_folder(self.workspace, os.path.join(os.fsencode(root.path), film))

    # -- what was read; inside a transaction

    def keep_same(self, root: CorpusRoot, job: ReadJob) -> None:
        """Only the date changed, or the file is back."""
        self._put(root, self._planned(job), None)

    def keep_refused(self, root: CorpusRoot, job: ReadJob, refused: RefusedFile) -> None:
        file = self._put(root, self._planned(job), refused.reader, refused.reason, refused.detail)
        self.database.execute("DELETE FROM pictures WHERE file = ?", (file,))
        self._forget_frames(root, job, keep=frozenset())

    def keep_film(
        self, root: CorpusRoot, job: ReadJob, reading: FilmReading, derive: Callable[[str], dict[str, Any]]
    ) -> Outcome:
        """Store the pictures of a film; those that it had before and no longer has are forgotten."""
        path, size, mtime_ns, _ = planned = self._planned(job)
        film = self._put(root, planned, reading.reader)
        self.database.execute("DELETE FROM pictures WHERE file = ?", (film,))
        frames = {path + b"/" + os.fsencode(name): frame for name, frame in reading.frames}
        self._forget_frames(root, job, keep=frames.keys())
        outcomes = []
        for name, frame in frames.items():
            file = self._put(root, (name, size, mtime_ns, b""), FRAME)
            outcomes.append(self._put_picture(root, file, frame, derive))
        return outcomes[0]

    def _forget_frames(self, root: CorpusRoot, job: ReadJob, keep: Collection[bytes]) -> None:
        for file, path in self._frames(root, self._planned(job)[0]):
            if path not in keep:
                self.database.execute("DELETE FROM pictures WHERE file = ?", (file,))
                self.database.execute("DELETE FROM files WHERE id = ?", (file,))

    def keep_picture(
        self, root: CorpusRoot, job: ReadJob, reading: PictureReading, derive: Callable[[str], dict[str, Any]]
    ) -> Outcome:
        """Store a picture; `derive` gives the columns that follow from its id."""
        return self._put_picture(root, self._put(root, self._planned(job), VERSION), reading, derive)

    def _put_picture(
        self, root: CorpusRoot, file: int, reading: PictureReading, derive: Callable[[str], dict[str, Any]]
    ) -> Outcome:
        row = self.database.execute("SELECT id, given FROM pictures WHERE file = ?", (file,)).fetchone()
        outcome: Outcome = "changed"
        if row is None:
            id_ = self._free_id(root, file)
            given = self._take_over(root, reading.sha256, id_, file)
            outcome = "new" if given is None else "moved"
            row = (id_, given or "{}")
        id_, given = row
        read = _columns(reading)
        values = {"id": id_, "file": file, **read, **_with_embedded(derive(id_), read["extra"]), "given": given}
        values |= _overlay(orjson.loads(given))
        names = ", ".join(values)
        marks = ", ".join(f":{name}" for name in values)
        updates = ", ".join(f"{name} = excluded.{name}" for name in values if name != "id")
        self.database.execute(
            f"INSERT INTO pictures ({names}) VALUES ({marks}) ON CONFLICT (id) DO UPDATE SET {updates}",
            values,
        )
        self._seal(id_)
        return outcome

    def _planned(self, job: ReadJob) -> tuple[bytes, int, int, bytes]:
        """Path, size, date and sidecars of a file from the plan."""
        query = "SELECT path, size, mtime_ns, sidecars FROM todo WHERE rowid = ?"
        planned: tuple[bytes, int, int, bytes] = self.database.execute(query, (job.key,)).fetchone()
        return planned

    def _put(
        self,
        root: CorpusRoot,
        planned: tuple[bytes, int, int, bytes],
        reader: str | None,
        reason: str | None = None,
        detail: str | None = None,
    ) -> int:
        """Insert or update the row of a file from the plan; a None reader keeps the one of the last reading."""
        file: int = self.database.execute(
            f"""INSERT INTO files ({_FILE_COLUMNS}) VALUES (?, ?, ?, ?, ?, coalesce(?, ''), 'present', ?, ?)
            ON CONFLICT (root, path) DO UPDATE SET size = excluded.size, mtime_ns = excluded.mtime_ns,
                sidecars = excluded.sidecars, reader = coalesce(?, reader), state = 'present',
                reason = excluded.reason, detail = excluded.detail
            RETURNING id""",
            (root.id, *planned, reader, reason, detail, reader),
        ).fetchone()[0]
        return file

    def _free_id(self, root: CorpusRoot, file: int) -> str:
        """The path's id, or the next free one where another root or another spelling has it already."""
        path = self.database.execute("SELECT path FROM files WHERE id = ?", (file,)).fetchone()[0]
        wanted = picture_id(path)
        taken = self.database.execute(
            "SELECT f.root FROM pictures AS p JOIN files AS f ON f.id = p.file WHERE p.id = ?", (wanted,)
        ).fetchone()
        if taken is None:
            self.database.execute("DELETE FROM aliases WHERE alias = ?", (wanted,))
            return wanted
        if taken[0] != root.id:
            wanted = f"{root.name}:{wanted}"
        number, id_ = 1, wanted
        while self.database.execute("SELECT 1 FROM pictures WHERE id = ?", (id_,)).fetchone():
            number += 1
            id_ = f"{wanted}~{number}"
        return id_

    def _take_over(self, root: CorpusRoot, sha256: bytes, id_: str, file: int) -> str | None:
        """Move a picture whose file is gone, and whose bytes have turned up here; what people gave it, or None."""
        old = self.database.execute(
            """SELECT p.id, p.given, p.file FROM pictures AS p JOIN files AS f ON f.id = p.file
            WHERE p.sha256 = ? AND f.root = ? AND f.state = 'deleted' LIMIT 1""",
            (sha256, root.id),
        ).fetchone()
        if old is None:
            return None
        old_id, given, old_file = old
        assert isinstance(given, str)
        self.database.execute("UPDATE pictures SET id = ?, file = ? WHERE id = ?", (id_, file, old_id))
        self.database.execute("DELETE FROM files WHERE id = ?", (old_file,))
        self.database.execute("UPDATE aliases SET id = ? WHERE id = ?", (id_, old_id))
        self.database.execute("INSERT OR REPLACE INTO aliases VALUES (?, ?)", (old_id, id_))
        return given

    # -- what people give beside the pictures

    def give(self, id_: str, values: Mapping[str, Any]) -> bool:
        """Merge given metadata into a picture, by id or alias (None takes it back); False without such a picture."""
        row = self.database.execute(
            """SELECT id, given FROM pictures WHERE id = ?1
            OR id = (SELECT id FROM aliases WHERE alias = ?1) ORDER BY id = ?1 DESC LIMIT 1""",
            (id_,),
        ).fetchone()
        if row is None:
            return False
        given = {name: value for name, value in (orjson.loads(row[1]) | dict(values)).items() if value is not None}
        self._update(row[0], {"given": orjson.dumps(given).decode()} | _overlay(given))
        return True

    def set_columns(self, id_: str, columns: Mapping[str, Any]) -> None:
        """Set derived columns, except those that people gave."""
        query = "SELECT given, extra FROM pictures WHERE id = ?"
        given, extra = self.database.execute(query, (id_,)).fetchone()
        self._update(id_, _with_embedded(columns, extra) | _overlay(orjson.loads(given)))

    def _update(self, id_: str, columns: Mapping[str, Any]) -> None:
        assignments = ", ".join(f"{name} = :{name}" for name in columns)
        self.database.execute(f"UPDATE pictures SET {assignments} WHERE id = :id", {**columns, "id": id_})
        self._seal(id_)

    def _seal(self, id_: str) -> None:
        """Note the checksum of a picture's row; called after every change to it."""
        row = self.database.execute(f"{SEALED_ROWS} WHERE p.id = ?", (id_,)).fetchone()
        self.database.execute("UPDATE pictures SET checksum = ? WHERE id = ?", (row_checksum(row), id_))

    def look_over(self) -> None:
        """Raise what is damaged of the pages, the indexes and the rows."""
        (said,) = self.database.execute("PRAGMA integrity_check(1)").fetchone()
        if said != "ok":
            raise sqlite3.DatabaseError(" ".join(said.split()))
        for row in self.database.execute(SEALED_ROWS):
            if not is_sound(row):
                raise sqlite3.DatabaseError(f"what it holds of {row[0]} is not what was written")

    def sound_given(self) -> dict[str, dict[str, Any]]:
        """What people gave, of all pictures whose rows are sound, as far as it can be read."""
        found: dict[str, dict[str, Any]] = {}
        with suppress(*DATABASE_FAULTS):
            at = next(at for at, name, *_ in self.database.execute("PRAGMA table_info(pictures)") if name == "given")
            for row in self.database.execute(f"{SEALED_ROWS} WHERE p.given <> '{{}}'"):
                if is_sound(row):
                    found[row[0]] = orjson.loads(row[at])
        return found

    # -- what there is

    def ids(self) -> Iterator[str]:
        """Every picture's id, in order, page by page (writing may go on meanwhile)."""
        last = ""
        while rows := self.database.execute(
            f"SELECT p.id {LIVE_PICTURES} AND p.id > ? ORDER BY p.id LIMIT ?", (last, _PAGE)
        ).fetchall():
            yield from (row[0] for row in rows)
            last = rows[-1][0]

    def first_and_last_year(self) -> tuple[int | None, int | None]:
        row = self.database.execute(
            f"SELECT min(substr(p.taken_at, 1, 4)), max(substr(p.taken_at, 1, 4)) {LIVE_PICTURES}"
        ).fetchone()
        return (None, None) if row[0] is None else (int(row[0]), int(row[1]))

    def count_pictures(self) -> int:
        count: int = self.database.execute(f"SELECT count(*) {LIVE_PICTURES}").fetchone()[0]
        return count

    def count_skipped(self, root: CorpusRoot | None = None, part: bytes = b"") -> dict[str, int]:
        """Files that gave no picture, by reason: of the workspace, or of a part of one root."""
        return dict(sorted(Counter(reason for _, reason, _ in self.skipped(root, part)).items()))

    def count_warnings(self) -> dict[str, int]:
        rows = self.database.execute(
            """SELECT w.value, count(*) FROM pictures AS p JOIN files AS f ON f.id = p.file, json_each(p.warnings) AS w
            WHERE f.state <> 'deleted' GROUP BY w.value ORDER BY w.value"""
        )
        return dict(rows.fetchall())

    def skipped(self, root: CorpusRoot | None = None, part: bytes = b"") -> Iterator[tuple[str, str, str]]:
        """(path, reason, detail) of every file that gave no picture: of the workspace, or of a part of one root."""
        id_ = None if root is None else root.id
        rows = self.database.execute(
            """SELECT path, reason, detail FROM files WHERE reason IS NOT NULL AND state <> 'deleted'
            AND (? IS NULL OR root = ?) AND (? = x'' OR path BETWEEN ? AND ?) ORDER BY path""",
            (id_, id_, part, part + b"/", part + b"0"),  # "0" is the byte after "/"
        )
        return ((picture_id(path), reason, detail) for path, reason, detail in rows)


def _columns(reading: PictureReading) -> dict[str, Any]:
    """The columns of `pictures` that come from the file itself."""
    facts = reading.facts
    return {
        "sha256": reading.sha256,
        "phash": reading.phash - (1 << 64) if reading.phash >> 63 else reading.phash,
        "colours": reading.colours,
        "width": reading.width,
        "height": reading.height,
        "mime": reading.mime,
        **_time_columns(facts.taken_at),
        "lat": facts.lat,
        "lon": facts.lon,
        "altitude": facts.altitude,
        "device": facts.device,
        "extra": orjson.dumps(_extra(facts)).decode(),
        "warnings": orjson.dumps(reading.warnings).decode(),
    }


def _time_columns(taken_at: datetime | None) -> dict[str, Any]:
    """`taken_at` as written, with its offset where there is one; `taken_key`: wall-clock seconds, to sort by."""
    if taken_at is None:
        return {"taken_at": None, "taken_key": None}
    wall = taken_at.replace(tzinfo=UTC).timestamp()
    return {"taken_at": taken_at.isoformat(), "taken_key": wall}


def _extra(facts: MetadataFacts) -> dict[str, Any]:
    known = {
        "lens": facts.lens,
        "title": facts.title,
        "description": facts.description,
        "keywords": list(facts.keywords),
        "rating": facts.rating,
        "creator": facts.creator,
        "copyright": facts.copyright,
        "license": facts.license,
    }
    return {key: value for key, value in known.items() if value not in (None, [])} | dict(facts.extra)


def _with_embedded(derived: Mapping[str, Any], extra: str) -> dict[str, Any]:
    """Where no rights map speaks, the picture's own licence and creator do."""
    own = orjson.loads(extra)
    return dict(derived) | {
        "license": derived["license"] or own.get("license"),
        "attribution": derived["attribution"] or own.get("creator"),
    }


def _overlay(given: Mapping[str, Any]) -> dict[str, Any]:
    """Given values that are fields of a picture win over what the file says."""
    columns: dict[str, Any] = {}
    for name in ("address", "device", "license", "doi", "source", "attribution"):
        if isinstance(given.get(name), str):
            columns[name] = given[name]
    for name, other in (("lat", "latitude"), ("lon", "longitude"), ("altitude", "altitude")):
        value = given.get(name, given.get(other))
        if isinstance(value, int | float) and not isinstance(value, bool):
            columns[name] = float(value)
    taken = given.get("taken_at", given.get("taken_time"))
    if isinstance(taken, str):
        try:
            columns |= _time_columns(datetime.fromisoformat(taken))
        except ValueError:  # Kept in `given` as it is; it is only no time.
            return columns
    return columns
