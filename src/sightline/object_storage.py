"""Folders on object storage (`s3://`, `gs://`, `hf://`), by fsspec: a copy on this machine, brought up to date before
the work; what the work changed in it is sent back afterwards.

A database beside the copies holds what was the same on both sides last, so that only what differs is transferred, and
nothing is overwritten that was changed on both.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple, ParamSpec, TypeVar

from sightline.engine.progress import progress
from sightline.errors import MissingExtraError, SightlineError, UserError
from sightline.io.locks import LOCK_FILE, locked
from sightline.io.private import private_folder
from sightline.io.sqlite import open_database, transaction
from sightline.io.temporary_files import is_temporary, name_beside
from sightline.io.workspace import data_folder

P = ParamSpec("P")
R = TypeVar("R")
READING = frozenset({"scan", "watch", "index", "search", "ask", "view", "mcp", "demo"})
"""Verbs whose folders are only read: nothing is sent back."""
_ADDRESS = re.compile(r"(s3|gs|gcs|hf):/{1,2}([^/].*)", re.DOTALL)
_TAGS = ("ETag", "etag", "md5Hash", "blob_id", "generation", "LastModified", "mtime")
"""What changes with an object's content, the surest first; each kind of storage has one of them."""
_AT_ONCE, _PAGE = 16, 1000
_NEVER = -1
"""The date of a copy that was not finished."""
_CREATE = """CREATE TABLE copies (path TEXT PRIMARY KEY, tag TEXT, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL)
WITHOUT ROWID"""


class _Copy(NamedTuple):
    """An object and its copy when both were the same."""

    tag: str | None
    size: int
    mtime_ns: int


def remote_address(given: object) -> str | None:
    """The address where it is one on object storage; `pathlib` takes a slash from it, which is put back."""
    text = os.fspath(given) if isinstance(given, os.PathLike) else given
    found = _ADDRESS.fullmatch(text) if isinstance(text, str) else None
    return None if found is None else f"{found[1]}://{found[2].rstrip('/')}"


def with_copies(function: Callable[P, R]) -> Callable[P, R]:
    """The verb, which also takes addresses on object storage where it takes folders, alone or in a list."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        given = [*args, *kwargs.values()]
        if not any(map(remote_address, _flat(given))):
            return function(*args, **kwargs)
        local_only = any(getattr(getattr(one, "calls", None), "local_only", False) for one in given)
        with copies(_flat(given), verb=function.__name__, local_only=local_only) as here:
            told = {name: _replaced(value, here) for name, value in kwargs.items()}
            return function(*(_replaced(value, here) for value in args), **told)

    return call


@contextmanager
def copies(given: Iterable[object], *, verb: str, local_only: bool = False) -> Iterator[dict[str, Path]]:
    """The copies of those of the arguments that are addresses; what is changed in them is sent when the block ends.

    That is so also after an error: what was done until then is not lost with this machine.
    """
    addresses = dict.fromkeys(filter(None, map(remote_address, given)))
    if local_only and addresses:
        raise UserError(f"{next(iter(addresses))} is not on this computer.", "Leave --local-only (local_only) out.")
    opened = [_Folder.open(address) for address in addresses]
    for one in opened:
        one.fetch()
    try:
        yield {one.address: one.place for one in opened}
    except SightlineError as error:
        for one in opened:  # What the user knows is the address.
            error.message = error.message.replace(str(one.place), one.address)
        raise
    finally:
        for one in opened if verb not in READING else ():
            one.send()


def _flat(values: Iterable[object]) -> Iterator[object]:
    for value in values:
        yield from value if isinstance(value, list | tuple) else (value,)


def _replaced(value: Any, here: dict[str, Path]) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(_replaced(one, here) for one in value) if any(map(remote_address, value)) else value
    address = remote_address(value)
    return value if address is None else here[address]


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder, or a single object, on object storage, and the place of its copy."""

    address: str
    storage: Any
    root: str
    "What the storage calls it."
    place: Path
    home: Path

    @classmethod
    def open(cls, address: str) -> _Folder:
        scheme, _, name = address.partition("://")
        home = data_folder() / "sightline-copies"
        if not _is_safe(name):
            raise UserError(f"{address} can't be copied: a part of it is not a valid file name.", "Check the address.")
        try:
            from fsspec.core import url_to_fs

            with _named(address):
                storage, root = url_to_fs(address, use_listings_cache=False)
        except ImportError:
            raise MissingExtraError(f"{scheme}://", "storage") from None
        return cls(address, storage, root.rstrip("/"), home / scheme / name, home)

    def fetch(self) -> None:
        """Bring the copy up to date; what was changed here and not sent yet stays."""
        with self._database() as database, _named(self.address):
            self._list(database)
            todo = list(self._to_fetch(database))
            self._remove_gone(database)
            with transaction(database):
                rows = ((self._key(path), None, 0, _NEVER) for path in todo)
                database.executemany("INSERT OR REPLACE INTO copies VALUES (?, ?, ?, ?)", rows)
            with ThreadPoolExecutor(_AT_ONCE) as pool, progress("fetch", len(todo)) as advance:
                for start in range(0, len(todo), _PAGE):
                    page = todo[start : start + _PAGE]
                    there = [path for path, done in zip(page, pool.map(self._get, page), strict=True) if done]
                    self._note(database, there)
                    advance(len(page))

    def send(self) -> None:
        """Send what was changed or removed in the copy since it was fetched."""
        with self._database() as database, _named(self.address):
            known = dict(self._known(database))
            here = dict(self._files())
            changed = sorted(path for path, stamp in here.items() if path not in known or known[path][1:] != stamp)
            gone = sorted(known.keys() - here.keys())
            if not changed and not gone:
                return
            self._list(database)
            self._refuse_conflicts(database, [*changed, *gone], known)
            with ThreadPoolExecutor(_AT_ONCE) as pool, progress("send", len(changed)) as advance:
                for _ in pool.map(self._put, changed):
                    advance(1)
            for path in gone:
                with suppress(FileNotFoundError):
                    self.storage.rm_file(self._object(path))
            self._list(database)
            with transaction(database):
                database.executemany("DELETE FROM copies WHERE path = ?", [(self._key(path),) for path in gone])
            self._note(database, changed)

    @contextmanager
    def _database(self) -> Iterator[sqlite3.Connection]:
        private_folder(self.home)
        with locked(self.home, wait=True), closing(open_database(self.home / "copies.sqlite", (_CREATE,))) as database:
            yield database

    def _list(self, database: sqlite3.Connection) -> None:
        """What the storage holds now, in a table beside: a million names do not fit into every memory."""
        database.execute("DROP TABLE IF EXISTS temp.listed")
        database.execute("CREATE TEMP TABLE listed (path TEXT PRIMARY KEY, tag TEXT) WITHOUT ROWID")
        self.storage.invalidate_cache()
        with transaction(database):
            database.executemany("INSERT OR REPLACE INTO listed VALUES (?, ?)", self._objects())

    def _objects(self) -> Iterator[tuple[str, str]]:
        """Every object: its path under the address (empty where that is the object itself), and its tag."""
        folders = [self.root]
        while folders:
            folder = folders.pop()
            with suppress(FileNotFoundError):
                for found in self.storage.ls(folder, detail=True):
                    name = str(found["name"]).rstrip("/")
                    path = name.removeprefix(self.root).strip("/")
                    if found["type"] == "directory":
                        folders += [name] if name != folder else []
                    elif not str(found["name"]).endswith("/") and (not path or _is_safe(path)):
                        yield path, next((f"{found[tag]}" for tag in _TAGS if found.get(tag)), f"{found.get('size')}")

    def _to_fetch(self, database: sqlite3.Connection) -> Iterator[str]:
        known = dict(self._known(database))
        for path, tag in database.execute("SELECT path, tag FROM listed ORDER BY path").fetchall():
            stamp, before = _stamp(self.place / path), known.get(path)
            if stamp is None or (before is not None and before.mtime_ns == _NEVER):
                yield path
            elif before is None or (before[1:] != stamp and before.tag != tag):
                raise self._conflict(path)
            elif before.tag != tag:
                yield path

    def _remove_gone(self, database: sqlite3.Connection) -> None:
        """What is no longer on the storage goes here, too, unless it was changed meanwhile."""
        listed = {path for (path,) in database.execute("SELECT path FROM listed")}
        known = list(self._known(database))
        if known and not listed and self.place.exists():
            raise UserError(
                f"{self.address} holds nothing any more; the copy of what it held is kept.",
                f"Check the address; if all of it was removed on purpose, remove {self.place} too.",
            )
        for path, before in known:
            if path not in listed:
                if _stamp(self.place / path) == before[1:]:
                    (self.place / path).unlink()
                database.execute("DELETE FROM copies WHERE path = ?", (self._key(path),))

    def _get(self, path: str) -> bool:
        """Fetch an object; False where it has gone since it was listed."""
        target = self.place / path
        private_folder(target.parent)
        fresh = name_beside(target)
        try:
            self.storage.get_file(self._object(path), str(fresh))
            fresh.replace(target)
        except FileNotFoundError:
            return False
        finally:
            fresh.unlink(missing_ok=True)
        return True

    def _put(self, path: str) -> None:
        self.storage.put_file(str(self.place / path), self._object(path))

    def _note(self, database: sqlite3.Connection, paths: Iterable[str]) -> None:
        """These are the same on both sides now."""
        with transaction(database):
            for path in paths:
                (tag,) = database.execute("SELECT tag FROM listed WHERE path = ?", (path,)).fetchone() or (None,)
                row = (self._key(path), tag, *(_stamp(self.place / path) or (0, _NEVER)))
                database.execute("INSERT OR REPLACE INTO copies VALUES (?, ?, ?, ?)", row)

    def _refuse_conflicts(self, database: sqlite3.Connection, paths: list[str], known: dict[str, _Copy]) -> None:
        listed = dict(database.execute("SELECT path, tag FROM listed"))
        for path in paths:
            if path in listed and (path not in known or known[path].tag != listed[path]):
                raise self._conflict(path)

    def _conflict(self, path: str) -> UserError:
        return UserError(
            f"{self._name(path)} was changed there and here since it was copied; nothing was overwritten.",
            f"Yours is {self.place / path}: move it away to take the other, or write to a new address.",
        )

    def _files(self) -> Iterator[tuple[str, tuple[int, int]]]:
        """The files of the copy, by path."""
        if (stamp := _stamp(self.place)) is not None:
            yield "", stamp
        for folder, _, names in os.walk(self.place):
            for name in names:
                path = Path(folder, name)
                stamp = None if is_temporary(name) or name == LOCK_FILE else _stamp(path)
                if stamp is not None:
                    yield path.relative_to(self.place).as_posix(), stamp

    def _known(self, database: sqlite3.Connection) -> Iterator[tuple[str, _Copy]]:
        own = self._key("")
        query = "SELECT path, tag, size, mtime_ns FROM copies WHERE path = ? OR (path > ? AND path < ?)"
        for path, *row in database.execute(query, (own, f"{own}/", f"{own}0")):  # "0" follows "/".
            yield path.removeprefix(own).lstrip("/"), _Copy(*row)

    def _key(self, path: str) -> str:
        return (self.place / path).relative_to(self.home).as_posix()

    def _object(self, path: str) -> str:
        return f"{self.root}/{path}" if path else self.root

    def _name(self, path: str) -> str:
        return f"{self.address}/{path}" if path else self.address


def _is_safe(path: str) -> bool:
    """Does it stay below the folder that it is put into? A bucket may hold any names."""
    parts = path.split("/")
    return not any(part in ("", ".", "..") or "\0" in part or "\\" in part or is_temporary(part) for part in parts)


def _stamp(path: Path) -> tuple[int, int] | None:
    """Size and date of a file; None where there is none."""
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return (status.st_size, status.st_mtime_ns) if path.is_file() else None


@contextmanager
def _named(address: str) -> Iterator[None]:
    """Whatever a storage's library raises says which address it was."""
    try:
        yield
    except (SightlineError, ImportError, sqlite3.Error):
        raise
    except Exception as error:  # Each library has its own.
        said = (str(error).strip().splitlines() or [""])[0].rstrip(".")
        raise UserError(
            f"{address} can't be used: {type(error).__name__}{said and f': {said}'}.",
            "Check the address and the credentials (docs/object-storage.md); what was copied is kept.",
        ) from error
