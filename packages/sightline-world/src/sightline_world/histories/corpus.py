"""Photo histories on disk read back: their truth, and as a corpus what the files say, in groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from sightline.errors import UserError
from sightline.io.files import PathLike
from sightline.io.jsonl import CutOffError, LineError, read_json, read_lines
from sightline.types import Corpus, Group, GroupKind, Picture, Rights
from sightline_world.truth import ShotTruth, SyntheticHistory, World

TRUTH_FILE, LIFE_FILE, ADDRESS_FILE = "truth.jsonl", "life.json", "addresses.jsonl"
SCHEMA = 1
_RIGHTS = Rights(license="Apache-2.0", source="sightline.world")


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
        lives = _adapter(tuple[SyntheticHistory, ...]).validate_python(record["lives"])
    except (KeyError, ValidationError) as error:
        raise UserError(f"{path} can't be read: {error}.", "make the world again") from error
    return World(Path(folder), int(record["seed"]), lives)


def read_history(folder: PathLike) -> SyntheticHistory:
    """The only life in a folder."""
    world = read_world(folder)
    if len(world.lives) != 1:
        raise UserError(f"{folder} holds {len(world.lives)} photo histories.", "read them all with read_world")
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


def corpus_of(folder: PathLike) -> Corpus:
    """The pictures of a written world with what their files and addresses say; event groups are hidden."""
    pictures: dict[str, Picture] = {}
    members: dict[tuple[GroupKind, str], list[str]] = {}
    root = (Path(folder) / "pictures").resolve()
    for shot in read_shots(folder):
        pictures[shot.id] = _picture(root, shot)
        for key in _groups_of(shot):
            members.setdefault(key, []).append(shot.id)
    groups = (
        Group(name, kind, tuple(_in_time(ids, pictures)), hidden=kind == "event")
        for (kind, name), ids in sorted(members.items())
    )
    return Corpus("world", dict(sorted(pictures.items())), tuple(groups))


def _picture(root: Path, shot: ShotTruth) -> Picture:
    return Picture(
        id=shot.id,
        uri=(root / shot.id).as_uri(),
        sha256=shot.sha256,
        width=shot.width,
        height=shot.height,
        mime="image/png" if shot.id.endswith(".png") else "image/jpeg",
        taken_at=shot.taken_at,
        lat=shot.lat,
        lon=shot.lon,
        altitude=shot.altitude,
        address=known_address(shot),
        device=shot.device,
        rights=_RIGHTS,
        extra={"owner": shot.owner},
    )


def known_address(shot: ShotTruth) -> str | None:
    """The address, for pictures that know where they were taken."""
    return shot.address if shot.lat is not None else None


def _groups_of(shot: ShotTruth) -> Iterator[tuple[GroupKind, str]]:
    yield "owner", shot.owner
    if shot.event is not None:
        yield "event", shot.event
    if shot.burst:
        yield "burst", f"burst of {shot.burst[0]}"
    if shot.duplicate_of is not None:
        yield "duplicate", f"copies of {shot.duplicate_of}"


def _in_time(ids: Iterable[str], pictures: dict[str, Picture]) -> list[str]:
    """By the clock on the wall, where it is known; then by id."""

    def key(id_: str) -> tuple[str, str]:
        when = pictures[id_].taken_at
        return (when.replace(tzinfo=None).isoformat() if when else "~", id_)

    return sorted(ids, key=key)
