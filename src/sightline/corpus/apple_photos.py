"""Apple Photos libraries (`.photoslibrary`, of Photos 5 and later): pictures, and what Photos says of them.

The library is only read; its database is opened as a file that nothing changes, or as a copy where Photos has changes
that are not in it yet. Tables that Core Data numbers differently in each version are found by what they are called.
"""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

from sightline.corpus.walk import FoundFile, signature_of
from sightline.errors import UserError
from sightline.types import Json

_EPOCH = datetime(2001, 1, 1, tzinfo=UTC)
_NOWHERE = -180.0
_USER_ALBUM, _SHARED_ALBUM = 2, 1505
_LIVE_FILM = "_3.mov"
_ASSETS = """SELECT a.Z_PK AS key, x.Z_PK AS attributes, a.ZUUID AS uuid, a.ZDIRECTORY AS folder, a.ZFILENAME AS name,
    a.ZFAVORITE AS favorite, a.ZHIDDEN AS hidden, a.ZTRASHEDSTATE AS trashed, a.ZVISIBILITYSTATE AS unpicked,
    a.{edited} AS edited, a.ZDATECREATED AS seconds, a.ZLATITUDE AS lat, a.ZLONGITUDE AS lon,
    x.ZORIGINALFILENAME AS original_name, x.ZTITLE AS title, x.ZTIMEZONEOFFSET AS offset,
    d.ZLONGDESCRIPTION AS description
    FROM {asset} AS a LEFT JOIN ZADDITIONALASSETATTRIBUTES AS x ON x.ZASSET = a.Z_PK
    LEFT JOIN ZASSETDESCRIPTION AS d ON d.Z_PK = x.ZASSETDESCRIPTION ORDER BY a.Z_PK"""
_ALBUMS = """SELECT m.{member}, g.ZTITLE FROM {table} AS m JOIN ZGENERICALBUM AS g ON g.Z_PK = m.{album}
    WHERE g.ZKIND IN (?, ?) AND coalesce(g.ZTRASHEDSTATE, 0) = 0 AND g.ZTITLE <> '' ORDER BY g.ZTITLE"""
_PEOPLE = """SELECT f.{asset}, p.ZFULLNAME FROM ZDETECTEDFACE AS f JOIN ZPERSON AS p ON p.Z_PK = f.{person}
    WHERE p.ZFULLNAME <> '' ORDER BY p.ZFULLNAME"""
_KEYWORDS = """SELECT x.ZASSET, k.ZTITLE FROM {table} AS m JOIN ZKEYWORD AS k ON k.Z_PK = m.{keyword}
    JOIN ZADDITIONALASSETATTRIBUTES AS x ON x.Z_PK = m.{attributes} WHERE k.ZTITLE <> '' ORDER BY k.ZTITLE"""


def is_library(path: Path) -> bool:
    """Is this a library of Apple Photos, by its name?"""
    return path.suffix.lower() == ".photoslibrary" and path.is_dir()


@dataclass(slots=True)
class AppleLibrary:
    """The pictures that Photos shows: the edited version where there is one, else the original, else a preview.

    What is hidden or in the trash is left out and counted, as is what lies in iCloud alone.
    """

    path: Path
    records: list[tuple[str, dict[str, Json]]] = field(default_factory=list)
    warnings: Counter[str] = field(default_factory=Counter)
    unreachable: list[bytes] = field(default_factory=list)
    _files: list[tuple[Path, list[bytes]]] = field(default_factory=list)

    def __iter__(self) -> Iterator[FoundFile]:
        for file, beside in self._files:
            status, path = file.stat(), os.fsencode(file.relative_to(self.path))
            yield FoundFile(path, status.st_size, status.st_mtime_ns, signature_of(os.fsencode(file.parent), beside))

    def add(self, asset: sqlite3.Row, labels: Mapping[str, list[str]]) -> None:
        """A row of `_ASSETS`, with the albums, people and keywords that it has."""
        left_out = {
            "hidden in Photos": asset["hidden"],
            "in the trash of Photos": asset["trashed"],
            "not picked from a burst": asset["unpicked"],
        }
        if why := next((why for why, is_so in left_out.items() if is_so), None):
            self.warnings[why] += 1
            return
        file, is_preview = self._file_of(asset)
        if file is None:
            self.warnings["not on this computer"] += 1
            return
        self.warnings.update(["only a preview on this computer"] if is_preview else [])
        film = file.with_name(file.stem + _LIVE_FILM)
        self._files.append((file, [os.fsencode(film.name)] if film.is_file() else []))
        self.records.append((str(file), _said(asset, labels)))

    def _file_of(self, asset: sqlite3.Row) -> tuple[Path | None, bool]:
        """The file to look at, and whether it is only a preview of a picture that lies in iCloud."""
        uuid = str(asset["uuid"])
        resources = self.path / "resources"
        edited = sorted((resources / "renders" / uuid[0]).glob(f"{uuid}_1_201_*")) if asset["edited"] else []
        original = self.path / "originals" / str(asset["folder"] or uuid[0]) / str(asset["name"])
        if found := next((file for file in (*edited, original) if file.is_file()), None):
            return (found, False) if found.resolve().is_relative_to(self.path.resolve()) else (None, False)
        derived = resources / "derivatives"
        previews = [*(derived / uuid[0]).glob(f"{uuid}_1_*"), *(derived / "masters" / uuid[0]).glob(f"{uuid}_4_*")]
        return max(previews, key=lambda file: file.stat().st_size, default=None), True


def _said(asset: sqlite3.Row, labels: Mapping[str, list[str]]) -> dict[str, Json]:
    said: dict[str, Json] = {kind: list[Json](labels.get(kind, [])) or None for kind in ("album", "people", "keywords")}
    place = asset["lat"] not in (None, _NOWHERE) and asset["lon"] not in (None, _NOWHERE)
    return said | {
        "favorite": bool(asset["favorite"]),
        "edited": True if asset["edited"] else None,
        "title": asset["title"] or None,
        "description": asset["description"] or None,
        "original_name": asset["original_name"] or None,
        "taken_at": _time(asset["seconds"], asset["offset"]),
        "lat": asset["lat"] if place else None,
        "lon": asset["lon"] if place else None,
    }


def _time(seconds: float | None, offset: int | None) -> str | None:
    """Seconds since 2001 in UTC → the time where the picture was taken."""
    if seconds is None:
        return None
    try:
        zone = timezone(timedelta(seconds=offset or 0))
        return (_EPOCH + timedelta(seconds=seconds)).astimezone(zone).isoformat(timespec="seconds")
    except (OverflowError, ValueError):
        return None


def read_library(path: Path) -> AppleLibrary:
    """What the library's database says; `UserError` for one that can't be read."""
    library = AppleLibrary(path)
    try:
        with _opened(path / "database" / "Photos.sqlite") as database:
            names = _Names.of(database)
            labels = _labels(database, names)
            database.row_factory = sqlite3.Row
            for asset in database.execute(_ASSETS.format(asset=names.asset, edited=names.edited)):
                library.add(asset, labels[asset["key"]])
    except (sqlite3.Error, OSError) as error:
        raise UserError(
            f"{path} can't be read as a library of Apple Photos: {error}.",
            "Open it in Photos 5 or later (macOS 10.15), close Photos, and let your terminal read it: "
            "System Settings, Privacy & Security, Full Disk Access.",
        ) from error
    return library


@contextmanager
def _opened(file: Path) -> Iterator[sqlite3.Connection]:
    """The database, to be read: as a copy, where the log beside it has changes that it does not have yet."""
    log = file.with_name(f"{file.name}-wal")
    with tempfile.TemporaryDirectory(prefix="sightline-") as folder:
        mode = "mode=ro&immutable=1"
        if log.is_file() and log.stat().st_size:
            for each in (file, log):
                shutil.copyfile(each, Path(folder) / each.name)
            file, mode = Path(folder) / file.name, "mode=rw"
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?{mode}", uri=True)) as database:
            yield database


@dataclass(frozen=True, slots=True)
class _Names:
    """What tables and columns are called in this version of Photos."""

    tables: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, database: sqlite3.Connection) -> _Names:
        tables = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        columns = "SELECT name FROM pragma_table_info(?)"
        return cls({name: frozenset(row[0] for row in database.execute(columns, (name,))) for (name,) in tables})

    @property
    def asset(self) -> str:
        return "ZASSET" if "ZASSET" in self.tables else "ZGENERICASSET"

    @property
    def edited(self) -> str:
        return self.column(self.asset, "ZADJUSTMENTSSTATE|ZHASADJUSTMENTS")

    def column(self, table: str, pattern: str) -> str:
        """The column that is called so; the last of several."""
        found = [name for name in sorted(self.tables.get(table, ())) if re.fullmatch(pattern, name)]
        if not found:
            raise sqlite3.DatabaseError(f"it has no {table}.{pattern}")
        return found[-1]

    def join(self, suffix: str, *patterns: str) -> tuple[str, ...]:
        """The numbered table `Z_28ASSETS` that ends so and has columns like these, and their names."""
        for table in sorted(self.tables):
            if re.fullmatch(rf"Z_\d+{suffix}", table):
                columns = [[name for name in self.tables[table] if re.fullmatch(each, name)] for each in patterns]
                if all(columns):
                    return (table, *(names[0] for names in columns))
        raise sqlite3.DatabaseError(f"it has no table of {suffix.lower()}")


def _labels(database: sqlite3.Connection, names: _Names) -> Mapping[int, dict[str, list[str]]]:
    """By asset: its albums, people and keywords, each name once."""
    table, album, member = names.join("ASSETS", r"Z_\d+ALBUMS", r"Z_\d+ASSETS")
    joined, keyword, attributes = names.join("KEYWORDS", r"Z_\d+KEYWORDS", r"Z_\d+ASSETATTRIBUTES")
    asset, person = (names.column("ZDETECTEDFACE", f"Z{what}(FORFACE)?") for what in ("ASSET", "PERSON"))
    albums = _ALBUMS.format(table=table, album=album, member=member), (_USER_ALBUM, _SHARED_ALBUM)
    keywords = _KEYWORDS.format(table=joined, keyword=keyword, attributes=attributes)
    found: dict[int, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for kind, query in (
        ("album", albums),
        ("people", (_PEOPLE.format(asset=asset, person=person), ())),
        ("keywords", (keywords, ())),
    ):
        for key, name in database.execute(*query):
            if name not in found[key][kind]:
                found[key][kind].append(name)
    return found
