"""What a process is asking just now, in a file that outlives it, and room on the disk for the replies.

The file has a slot for each call in flight: written before the request is sent, cleared when its row is in the journal.
So a kill leaves the calls that may have been billed. Behind the slots lies room that is allocated and not used: when
the disk is full it is given back, and replies that are on their way can still be kept.
"""

from __future__ import annotations

import errno
import mmap
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from sightline.errors import UserError

_SLOT = 512
_FIRST_SLOTS = 32
_LEAST_ROOM = 4 << 20
"""Bytes for the pages that a transaction touches, whatever the replies."""
_ROOM_FOR_CALL = 16 << 10
"""Bytes that a reply takes on disk, at least; twice the largest that was seen when that is more."""


class LostCall(NamedTuple):
    """A call that was sent, and whose end nobody saw."""

    key: bytes
    stage: str
    task: str | None
    model: str
    at: float


class InFlightFile:
    """The slots of one open journal; used by one thread."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
        self._map: mmap.mmap | None = None
        "The slots, written without a system call for each: what is in the map outlives the process, too."
        self._slots: dict[bytes, int] = {}
        self._free: list[int] = []
        self._count = 0
        self._largest = 0
        self._is_released = False

    def fileno(self) -> int:
        return self._file

    def __len__(self) -> int:
        return len(self._slots)

    def begin(self, call: LostCall) -> None:
        """A call is about to be sent; refused where there is no room for its reply."""
        slot = self._slots.get(call.key)
        if slot is None:
            if not self._free:
                self._grow()
            slot = self._slots[call.key] = self._free.pop()
        assert self._map is not None
        self._map[slot * _SLOT : (slot + 1) * _SLOT] = _record(call)

    def end(self, key: bytes, size: int = 0) -> None:
        """The call's row, with a reply of so many bytes, is on disk, or it was never sent."""
        self._largest = max(self._largest, size)
        slot = self._slots.pop(key, None)
        if slot is not None and self._map is not None:
            self._map[slot * _SLOT] = 0
            self._free.append(slot)

    def release_room(self) -> bool:
        """Give the room back, for what is in flight; False when it was before."""
        if self._is_released:
            return False
        os.ftruncate(self._file, self._count * _SLOT)
        self._is_released = True
        return True

    def close(self) -> None:
        """Remove the file, unless calls are in flight whose rows could not be written."""
        if self._map is not None:
            self._map.close()
        if self._slots:
            os.ftruncate(self._file, self._count * _SLOT)
        else:
            self.path.unlink(missing_ok=True)
        os.close(self._file)

    def _grow(self) -> None:
        count = max(_FIRST_SLOTS, 2 * self._count)
        _allocate(self._file, _LEAST_ROOM + count * (_SLOT + max(_ROOM_FOR_CALL, 2 * self._largest)), self.path.parent)
        if self._map is not None:
            self._map.close()
        self._map = mmap.mmap(self._file, count * _SLOT)
        self._free = list(range(count - 1, self._count - 1, -1))
        self._count = count


def lost_calls(file: int) -> Iterator[LostCall]:
    """What a file of a process that ended says to have been in flight."""
    os.lseek(file, 0, os.SEEK_SET)
    data = os.read(file, os.fstat(file).st_size)
    for at in range(0, len(data), _SLOT):
        slot = data[at : at + _SLOT].rstrip(b"\0 ")
        if data[at : at + 1] == b"[":
            try:
                key, *others = orjson.loads(slot)
                yield LostCall(bytes.fromhex(key), *others)
            except (ValueError, TypeError):  # Damaged: that a call was lost is all that is left.
                yield LostCall(b"", "unknown", None, "unknown", os.fstat(file).st_mtime)


def _record(call: LostCall) -> bytes:
    fields: list[Any] = [call.key.hex(), *call[1:]]
    record = orjson.dumps(fields)
    if len(record) > _SLOT:  # Names as long as that are cut, and the task is left out.
        record = orjson.dumps([fields[0], call.stage[:60], None, call.model[:60], call.at])
    return record[:_SLOT].ljust(_SLOT)


def _allocate(file: int, size: int, folder: Path) -> None:
    """Make sure of so many bytes in a file; a `UserError` where the disk has not as many."""
    try:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file, 0, size)
        else:
            have = os.lseek(file, 0, os.SEEK_END)
            os.write(file, bytes(max(0, size - have)))
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise UserError(f"{folder} can't be written: {error.strerror}.", "Choose another --workspace.") from error
        raise UserError(
            f"The disk of {folder.parent} has no room to keep replies: nothing more was sent.",
            f"Free at least {-(-size // (1 << 20))} MB there, or choose another --workspace.",
        ) from error
