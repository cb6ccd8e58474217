"""Written lives as a corpus: what the files say, in groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from sightline.io import PathLike
from sightline.types import Corpus, Group, GroupKind, Picture, Rights
from sightline_world.histories.reading import read_shots
from sightline_world.truth import ShotTruth

_RIGHTS = Rights(license="Apache-2.0", source="sightline.world")


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
