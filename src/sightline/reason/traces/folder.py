"""A folder of traces: its settings, which may not change between two runs, and one writer at a time."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from sightline.errors import MissingExtraError, UserError
from sightline.io.jsonl import dump, read_json, write_json
from sightline.io.locks import HAS_FLOCK, take_lock
from sightline.io.temporary_files import is_temporary, remove_temporary_files
from sightline.plain_text import cut

if TYPE_CHECKING:  # Whoever only writes asks nobody, and starts sooner without all that asking needs.
    from sightline.reason.traces.teachers import TraceSettings

HEADER = "traces.json"
DATA = "data"
REJECTED = "rejected"
CARD = "README.md"
INDEX = "index.sqlite"
SCHEMA = 1
_PATIENCE = 5.0
_FULL = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)
_KIND = 0xFF
"""The part of an error's code that says of which kind it is."""
_SHOWN = 80

TraceFormat: TypeAlias = Literal["parquet", "jsonl"]
TRACE_FORMATS: tuple[TraceFormat, ...] = get_args(TraceFormat)


def describe(settings: TraceSettings, source: str, format_: TraceFormat) -> dict[str, Any]:
    """The header: all that a row depends on. Addresses of servers are left out: they change, and may be private."""
    prompts, verifier = settings.prompts, settings.verifier
    return {
        "schema": SCHEMA,
        "source": source,
        "format": format_,
        "teachers": [teacher.name for teacher in settings.teachers],
        "verifier": None if verifier is None else verifier.name,
        "prompts": [template.text for template in prompts.templates],
        "prompts_each": prompts.each,
        "seed": prompts.seed,
        "rules": asdict(settings.rules),
        "parameters": {name: value for name, value in settings.parameters.items() if value is not None},
    }


def shard_files(number: int, format_: str) -> tuple[str, str]:
    """Where a shard is, and what was not kept of it."""
    return f"{DATA}/train-{number:05d}.{format_}", f"{REJECTED}/rejected-{number:05d}.jsonl.gz"


def choose_format(folder: Path, wanted: TraceFormat | None) -> TraceFormat:
    """What was asked for, else what the folder has, else Parquet where it can be written."""
    begun = folder / HEADER
    if wanted is None and begun.is_file():
        found: TraceFormat = read_json(begun).get("format", "jsonl")
        return found
    has_parquet = find_spec("pyarrow") is not None
    if wanted == "parquet" and not has_parquet:
        raise MissingExtraError("writing Parquet", "parquet")
    return wanted or ("parquet" if has_parquet else "jsonl")


def prepare(folder: Path, header: dict[str, Any]) -> None:
    """Begin a folder, or go on with one that was made with the same settings."""
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file; a folder is to be written there.", "choose another place")
    begun = folder / HEADER
    if begun.is_file():
        _compare(begun, read_json(begun), header)
    elif folder.is_dir() and any(not is_temporary(entry.name) for entry in folder.iterdir()):
        raise UserError(f"{folder} holds other things and no {HEADER}.", "choose a new or an empty folder")
    with writing(begun):
        for place in (folder, folder / DATA, folder / REJECTED):
            place.mkdir(parents=True, exist_ok=True)
        if not begun.is_file():
            write_json(begun, header)


def read_header(folder: Path) -> dict[str, Any]:
    """The settings of a folder of traces."""
    path = folder / HEADER
    if not path.is_file():
        raise UserError(
            f"{folder} holds no traces.", "make some with: sightline think DIR --teacher MODEL --out FOLDER"
        )
    found = read_json(path)
    if not isinstance(found, dict) or found.get("schema") != SCHEMA:
        raise UserError(f"{path} is of another version of Sightline.", "pip install --upgrade sightline")
    return found


def discard(folder: Path, *, existed: bool) -> None:
    """Take back what was begun and holds no row: other settings may be tried at the same place."""
    for name in (CARD, INDEX, HEADER):
        (folder / name).unlink(missing_ok=True)
    for place in (folder / DATA, folder / REJECTED, *(() if existed else (folder,))):
        with suppress(OSError):  # Something else is in it.
            place.rmdir()


def _compare(path: Path, before: Any, now: dict[str, Any]) -> None:
    changed = [*_differences(before if isinstance(before, dict) else {}, now)]
    if changed:
        raise UserError(
            f"{path} was made with other settings: {', '.join(changed)}.",
            "say the same as before to go on with it, or choose another --out",
        )


def _differences(before: dict[str, Any], now: dict[str, Any], within: str = "") -> Iterator[str]:
    for name in {**before, **now}:
        was, is_ = before.get(name), now.get(name)
        if isinstance(was, dict) and isinstance(is_, dict):
            yield from _differences(was, is_, f"{name}.")
        elif was != is_:
            yield f"{within}{name} (was {_short(was)}, now {_short(is_)})"


def _short(value: Any) -> str:
    return cut(dump(value).decode().strip(), _SHOWN)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """What is written in the block is at `path`: if it can't be, as on a full disk, that is said, and how to go on."""
    try:
        yield
    except (OSError, sqlite3.OperationalError) as error:
        if isinstance(error, sqlite3.OperationalError) and getattr(error, "sqlite_errorcode", 0) & _KIND not in _FULL:
            raise
        raise not_written(path, error) from error


def not_written(path: Path, error: OSError | sqlite3.OperationalError) -> UserError:
    """What to say where something can't be written, and how to go on."""
    place, why = (error.filename, error.strerror) if isinstance(error, OSError) else (None, None)
    return UserError(
        f"{place or path} can't be written: {why or error}.",
        "make room there, and run the same command again: it goes on, replies in the journal are not paid again",
    )


@contextmanager
def only_writer(folder: Path) -> Iterator[tuple[int, ...]]:
    """Refuses a second process that would write to the same folder; gives the open files that hold it for a child."""
    with (folder / HEADER).open("rb") as file:
        until = time.monotonic() + _PATIENCE  # What a killed process had begun to write may take a moment to end.
        while not take_lock(file, wait=False):
            if time.monotonic() > until:
                raise UserError(
                    f"another process is writing to {folder}.", "wait until it ends, or choose another --out"
                )
            time.sleep(0.05)
        for place in (folder, folder / DATA, folder / REJECTED):
            remove_temporary_files(place)
        yield (file.fileno(),) if HAS_FLOCK else ()
