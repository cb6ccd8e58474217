"""The stage `pictures`: a folder → the list of its pictures, with rights, hashes, near-duplicates and metadata.

And back: pictures of that list as a benchmark has them, with near-duplicates as groups.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from sightline.authoring import project as files
from sightline.authoring.plan_table import PictureFingerprint, PictureTable
from sightline.authoring.project import Project
from sightline.authoring.project_files import LOOK_ALIKE, PHASH, SHA256, look_of
from sightline.authoring.stage import StageResult
from sightline.benchmark.formats.benchmaker_reader import ATTRIBUTION
from sightline.benchmark.formats.retrieval import picture_uri
from sightline.config import Config
from sightline.corpus.names import path_of
from sightline.corpus.near_duplicates import chained, connected
from sightline.corpus.rights import RightsMap, filled
from sightline.corpus.scan import ScanSummary
from sightline.corpus.view import open_corpus
from sightline.errors import UserError
from sightline.io.files import picture_path
from sightline.io.jsonl import LineError, parse_line, read_lines, write_jsonl
from sightline.pictures import scan
from sightline.types import Annotation, Corpus, Group, Json, Picture

_MADE_OF_PICTURES = (files.ANNOTATIONS, files.SEEDS, files.PLAN, files.QUERIES, files.JUDGMENTS)
_TAKEN = "taken_at"
_ADDRESS = "image_url"


@dataclass(frozen=True, slots=True)
class PicturesStage:
    """Scans a folder into the workspace and lists what is in it; the folder itself is never written to."""

    folder: Path | None = None
    "The pictures; `paths.pictures` of the configuration when not given."
    name: str = "pictures"
    writes: tuple[str, ...] = (files.IMAGES,)

    def run(self, project: Project) -> StageResult:
        """List the pictures; one that can't be read is left out and counted."""
        paths = project.config.paths
        folder = self.folder or paths.pictures
        if folder is None:
            raise _no_folder(self.name)
        scanned = scan(folder, rights=paths.rights, metadata=paths.metadata, session=project.session)
        corpus = open_corpus(project.workspace)
        pictures, copies = _pictures(corpus, folder, project)
        rows = _rows(corpus, pictures, project.config)[: project.limit]
        if not rows:
            listed = ", ".join(f"{count:,} {reason}" for reason, count in scanned.skipped_here.items())
            why = f" ({listed})" if listed else ""
            raise UserError(f"{folder} holds no picture that can be read{why}.", "give a folder with pictures in it")
        _refuse_another(project, folder, rows)
        write_jsonl(project.prepare(files.IMAGES), rows)
        counts = {"pictures": len(rows), "look alike": sum(bool(row[LOOK_ALIKE]) for row in rows)}
        return StageResult(
            self.name,
            (project.path(files.IMAGES),),
            counts | ({"copies left out": copies} if copies else {}),
            dict(scanned.skipped_here),
            tuple(_warnings(scanned, rows, project)),
        )


def _no_folder(stage: str) -> UserError:
    """`make pictures` is this stage; who has a folder of that name may have meant it, or all stages of it."""
    if Path(stage).is_dir():
        return UserError(
            f'"sightline make {stage}" is the stage that lists pictures, and not the folder "{stage}".',
            f"All stages of the folder: sightline make ./{stage}. Only this one: sightline make {stage} ./{stage}.",
        )
    return UserError("there is no folder to take pictures from.", f"name it: sightline make {stage} DIR")


def _refuse_another(project: Project, folder: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """What was made of other pictures is another benchmark's; one of which nothing was made yet may be listed again."""
    path, names = project.path(files.IMAGES), project.config.columns
    if not path.is_file() or not any(project.path(name).is_file() for name in _MADE_OF_PICTURES):
        return

    def marks(row: Mapping[str, Any]) -> set[tuple[Any, Any]]:
        """By its id all that was made knows a picture; what lies there now may be another one."""
        return {(row.get(names.image_id), row.get(mark)) for mark in (names.image_url, SHA256)}

    now = set[tuple[Any, Any]]().union(*map(marks, rows))
    there = list(_readable(path))
    if there and all(now.isdisjoint(marks(row)) for row in there):
        made_of = f"{project.folder} was made of other pictures, such as {there[0].get(names.image_url)}"
        raise UserError(
            f"{made_of}; {folder} has none of them under the same id.",
            "give the new one a folder (--out) or a name of its own (benchmark.name), or take the old one away: "
            "sightline make clean --finals",
        )


def _readable(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a list that is about to be written again, whatever else is in it."""
    for number, line in read_lines(path):
        with suppress(LineError):
            row = parse_line(path, number, line)
            if isinstance(row, dict):
                yield row


def _pictures(corpus: Corpus, folder: Path, project: Project) -> tuple[list[Picture], int]:
    """The pictures below a folder, each content once under its first id, and how many copies that leaves out.

    Pools and judgments see a copy once; those that were listed before stay, for labels of them may have been paid for.
    """
    below = Path(os.path.normpath(folder.expanduser().absolute()))
    found = [picture for picture in corpus.pictures.values() if below in path_of(picture.uri).parents]
    path, name = project.path(files.IMAGES), project.config.columns.image_id
    before = {row.get(name) for row in _readable(path)} if path.is_file() else set()
    first = {picture.sha256: picture.id for picture in reversed(found)}
    kept = {picture.sha256 for picture in found if picture.id in before}
    wanted = [one for one in found if one.id in before or (one.sha256 not in kept and first[one.sha256] == one.id)]
    return wanted, len(found) - len(wanted)


def _rows(corpus: Corpus, pictures: Iterable[Picture], config: Config) -> list[dict[str, Any]]:
    alike = _look_alikes(corpus)
    shown = [(picture, alike.get(picture.id, "")) for picture in pictures]
    counts = Counter(group for _, group in shown)
    return [image_row(picture, group if counts[group] > 1 else "", config) for picture, group in shown]


def _look_alikes(corpus: Corpus) -> dict[str, str]:
    """The group of each picture that looks like another; a burst and the copies of its frames are one."""
    ids = list(corpus.pictures)
    place = {id_: at for at, id_ in enumerate(ids)}
    groups = (group for group in corpus.groups if group.kind in ("duplicate", "burst"))
    found = connected(len(ids), chained([place[id_] for id_ in group.pictures] for group in groups))
    return {ids[at]: f"like-{ids[rows[0]]}" for rows in found for at in rows.tolist()}


def image_row(picture: Picture, look_alike: str, config: Config) -> dict[str, Any]:
    """A line of `images.jsonl`: benchmaker's columns, and what tells that two pictures are the same."""
    names, rights = config.columns, picture.rights
    row: dict[str, Any] = {
        names.image_id: picture.id,
        names.image_url: picture.uri,
        names.mime_type: picture.mime,
        names.license: rights.license,
        names.doi: rights.doi,
        names.dataset: rights.source,
        ATTRIBUTION: rights.attribution,
        SHA256: picture.sha256,
        PHASH: None if picture.phash is None else f"{picture.phash:016x}",
        LOOK_ALIKE: look_alike,
        "taken_at": None if picture.taken_at is None else picture.taken_at.isoformat(),
        **picture.extra,
    }
    return {name: value for name, value in row.items() if value is not None}


def _warnings(scanned: ScanSummary, rows: list[dict[str, Any]], project: Project) -> Iterator[str]:
    unmatched = scanned.warnings.get("unmatched metadata", 0)
    if unmatched:
        example = rows[0][project.config.columns.image_id]
        yield (
            f"{project.config.paths.metadata}: {unmatched:,} rows name pictures that are not there; "
            f'an id is the path under the folder, such as "{example}"'
        )
    if project.config.publish.repo is not None:
        silent = sum(project.config.columns.license not in row for row in rows)
        if silent:
            yield (
                f"{silent:,} of {len(rows):,} pictures have no licence, and `make publish` leaves them out; "
                "set licences in the rights map (paths.rights) before you pay for labels of them"
            )
    if len(rows) == 1:
        yield "there is only one picture; a benchmark needs others to compare it with"


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
    table = PictureTable((Annotation(id_) for id_ in pictures), looks=looks, same_bits=bits)
    members: dict[int, list[str]] = defaultdict(list)
    for id_, number in zip(table.ids, table.twins.tolist(), strict=True):
        if number >= 0:
            members[number].append(id_)
    return tuple(Group(f"same-{min(ids)}", "duplicate", tuple(ids)) for ids in members.values())


def _at_home(picture: Picture, root: Path | None) -> Picture:
    if root is None or picture_path(picture.uri, root) is not None or not (root / picture.id).is_file():
        return picture
    return replace(picture, uri=picture_uri(picture.id, root))


def _look(picture: Picture) -> PictureFingerprint:
    said = look_of(picture.extra)
    return PictureFingerprint(
        picture.sha256 or said.sha256, said.phash if picture.phash is None else picture.phash, said.group
    )


def _time(value: Json) -> datetime | None:
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
