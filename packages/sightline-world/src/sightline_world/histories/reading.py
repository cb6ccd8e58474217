"""The truth on disk, read back."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from sightline.errors import UserError
from sightline.io import CutOffError, LineError, PathLike, read_json, read_lines
from sightline_world.truth import Life, ShotTruth, World

TRUTH_FILE, LIFE_FILE, ADDRESS_FILE = "truth.jsonl", "life.json", "addresses.jsonl"
SCHEMA = 1


@cache
def _adapter(kind: type[Any]) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def read_world(folder: PathLike) -> World:
    """The lives that were written into a folder."""
    path = Path(folder) / LIFE_FILE
    record = read_json(path)
    if not isinstance(record, dict) or record.get("schema") != SCHEMA:
        raise UserError(f"{path} is not the truth of a world as this version writes it.", "make the world again")
    try:
        lives = _adapter(tuple[Life, ...]).validate_python(record["lives"])
    except (KeyError, ValidationError) as error:
        raise UserError(f"{path} can't be read: {error}.", "make the world again") from error
    return World(Path(folder), int(record["seed"]), lives)


def read_life(folder: PathLike) -> Life:
    """The only life in a folder."""
    world = read_world(folder)
    if len(world.lives) != 1:
        raise UserError(f"{folder} holds {len(world.lives)} lives.", "read them all with read_world")
    return world.lives[0]


def read_shots(folder: PathLike) -> Iterator[ShotTruth]:
    """What is true of each picture, event by event, as a stream."""
    return shots_in(Path(folder) / TRUTH_FILE)


def shots_in(path: Path) -> Iterator[ShotTruth]:
    """The records of a truth file."""
    for number, line in read_lines(path):
        if not line.endswith(b"\n"):
            raise CutOffError(path, number)
        try:
            yield _adapter(ShotTruth).validate_json(line)
        except ValidationError as error:
            raise LineError(path, number, str(error.errors()[0]["msg"])) from error
