"""Pictures of a project as a benchmark has them: hashes in their fields, and those that look the same as groups."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from sightline.bench import picture_path
from sightline.bench.formats.retrieval import picture_uri
from sightline.config import Config
from sightline.corpus.rights import RightsMap, filled
from sightline.make.files import LOOK_ALIKE, PHASH, SHA256, look_of
from sightline.make.plan.table import Look, Table
from sightline.types import Annotation, Group, Json, Picture

_TAKEN = "taken_at"
_ADDRESS = "image_url"


def restored(picture: Picture) -> Picture:
    """What a list of pictures carries in columns, back in the picture's own fields."""
    look = _look(picture)
    extra = {name: value for name, value in picture.extra.items() if name not in (SHA256, PHASH, LOOK_ALIKE, _TAKEN)}
    if extra.get(_ADDRESS) == picture.uri:
        del extra[_ADDRESS]
    return replace(
        picture,
        sha256=picture.sha256 or look.sha256,
        phash=look.phash if picture.phash is None else picture.phash,
        taken_at=picture.taken_at or _time(picture.extra.get(_TAKEN)),
        extra=extra,
    )


def completed(pictures: Mapping[str, Picture], config: Config) -> dict[str, Picture]:
    """From the configured folder where only a web address is known, and with rights from the configured map."""
    root, mapped = config.paths.pictures, rights_of(config)
    found = {id_: _at_home(picture, root) for id_, picture in pictures.items()}
    if mapped is None:
        return found
    return {id_: replace(picture, rights=filled(picture.rights, mapped.of(id_))) for id_, picture in found.items()}


def rights_of(config: Config) -> RightsMap | None:
    """The configured rights map, ours or benchmaker's, if it is there."""
    path = config.paths.rights
    return RightsMap.read(path) if path is not None and path.is_file() else None


def look_alikes(pictures: Mapping[str, Picture], bits: int) -> tuple[Group, ...]:
    """Groups of pictures that are the same, or nearly: by their bytes, their looks, or a group that a scan found."""
    looks = {id_: _look(picture) for id_, picture in pictures.items()}
    table = Table((Annotation(id_) for id_ in pictures), looks=looks, same_bits=bits)
    members: dict[int, list[str]] = defaultdict(list)
    for id_, number in zip(table.ids, table.twins.tolist(), strict=True):
        if number >= 0:
            members[number].append(id_)
    return tuple(Group(f"same-{min(ids)}", "duplicate", tuple(ids)) for ids in members.values())


def twins_of(groups: Iterable[Group]) -> dict[str, str]:
    """The group of each picture that looks like another one."""
    return {picture: group.id for group in groups for picture in group.pictures}


def _at_home(picture: Picture, root: Path | None) -> Picture:
    if root is None or picture_path(picture.uri, root) is not None or not (root / picture.id).is_file():
        return picture
    return replace(picture, uri=picture_uri(picture.id, root))


def _look(picture: Picture) -> Look:
    said = look_of(picture.extra)
    return Look(picture.sha256 or said.sha256, said.phash if picture.phash is None else picture.phash, said.group)


def _time(value: Json) -> datetime | None:
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
