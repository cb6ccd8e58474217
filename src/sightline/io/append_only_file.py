"""A file of lines that only grows and survives a `kill -9` at any moment."""

from __future__ import annotations

import os
from pathlib import Path

import orjson

from sightline.errors import UserError
from sightline.io.locks import take_lock

_BLOCK = 1 << 16


class AppendOnlyFile:
    """Each line is handed to the operating system before `append` returns; one process at a time may write.

    A half line that a killed writer left is cut off when the file is opened again.
    """

    def __init__(self, path: Path) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        self._file = os.open(path, flags, 0o666)
        try:
            self._lock(path)
            self._repair_tail()
        except BaseException:
            os.close(self._file)
            raise

    def append(self, line: bytes) -> None:
        """Add one line, whole or not at all, also when the disk is full."""
        start = os.fstat(self._file).st_size
        try:
            _write_all(self._file, line)
        except BaseException:
            os.ftruncate(self._file, start)
            raise

    def close(self) -> None:
        """Wait until everything is on the disk, and let others write."""
        try:
            os.fsync(self._file)
        finally:
            os.close(self._file)

    def _lock(self, path: Path) -> None:
        if not take_lock(self._file, wait=False):
            raise UserError(
                f"another process is writing to {path.parent}.", "wait until it ends, or choose another folder"
            )

    def _repair_tail(self) -> None:
        tail = self._tail()
        if not tail:
            return
        try:
            orjson.loads(tail)
        except orjson.JSONDecodeError:
            os.ftruncate(self._file, os.fstat(self._file).st_size - len(tail))
        else:
            _write_all(self._file, b"\n")  # Only the end of the line was missing.

    def _tail(self) -> bytes:
        """What follows the last newline."""
        tail = b""
        end = os.fstat(self._file).st_size
        while end > 0 and b"\n" not in tail:
            start = max(0, end - _BLOCK)
            os.lseek(self._file, start, os.SEEK_SET)
            tail = os.read(self._file, end - start) + tail
            end = start
        return tail.rpartition(b"\n")[2]


def _write_all(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]
