"""Every file under a folder, once, with what tells whether it changed; nothing is ever written there."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from sightline.corpus.metadata import sidecar
from sightline.corpus.parts import by_stem, find_parts, is_original, is_raw_name, may_be_part, original_stems

NOT_FOLLOWED = "link not followed"
"""The warning about links out of the folder."""
APPLE_LIBRARY = b".photoslibrary"
"""Holds pictures in several sizes, and some that are hidden: its own reader knows which to take."""


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file: its path under the root as the system's bytes, and what a change would change."""

    path: bytes
    size: int
    mtime_ns: int
    sidecars: bytes
    """Names, sizes and dates of the sidecars beside it; empty without any."""


@dataclass(slots=True)
class FolderWalk:
    """Iterate it for the files; afterwards it knows what was passed over."""

    root: Path
    part: bytes = b""
    """Only this folder under the root; empty for all of it."""
    hidden: bool = False
    follow_links: bool = False
    """Go where links lead out of the root; whoever made the folder then chooses what else is taken in."""
    warnings: Counter[str] = field(default_factory=Counter)
    unreachable: list[bytes] = field(default_factory=list)
    """Folders under the root that could not be looked into: what was in them is offline, not deleted."""
    _visited: set[tuple[int, int]] = field(default_factory=set)

    def __iter__(self) -> Iterator[FoundFile]:
        yield from self._folder(self.part)

    def _folder(self, under: bytes) -> Iterator[FoundFile]:
        """`under` is the folder's path from the root, empty for the root itself."""
        here = os.path.join(os.fsencode(self.root), under) if under else os.fsencode(self.root)
        folders: list[bytes] = []
        sidecars: set[bytes] = set()
        parts: set[bytes] = set()
        edited: set[str] = set()
        try:
            status = os.stat(here)
            if (status.st_dev, status.st_ino) in self._visited:
                return
            self._visited.add((status.st_dev, status.st_ino))
            # Two passes, so that memory holds the names of sidecars, parts and folders but not of all files.
            for entry in self._entries(here):
                if _may_be_sidecar(entry.name) and not self._is_refused(entry):
                    sidecars.add(entry.name)
                elif self._is_folder(entry):
                    if entry.name.lower().endswith(APPLE_LIBRARY):
                        self.warnings["Photos library, scanned by itself"] += 1
                    else:
                        folders.append(entry.name)
                elif not entry.is_symlink():
                    text = os.fsdecode(entry.name)
                    parts.update([entry.name] if may_be_part(text) else [])
                    edited.update(original_stems(text))
            parts.update(self._originals(here, edited))
            yield from self._files(here, under, sidecars, parts)
        except OSError:
            self.warnings["unreadable folder"] += 1
            self.unreachable.append(under)
            return
        for name in sorted(folders):
            yield from self._folder(os.path.join(under, name) if under else name)

    def _entries(self, here: bytes) -> Iterator[os.DirEntry[bytes]]:
        with os.scandir(here) as entries:
            for entry in entries:
                if self.hidden or not entry.name.startswith(b"."):
                    yield entry

    def _originals(self, here: bytes, stems: set[str]) -> Iterator[bytes]:
        """Of edited copies the pictures that they were made of."""
        for entry in self._entries(here) if stems else ():
            if is_original(os.fsdecode(entry.name), stems) and entry.is_file(follow_symlinks=False):
                yield entry.name

    def _files(self, here: bytes, under: bytes, sidecars: set[bytes], parts: set[bytes]) -> Iterator[FoundFile]:
        unused = sidecars | parts
        beside = _Beside({os.fsdecode(name) for name in sidecars}, by_stem(map(os.fsdecode, parts)))
        prefix = under + b"/" if under else b""
        with os.scandir(here) as entries:
            for entry in entries:
                if not self.hidden and entry.name.startswith(b"."):
                    self.warnings["hidden"] += 1
                    continue
                if entry.name in sidecars or entry.name in parts:
                    continue
                found = self._status(entry)
                if found is None:
                    continue
                mine = beside.of(entry.name)
                unused.difference_update(mine)
                yield FoundFile(prefix + entry.name, found.st_size, found.st_mtime_ns, signature_of(here, mine))
        # What belongs to no picture is a file like any other; a RAW is a picture, and may have files beside it.
        for name in sorted(unused, key=lambda name: (name in sidecars, not is_raw_name(os.fsdecode(name)), name)):
            status = os.stat(os.path.join(here, name))
            if name in unused and stat.S_ISREG(status.st_mode):
                mine = beside.of(name) if name in parts else []
                unused.difference_update(mine)
                yield FoundFile(prefix + name, status.st_size, status.st_mtime_ns, signature_of(here, mine))

    def _is_folder(self, entry: os.DirEntry[bytes]) -> bool:
        try:
            if not entry.is_symlink():
                return entry.is_dir(follow_symlinks=False)
            return self.follow_links and entry.is_dir() and not self._inside(entry.path)
        except OSError:  # A link that leads to itself; counted when the files are gone through.
            return False

    def _status(self, entry: os.DirEntry[bytes]) -> os.stat_result | None:
        """Of a regular file, or of one behind a link that may be followed out of the root; None for anything else."""
        try:
            if not entry.is_symlink():
                return entry.stat(follow_symlinks=False) if entry.is_file(follow_symlinks=False) else None
            if self._is_refused(entry):
                self.warnings[NOT_FOLLOWED] += 1
                return None
            if entry.is_file() and not self._inside(entry.path):
                return entry.stat()
            if not entry.is_file() and not entry.is_dir():
                self.warnings["broken link"] += 1
                self.unreachable.append(os.path.relpath(entry.path, os.fsencode(self.root)))
        except OSError:
            self.warnings["broken link"] += 1
        return None

    def _is_refused(self, entry: os.DirEntry[bytes]) -> bool:
        """Is it a link out of the root, to something that is there?"""
        try:
            leads = not self.follow_links and entry.is_symlink() and (entry.is_file() or entry.is_dir())
            return leads and not self._inside(entry.path)
        except OSError:
            return False

    def _inside(self, link: bytes) -> bool:
        """What a link within the root points at is met under its own name."""
        root = os.path.realpath(os.fsencode(self.root))
        return os.path.commonpath([os.path.realpath(link), root]) == root


@dataclass(frozen=True, slots=True)
class _Beside:
    """The names in a folder that may belong to a picture."""

    sidecars: set[str]
    parts: dict[str, list[str]]

    def of(self, name: bytes) -> list[bytes]:
        """The parts of a picture, and the sidecars of all of them."""
        text = os.fsdecode(name)
        parts = find_parts(text, self.parts) if self.parts else []
        named = (text, *parts) if self.sidecars else ()
        found = [beside for each in named for beside in sidecar.find_sidecars(each, self.sidecars)]
        return [os.fsencode(each) for each in dict.fromkeys([*found, *parts])]


def _may_be_sidecar(name: bytes) -> bool:
    return name[-5:].lower().endswith((b".xmp", b".json")) and sidecar.is_sidecar(os.fsdecode(name))


def signature_of(here: bytes, sidecars: list[bytes]) -> bytes:
    """`FoundFile.sidecars` of files in a folder. A name holds neither "/" nor NUL, so that they can separate."""
    parts = []
    for name in sidecars:
        status = os.stat(os.path.join(here, name))
        parts.append(b"%b\0%d\0%d" % (name, status.st_size, status.st_mtime_ns))
    return b"/".join(parts)


def sidecar_names(signature: bytes) -> tuple[bytes, ...]:
    """The names in a `FoundFile.sidecars`."""
    return tuple(part.split(b"\0")[0] for part in signature.split(b"/")) if signature else ()
