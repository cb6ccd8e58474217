"""Files and folders that appear whole or not at all."""

from __future__ import annotations

import csv
import hashlib
import io
import os
import shlex
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TypeAlias
from urllib.parse import unquote_to_bytes, urlsplit

from sightline.errors import UserError, explained
from sightline.io.temporary_files import folder_beside, is_temporary, name_beside

PathLike: TypeAlias = str | os.PathLike[str]


def as_path(given: object, what: str, fix: str = "Give it as a string or a pathlib.Path.") -> Path:
    """A path that a caller gave, `~` expanded; refuses what is none: `what` names what was expected."""
    if not isinstance(given, str | os.PathLike) or not str(given) or "\0" in str(given):
        shown = f"{given!r:.60}" if isinstance(given, str | int | float | None) else f"a {type(given).__name__}"
        raise UserError(f"Expected the path of {what}, got {shown}.", fix)
    return Path(os.fsdecode(given)).expanduser()


def path_in_command(folder: Path | None, unknown: str = "BENCH") -> str:
    """A folder as a command can be given it from here; `unknown` where it lies elsewhere on this machine.

    What a page or a file says to others holds no path of this machine.
    """
    here = Path.cwd()
    if folder is None or not folder.absolute().is_relative_to(here):
        return unknown
    return shlex.quote(str(folder.absolute().relative_to(here)))


def picture_path(uri: str, folder: Path) -> Path | None:
    """Where a picture lies on this machine: a path (relative ones start at `folder`) or `file://`; else None."""
    if "://" not in uri:
        return folder / uri
    parts = urlsplit(uri)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return None
    return Path(os.fsdecode(unquote_to_bytes(parts.path)))  # A name need not be UTF-8.


def write_whole(path: PathLike, data: bytes | Iterable[bytes]) -> None:
    """Write a file so that a reader sees the old content or all of the new, even after a crash."""
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise UserError(f"{target} is a folder; a file is to be written there.", "choose another place")
    temporary = name_beside(target)
    file = _create(temporary, target)
    try:
        with file:
            for chunk in (data,) if isinstance(data, bytes) else data:
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def write_files(files: Mapping[Path, bytes]) -> None:
    """Write each file whole or not at all; its folder is made where it is missing."""
    for path, data in files.items():
        with explained(f"{path.parent} can't be made", "choose another place"):
            path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, data)


def csv_bytes(rows: Iterable[Mapping[str, Any]], columns: Iterable[str] = ()) -> bytes:
    """A table with these columns, and then one for every other key of any row, in the order in which they are met."""
    rows, text = list(rows), io.StringIO()
    names = dict.fromkeys((*columns, *(name for row in rows for name in row)))
    writer = csv.DictWriter(text, fieldnames=list(names), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode("utf-8", "replace")


@contextmanager
def whole_folder(
    path: PathLike, *, marker: str, owned: Collection[str] | None = None, force: bool = False
) -> Iterator[Path]:
    """A new folder to write into; it takes the place of `path` when the block ends, and vanishes if it fails.

    Only nothing, an empty folder or one that holds the file `marker` is replaced, unless `force`. Of the old
    folder the names in `owned` go and everything else is carried over; without `owned` all of it goes. What a writer
    that was killed left beside `path` goes, too.
    """
    target = Path(os.path.realpath(path))
    aside = target.with_name(f".{target.name}.sightline-before")
    _finish_earlier_swap(target, aside)
    _refuse_other_kind(target, marker, force)
    with folder_beside(target) as fresh:
        yield fresh
        if owned is not None and target.is_dir():
            _carry_over(target, fresh, owned)
        _sync_folder(fresh)
        _swap(fresh, target, aside)
    _sync_folder(target.parent)


def optional_path(given: object, what: str) -> Path | None:
    """The same where it may be left out."""
    return None if given is None else as_path(given, what)


def sha256_of(path: PathLike) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _create(temporary: Path, target: Path) -> IO[bytes]:
    with explained(f"{target} can't be written", "choose another place"):
        return temporary.open("xb")


def _refuse_other_kind(target: Path, marker: str, force: bool) -> None:
    if not target.exists():
        return
    if not target.is_dir():
        raise UserError(f"{target} is a file; a folder is to be written there.", "choose another place")
    if not force and not (target / marker).is_file() and any(target.iterdir()):
        raise UserError(
            f"{target} holds other things and no {marker}; it is left as it is.", "choose a new or an empty folder"
        )


def _carry_over(old: Path, fresh: Path, owned: Collection[str]) -> None:
    """Hard links, so that a kill at any moment leaves the old folder complete."""
    for entry in old.iterdir():
        if entry.name in owned or is_temporary(entry.name):
            continue
        kept, is_folder = fresh / entry.name, entry.is_dir() and not entry.is_symlink()
        if is_folder and kept.is_dir():
            _carry_over(entry, kept, owned=())
        elif is_folder and not kept.exists():
            shutil.copytree(entry, kept, symlinks=True, copy_function=link_or_copy)
        elif not kept.exists():
            link_or_copy(entry, kept)


def link_or_copy(source: PathLike, target: PathLike) -> None:
    """The same file under another name; a copy on a file system without hard links."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target, follow_symlinks=False)


def _swap(fresh: Path, target: Path, aside: Path) -> None:
    if not target.exists():
        fresh.rename(target)
        return
    try:
        target.rename(aside)
    except OSError as error:  # A mount point, for instance.
        raise UserError(f"{target} can't be replaced: {error.strerror}.", "write to a new folder inside it") from error
    try:
        fresh.rename(target)
    except BaseException:
        aside.rename(target)
        raise
    shutil.rmtree(aside, ignore_errors=True)


def _finish_earlier_swap(target: Path, aside: Path) -> None:
    """A kill between the two renames of a swap leaves the old folder aside: put it back, or clear it away."""
    if aside.exists() and not target.exists():
        aside.rename(target)
    elif aside.exists():
        shutil.rmtree(aside, ignore_errors=True)


def _sync_folder(folder: Path) -> None:
    if not hasattr(os, "O_DIRECTORY"):  # Windows can't sync a folder.
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
