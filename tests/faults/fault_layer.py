"""A file layer that fails on purpose: full, broken, read-only and slow disks, damaged files, and clocks that jump.

`injected` makes one file operation of this process fail, counted over Python's own file calls and SQLite's statements;
`damage` changes one file as a disk would. Both are driven by a seed, so that a failure can be repeated.
"""

from __future__ import annotations

import builtins
import errno
import io
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

RUNTIME = ("ENOSPC", "EIO", "EROFS", "slow", "clock")
DAMAGES = ("flip", "torn", "empty", "zeros")
_SQLITE = {
    "ENOSPC": (sqlite3.SQLITE_FULL, "database or disk is full"),
    "EIO": (sqlite3.SQLITE_IOERR, "disk I/O error"),
    "EROFS": (sqlite3.SQLITE_READONLY, "attempt to write a readonly database"),
}
_WRITES = ("INSERT", "UPDATE", "DELETE", "CREATE", "BEGIN IMMEDIATE", "COMMIT", "REPLACE", "DROP", "ALTER")


class Faults:
    """Counts operations below a folder, and fails at one of them; with `at` None it only counts."""

    def __init__(self, place: Path, kind: str, at: int | None) -> None:
        self.place, self.kind, self.at = os.path.realpath(place), kind, at
        self.count = 0
        self.happened = False
        self.jump = 0.0

    def meets(self, path: object, *, writing: bool) -> bool:
        """Is this the operation that fails? Reading fails only on a broken disk."""
        if self.kind in ("ENOSPC", "EROFS") and not writing:
            return False
        if isinstance(path, str | os.PathLike) and not os.path.realpath(path).startswith(self.place):
            return False
        self.count += 1
        if self.at is None or self.count <= self.at or self.happened:
            return False
        self.happened = True
        if self.kind == "slow":
            time.sleep(0.005)
        if self.kind == "clock":
            self.jump = -400 * 86_400.0 if self.at % 2 else 400 * 86_400.0
        return self.kind in _SQLITE

    def check(self, path: object, *, writing: bool) -> None:
        if self.meets(path, writing=writing):
            number = getattr(errno, self.kind)
            raise OSError(number, os.strerror(number), str(path) if isinstance(path, str | os.PathLike) else None)

    def check_statement(self, statement: str) -> None:
        writing = statement.lstrip().upper().startswith(_WRITES)
        if self.meets(None, writing=writing):
            code, said = _SQLITE[self.kind]
            error = sqlite3.OperationalError(said)
            error.sqlite_errorcode = code
            raise error


def damage(path: Path, kind: str, rng: Random) -> None:
    """Change a file as a disk or a cut-off copy would."""
    data = bytearray(path.read_bytes())
    if kind == "flip" and data:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    elif kind == "torn":
        del data[rng.randrange(len(data) + 1) :]
    elif kind == "zeros" and data:
        start = rng.randrange(len(data))
        data[start : start + 512] = bytes(len(data[start : start + 512]))
    elif kind == "empty":
        data.clear()
    path.write_bytes(data)


@contextmanager
def injected(place: Path, kind: str, at: int | None) -> Iterator[Faults]:
    """Let the operation number `at` on files below a folder fail, while the block runs."""
    faults = Faults(place, kind, at)
    with ExitStack() as stack:
        for owner, name, replacement in _replacements(faults):
            stack.enter_context(patch.object(owner, name, replacement))
        yield faults


def _replacements(faults: Faults) -> Iterator[tuple[Any, str, Callable[..., Any]]]:
    plain_open = io.open

    class FaultyFile(io.FileIO):
        def write(self, data: Any) -> int:
            if faults.meets(None, writing=True):
                super().write(bytes(data)[: len(data) // 2])  # Half of it is there: a torn write.
                raise OSError(getattr(errno, faults.kind), os.strerror(getattr(errno, faults.kind)))
            return super().write(data)

        def readinto(self, buffer: Any) -> int:
            faults.check(None, writing=False)
            return super().readinto(buffer)

    def faulty_open(file: Any, mode: str = "r", buffering: int = -1, *rest: Any, **named: Any) -> Any:
        if isinstance(file, int) or not os.path.realpath(file).startswith(faults.place):
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
    for name in ("write", "pwrite", "fsync", "ftruncate"):
        yield os, name, _checked(faults, getattr(os, name), lambda *_: None)
    for name in ("replace", "rename", "mkdir", "unlink", "link"):
        yield os, name, _checked(faults, getattr(os, name), lambda first, *_: first)
    plain_clock = time.time
    yield time, "time", lambda: plain_clock() + faults.jump
    yield sqlite3, "connect", _connecting(faults)


def _checked(faults: Faults, function: Callable[..., Any], path_of: Callable[..., object]) -> Callable[..., Any]:
    def checked(*given: Any, **named: Any) -> Any:
        faults.check(path_of(*given), writing=True)
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

    def connect(*given: Any, **named: Any) -> sqlite3.Connection:
        opened: sqlite3.Connection = plain_connect(*given, **{"factory": FaultyConnection} | named)
        return opened

    return connect
