"""A file layer that fails on purpose: full, broken, read-only and slow disks, damaged files, and clocks that jump.

`install` makes one file operation of this process fail, counted over Python's own file calls and SQLite's statements;
`damage` changes one file as a disk would. Both are driven by a seed, so that a failure can be repeated.
"""

from __future__ import annotations

import builtins
import errno
import faulthandler
import io
import json
import os
import re
import signal
import sqlite3
import sys
import threading
import time
import traceback
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Any

RUNTIME = ("ENOSPC", "EIO", "EROFS", "slow", "clock")
DAMAGES = ("flip", "torn", "empty", "zeros")
_SQLITE = {
    "ENOSPC": (sqlite3.SQLITE_FULL, "database or disk is full"),
    "EIO": (sqlite3.SQLITE_IOERR, "disk I/O error"),
    "EROFS": (sqlite3.SQLITE_READONLY, "attempt to write a readonly database"),
}
_HANGS = float(os.environ.get("HANGS", "90"))
"""Seconds after which a command that does not end says where it is."""
_WRITES = ("INSERT", "UPDATE", "DELETE", "CREATE", "BEGIN IMMEDIATE", "COMMIT", "REPLACE", "DROP", "ALTER")


class Faults:
    """Counts operations below a folder, and fails at one of them; with `at` None it only counts."""

    def __init__(self, place: str, kind: str, at: int | None) -> None:
        self.place, self.kind, self.at = os.path.realpath(place) + os.sep, kind, at
        self.count = 0
        self.happened = False
        self.where = ""
        self.jump = 0.0
        self.read: set[str] = set()
        self._loaded = frozenset(sys.modules)

    def is_inside(self, path: object) -> bool:
        named = isinstance(path, str | os.PathLike)
        return named and os.path.realpath(os.fspath(path)).startswith(self.place)  # type: ignore[call-overload]

    def meets(self, path: object, *, writing: bool) -> bool:
        """Is this the operation that fails? Reading fails only on a broken disk; None is a file known to be inside."""
        if path is not None and not self.is_inside(path):
            return False
        if path is not None and not writing:
            self.read.add(os.path.realpath(os.fspath(path))[len(self.place) :])  # type: ignore[call-overload]
        if self.kind in ("ENOSPC", "EROFS") and not writing:
            return False
        self.count += 1
        if self.at is None or self.count <= self.at or self.happened:
            return False
        self.happened = True
        frames = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in traceback.extract_stack()]
        self.where = " ".join(frame for frame in frames if not frame.startswith("fault_layer"))[-300:]
        if self.kind == "slow":
            time.sleep(0.05)
        if self.kind == "clock":
            self.jump = -400 * 86_400.0 if self.at % 2 else 400 * 86_400.0
        return self.kind in _SQLITE

    def check(self, path: object, *, writing: bool) -> None:
        if self.meets(path, writing=writing):
            raise self.error(path)

    def error(self, path: object) -> OSError:
        number = getattr(errno, self.kind)
        return OSError(number, os.strerror(number), os.fspath(path) if self.is_inside(path) else None)  # type: ignore[call-overload]

    def check_statement(self, statement: str) -> None:
        writing = statement.lstrip().upper().startswith(_WRITES)
        if self.meets(None, writing=writing):
            code, said = _SQLITE[self.kind]
            error = sqlite3.OperationalError(said)
            error.sqlite_errorcode = code
            raise error

    def told(self) -> dict[str, Any]:
        modules = [name for name in sys.modules if name not in self._loaded]
        return {
            "count": self.count,
            "happened": self.happened,
            "where": self.where,
            "read": sorted(self.read),
            "modules": modules,
        }


def damage(path: Path, kind: str, rng: Random) -> bool:
    """Change a file as a disk or a cut-off copy would; False where it is as it was."""
    before = path.read_bytes()
    data = bytearray(before)
    if kind == "flip" and data:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    elif kind == "torn" and data:
        del data[rng.randrange(len(data)) :]
    elif kind == "zeros" and data:
        start = rng.randrange(len(data))
        data[start : start + 512] = bytes(len(data[start : start + 512]))
    elif kind == "empty":
        data.clear()
    path.write_bytes(data)
    return data != before


def install(place: str, kind: str, at: int | None, stop: str | None, report: str) -> Callable[[], None]:
    """Let the operation number `at` on files below a folder of this process fail; what is returned writes the report.

    Pictures are read in this process, where faults can be injected. A command that would run on is asked for its page
    and interrupted as soon as its output matches `stop`.
    """
    faulthandler.dump_traceback_later(_HANGS)
    faults = Faults(place, kind, at)
    plain_write = Path(report).open("w", encoding="utf-8")  # noqa: SIM115  # Open before anything fails.
    for owner, name, replacement in _replacements(faults):
        setattr(owner, name, replacement)
    for module in [module for name, module in sys.modules.items() if name.startswith("sightline")]:
        if hasattr(module, "map_in_processes"):
            module.__dict__["map_in_processes"] = lambda function, items, **_: (
                (item, function(item)) for item in items
            )
    if stop is not None:
        reading, writing = os.pipe()  # What is typed does not end before the answer is there.
        os.write(writing, typed := os.pread(0, 1 << 15, 0))
        os.dup2(reading, 0)
        signal.signal(signal.SIGINT, signal.default_int_handler)  # Shells start what runs in the background without.
        threading.Thread(target=_interrupt, args=(stop, typed, writing, (os.dup(1), os.dup(2))), daemon=True).start()

    def finish() -> None:
        with plain_write as file:
            json.dump(faults.told(), file)

    return finish


def _map_here(function: Callable[[Any], Any], items: Iterable[Any], **_: Any) -> Iterator[tuple[Any, Any]]:
    return ((item, function(item)) for item in items)


def _interrupt(stop: str, typed: bytes, writing: int, printed: tuple[int, int]) -> None:
    """Wait for what a server says when it is ready, open the page that it names, and end it: by Ctrl-C or its input.

    `printed` are copies of its descriptors: the MCP server turns its own aside.
    """
    for _ in range(400):
        time.sleep(0.025)
        said = b"".join(os.pread(number, 1 << 16, 0) for number in printed).decode(errors="replace")
        if found := re.search(stop, said):
            break
    else:
        os._exit(99)
    if page := re.search(r"http://\S+", found[0]):
        try:
            with urllib.request.urlopen(page[0], timeout=20) as answer:
                os.write(1, f"page: {answer.status}\n".encode())
        except urllib.error.HTTPError as error:
            os.write(1, error.read())
    os.close(writing)
    if not typed:
        os.kill(os.getpid(), signal.SIGINT)


def _replacements(faults: Faults) -> Iterator[tuple[Any, str, Callable[..., Any]]]:
    plain_open = io.open

    class FaultyFile(io.FileIO):
        def write(self, data: Any) -> int:
            if faults.meets(None, writing=True):
                super().write(bytes(data)[: len(data) // 2])  # Half of it is there: a torn write.
                raise faults.error(None)
            return super().write(data)

        def readinto(self, buffer: Any) -> int:
            faults.check(None, writing=False)
            return super().readinto(buffer)

        def readall(self) -> bytes:
            faults.check(None, writing=False)
            return super().readall()

    def faulty_open(file: Any, mode: str = "r", buffering: int = -1, *rest: Any, **named: Any) -> Any:
        if isinstance(file, int) or not faults.is_inside(file):
            return plain_open(file, mode, buffering, *rest, **named)
        writing = any(sign in mode for sign in "wax+")
        faults.check(file, writing=writing)
        raw = FaultyFile(file, mode.replace("b", "").replace("t", ""), opener=named.get("opener"))
        buffered: Any = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw) if writing else None
        buffered = io.BufferedReader(raw) if buffered is None else buffered
        if "b" in mode:
            return raw if buffering == 0 else buffered
        return io.TextIOWrapper(buffered, *rest, **{key: value for key, value in named.items() if key != "opener"})

    yield builtins, "open", faulty_open
    yield io, "open", faulty_open
    for name in ("write", "pwrite", "fsync", "ftruncate", "posix_fallocate"):
        yield os, name, _checked(faults, getattr(os, name), lambda number, *_: _name_of(number))
    for name in ("replace", "rename", "mkdir", "unlink", "link", "symlink"):
        yield os, name, _checked(faults, getattr(os, name), lambda first, *_: first)
    for name in ("scandir", "listdir"):
        yield os, name, _checked(faults, getattr(os, name), lambda first=".": first, writing=False)
    plain_clock = time.time
    yield time, "time", lambda: plain_clock() + faults.jump
    yield sqlite3, "connect", _connecting(faults)


def _name_of(number: int) -> str:
    """The file behind a descriptor; what is none (a terminal, a pipe, a connection) never fails."""
    try:
        name = os.readlink(f"/proc/self/fd/{number}")
    except OSError:
        return os.devnull
    return name if os.path.isabs(name) else os.devnull


def _checked(
    faults: Faults, function: Callable[..., Any], path_of: Callable[..., object], *, writing: bool = True
) -> Callable[..., Any]:
    def checked(*given: Any, **named: Any) -> Any:
        path = path_of(*given)
        if not isinstance(path, int):
            faults.check(path, writing=writing)
        return function(*given, **named)

    return checked


def _connecting(faults: Faults) -> Callable[..., sqlite3.Connection]:
    plain_connect = sqlite3.connect

    class FaultyConnection(sqlite3.Connection):
        def execute(self, sql: str, *given: Any) -> sqlite3.Cursor:
            faults.check_statement(sql)
            return super().execute(sql, *given)

        def executemany(self, sql: str, *given: Any) -> sqlite3.Cursor:
            faults.check_statement(sql)
            return super().executemany(sql, *given)

    def connect(database: Any, *given: Any, **named: Any) -> sqlite3.Connection:
        path = re.sub(r"^file://|\?.*$", "", str(database))
        if not faults.is_inside(path):
            elsewhere: sqlite3.Connection = plain_connect(database, *given, **named)
            return elsewhere
        faults.read.add(os.path.realpath(path)[len(faults.place) :])
        opened: sqlite3.Connection = plain_connect(database, *given, **{"factory": FaultyConnection} | named)
        return opened

    return connect
