"""Google Takeout: the zips of an export unpacked into the workspace, and the albums that its folders are.

What is said of each picture lies beside it (metadata/sidecar.py). A picture that is in an album lies there once more,
with the same content, so that every place of a content gets the albums of all of them.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import time
import zipfile
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

import orjson

from sightline.corpus.film import FRAME
from sightline.corpus.metadata.sidecar import EXTENSIONS
from sightline.corpus.parts import PART_EXTENSIONS
from sightline.corpus.skips import VIDEOS
from sightline.corpus.store import CorpusRoot, CorpusStore
from sightline.errors import UserError, refuse_disk_fault
from sightline.io.private import private_folder
from sightline.io.temporary_files import name_beside
from sightline.io.unpacked import check_zip
from sightline.types import Json

_log = logging.getLogger(__name__)
_WANTED = frozenset({*(f".{name}" for name in (*EXTENSIONS, *PART_EXTENSIONS)), *VIDEOS, ".json"})
_NUMBERED = re.compile(r"(takeout-\d{8}T\d{6}Z(?:-\d+)?)-(\d{3,})\.zip", re.IGNORECASE)
_LARGEST_RECORD = 1 << 20
_SPARE = 1 << 30
"""Bytes of the disk that are left alone."""
_FAULTS = (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, EOFError, OSError)


@dataclass(slots=True)
class Unpacked:
    """Where the pictures of an export lie, and what could not be had of it, by reason."""

    folder: Path
    unread: Counter[str] = field(default_factory=Counter)


def unpack(archive: Path, workspace: Path) -> Unpacked:
    """Unpack an export, all the zips of it that lie beside each other; only what is not there yet is written."""
    numbered = _NUMBERED.fullmatch(archive.name)
    name = numbered[1] if numbered else archive.stem
    found = Unpacked(workspace.expanduser().absolute() / "sources" / name)
    for path in _volumes(archive, name, found) if numbered else [archive]:
        try:
            check_zip(path)
            with zipfile.ZipFile(path) as opened:
                _unpack_all(opened, found)
        except _FAULTS as error:
            refuse_disk_fault(error)
            _log.warning("%s can't be read: %s. Download it again.", path, error)
            found.unread["damaged zip"] += 1
    if not found.folder.is_dir():
        raise UserError(f"{archive} holds no picture that can be read.", "Download it again, or give another one.")
    return found


def _volumes(archive: Path, name: str, found: Unpacked) -> list[Path]:
    """The zips of one export, in order; numbers that are missing between them are told of."""
    numbers = {}
    for path in sorted(archive.parent.iterdir()):
        if (each := _NUMBERED.fullmatch(path.name)) and each[1] == name:
            numbers[int(each[2])] = path
    if missing := sorted(set(range(1, max(numbers) + 1)) - set(numbers)):
        _log.warning("%s-%03d.zip is not beside %s: its pictures are missing.", name, missing[0], archive.name)
        found.unread["missing zip"] += len(missing)
    return list(numbers.values())


def _unpack_all(opened: zipfile.ZipFile, found: Unpacked) -> None:
    wanted = [(member, target) for member in opened.infolist() if (target := _target(member, found.folder))]
    new = [(member, target) for member, target in wanted if not _is_there(member, target)]
    needed = sum(member.file_size for member, _ in new)
    if needed + _SPARE > (free := shutil.disk_usage(private_folder(found.folder)).free):
        raise UserError(
            f"{opened.filename} needs {needed / 1e9:.1f} GB, and {max(0, free - _SPARE) / 1e9:.1f} GB are free.",
            "Make room, or choose a workspace on another disk: --workspace WS.",
        )
    for member, target in new:
        try:
            _unpack(opened, member, target)
        except _FAULTS as error:
            refuse_disk_fault(error)
            _log.warning("%s: %s can't be unpacked: %s", opened.filename, member.filename, error)
            found.unread["damaged in the zip"] += 1


def _target(member: zipfile.ZipInfo, folder: Path) -> Path | None:
    """Where a picture, a film or a record goes; None for anything else, and for names that lead out of the folder."""
    path = PurePosixPath(member.filename.replace("\\", "/"))
    outside = path.is_absolute() or any(part == ".." or ":" in part or "\0" in part for part in path.parts)
    if member.is_dir() or outside or path.suffix.lower() not in _WANTED:
        return None
    return folder.joinpath(*path.parts)


def _moment(member: zipfile.ZipInfo) -> float:
    try:
        return time.mktime((*member.date_time, 0, 0, -1))
    except (OverflowError, ValueError):
        return 0.0


def _is_there(member: zipfile.ZipInfo, target: Path) -> bool:
    try:
        status = target.stat()
    except OSError:
        return False
    return status.st_size == member.file_size and status.st_mtime == _moment(member)


def _unpack(opened: zipfile.ZipFile, member: zipfile.ZipInfo, target: Path) -> None:
    private_folder(target.parent)
    part = name_beside(target)
    try:
        with opened.open(member) as source, part.open("xb") as file:
            shutil.copyfileobj(source, file, 1 << 20)
        os.utime(part, (_moment(member), _moment(member)))
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def albums(store: CorpusStore, root: CorpusRoot) -> Iterator[tuple[str, dict[str, Json]]]:
    """The albums of each picture under a root, where folders of a Takeout are some; nothing where there are none."""
    titles = _titles(store, root)
    if not titles:
        return
    rows = store.database.execute(
        """SELECT f.path, f.reader, p.sha256 FROM files AS f JOIN pictures AS p ON p.file = f.id
        WHERE f.root = ? AND f.state = 'present'""",
        (root.id,),
    ).fetchall()
    # The pictures of a film lie below it, and what is said of it is said of them.
    places = [(path.rpartition(b"/")[0] if reader == FRAME else path, sha256) for path, reader, sha256 in rows]
    of_content: dict[bytes, set[str]] = defaultdict(set)
    for path, sha256 in places:
        of_content[sha256].update(titles.get(path.rpartition(b"/")[0], ()))
    for path, sha256 in dict(places).items():
        yield str(root.path / os.fsdecode(path)), {"album": list[Json](sorted(of_content[sha256])) or None}


def _titles(store: CorpusStore, root: CorpusRoot) -> dict[bytes, set[str]]:
    """By folder, what it is called as an album: Takeout names the record in the language of the account.

    A record that was understood is not a skipped file.
    """
    rows = store.database.execute(
        """SELECT id, path FROM files WHERE root = ? AND state = 'present' AND size <= ?
        AND CAST(path AS TEXT) LIKE '%.json'""",
        (root.id, _LARGEST_RECORD),
    )
    found: dict[bytes, set[str]] = defaultdict(set)
    for file, path in rows.fetchall():
        if title := _title(root.path / os.fsdecode(path)):
            found[path.rpartition(b"/")[0]].add(title)
            store.database.execute("UPDATE files SET reason = NULL, detail = NULL WHERE id = ?", (file,))
    return found


def _title(path: Path) -> str | None:
    """What an album's record calls it; None for any other JSON file. The record of a year's folder has no date."""
    try:
        record = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return None
    if isinstance(record, dict) and isinstance(record.get("albumData"), dict):
        record = record["albumData"]
    is_album = isinstance(record, dict) and "photoTakenTime" not in record and {"title", "date"} <= set(record)
    title = record["title"] if is_album else None
    return title.strip() or None if isinstance(title, str) else None
