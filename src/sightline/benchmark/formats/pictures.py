"""Pictures in other tools' files: as flat fields of a row, inside a table (`{bytes, path}` cells), shown by queries.

Pictures that queries show are found in the corpus, or kept apart from it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

from pydantic import ValidationError

from sightline.benchmark.files import HEADER, PICTURES
from sightline.benchmark.folder import open_benchmark
from sightline.benchmark.formats.base import FormatOptions
from sightline.benchmark.formats.retrieval import local_file, picture_uri
from sightline.benchmark.problems import stop
from sightline.benchmark.records import PictureRecord, RightsRecord
from sightline.config import Config
from sightline.corpus.pixels import MissingDecoderError, RefusedError, identify, load_small, open_picture
from sightline.english import counted
from sightline.errors import explained
from sightline.io.files import picture_path, write_whole
from sightline.types import Benchmark, Group, Json, Picture, PictureRef, Scope, Task

_RIGHTS = tuple(RightsRecord.model_fields)
_OWN = tuple(name for name in PictureRecord.model_fields if name not in ("id", "uri", "rights", "extra"))
FIELDS = (*_OWN, *_RIGHTS)
"""The names of the fields, each as in `pictures.jsonl`; those of `rights` stand beside the others."""
_UNSAFE = re.compile(r'[\x00-\x1f\x7f"*:<>?\\|%]')
_PICTURE = re.compile(r"\.(?:jpe?g|png|gif|bmp|webp|tiff?|avif|heic|heif)$", re.IGNORECASE)
CORPUS = "corpus"
"""The group of the pictures that may be returned, where queries show others."""


def to_fields(picture: Picture) -> dict[str, Any]:
    """What is known of a picture but its id and address; its own fields win over an extra of the same name."""
    record = PictureRecord.from_picture(picture).model_dump(mode="json", exclude_none=True)
    return {**record["extra"], **{name: record[name] for name in _OWN if name in record}, **record.get("rights", {})}


def from_fields(name: str, uri: str, fields: Mapping[str, Json]) -> Picture:
    """A picture from such fields; what is unknown, or does not fit the field of its name, is kept as an extra."""
    known = {key: value for key, value in fields.items() if key in FIELDS and value is not None}
    while True:
        try:
            picture = _record(name, uri, known).to_picture()
        except ValidationError as error:
            misfits = {str(detail["loc"][-1]) for detail in error.errors(include_url=False)}
            known = {key: value for key, value in known.items() if key not in misfits}
        else:
            break
    extra = {key: value for key, value in fields.items() if key not in known and value is not None}
    return replace(picture, extra=extra)


def _record(name: str, uri: str, known: Mapping[str, Json]) -> PictureRecord:
    own = {key: value for key, value in known.items() if key in _OWN}
    rights = {key: value for key, value in known.items() if key in _RIGHTS}
    return PictureRecord.model_validate({"id": name, "uri": uri, **own, "rights": rights or None})


class EmbeddedPictures:
    """Finds or makes a place for each picture of a table; with option `extract=DIR` their bytes are written there.

    Where the pictures are said to be in a benchmark's folder, they lie where that one has them.
    """

    def __init__(self, options: FormatOptions, folder: Path, where: str = "the table") -> None:
        target = options.extra.get("extract")
        self._target = None if target is None else Path(target).expanduser()
        self._root = options.pictures or folder
        self._lie = dict(_places(self._root)) if (self._root / HEADER).is_file() else {}
        self._where = where
        self._inside = 0
        self._names: dict[str, str] = {}

    def picture(self, name: str, cell: Any, **known: Any) -> Picture:
        """The picture of that id; `cell` is what the table's picture column holds."""
        content, path = _content(cell)
        if content is None:
            return Picture(name, self._lie.get(name) or picture_uri(path or name, self._root), **known)
        known["sha256"] = hashlib.sha256(content).hexdigest()
        if self._target is None:
            self._inside += 1
            return Picture(name, picture_uri(path or name, self._root), **known)
        place = self._target / self._name(name, path, content)
        with explained(f"{place.parent} can't be made", "choose another folder"):
            place.parent.mkdir(parents=True, exist_ok=True)
        write_whole(place, content)
        return Picture(name, picture_uri(str(place.absolute()), place.parent), **known)

    def _name(self, name: str, path: str | None, content: bytes) -> str:
        found = file_name(name, path, content)
        if self._names.setdefault(found, name) == name:
            return found
        return f"{hashlib.sha256(name.encode()).hexdigest()[:16]}/{found}"

    def warnings(self) -> tuple[str, ...]:
        """What the user should know: pictures that only the table holds."""
        if not self._inside:
            return ()
        said = counted(self._inside, "picture is", "pictures are")
        return (f"{said} inside {self._where}; add --option extract=DIR to have them as files",)


def _places(bench: Path) -> Iterator[tuple[str, str]]:
    """Each picture of a benchmark with where it lies."""
    for _, picture in open_benchmark(bench, stop).source.rows(PICTURES):
        place = picture_path(picture.uri, bench)
        yield picture.id, picture.uri if place is None else picture_uri(str(place), bench)


def file_name(name: str, path: str | None, content: bytes) -> str:
    """A relative path for a picture, never outside its folder, with an ending that fits its content."""
    safe = "/".join(_component(part) for part in PurePosixPath(name).parts if part != "/")
    if _PICTURE.search(safe):
        return safe
    if path is not None and (given := _PICTURE.search(path)):
        return safe + given[0].lower()
    ending = ending_of(content)
    return safe if ending == _NO_PICTURE else f"{safe}.{ending}"


def image_cell(picture: Picture, options: FormatOptions) -> dict[str, Any] | None:
    """The cell of a picture: its bytes and a name, or None if the file is not here."""
    file = local_file(picture, options)
    if file is None:
        return None
    with explained(f"{file} can't be read", "check who may read it"):
        return {"bytes": file.read_bytes(), "path": picture.id}


def _component(part: str) -> str:
    return part.replace(".", "%2E") if part == ".." else _UNSAFE.sub(lambda found: quote(found[0], safe=""), part)


def _content(cell: Any) -> tuple[bytes | None, str | None]:
    if isinstance(cell, Mapping):
        content, path = cell.get("bytes"), cell.get("path")
        return content if isinstance(content, bytes) else None, path if isinstance(path, str) and path else None
    if isinstance(cell, bytes):
        return cell, None
    return None, cell if isinstance(cell, str) and cell else None


class QueryPictures:
    """Turns the pictures of queries into references, and adds those that the corpus does not have to `pictures`."""

    def __init__(self, pictures: dict[str, Picture]) -> None:
        self._pictures = pictures
        self._corpus = tuple(pictures)
        self._known: dict[str, str] | None = None

    def ref(self, picture: Picture) -> PictureRef:
        """The same picture of the corpus (by its content, else by its address), or this one as a new one."""
        if self._known is None:
            self._known = {_identity(known): name for name, known in self._pictures.items()}
        name = self._known.get(_identity(picture))
        if name is None:
            name = picture.id if picture.id not in self._pictures else f"queries/{picture.id}"
            self._pictures[name] = replace(picture, id=name)
            self._known[_identity(picture)] = name
        return PictureRef(name)

    def keep_apart(self, benchmark: Benchmark) -> Benchmark:
        """The benchmark in which a picture that only a query shows can't be an answer."""
        if len(self._corpus) == len(self._pictures):
            return benchmark
        corpus = replace(benchmark.corpus, groups=(Group(CORPUS, "dataset", self._corpus),))
        tasks = {name: _within_corpus(task) for name, task in benchmark.tasks.items()}
        return replace(benchmark, corpus=corpus, tasks=tasks)


def _identity(picture: Picture) -> str:
    return picture.sha256 or picture.uri


def _within_corpus(task: Task) -> Task:
    return task if task.scope != Scope() else replace(task, scope=Scope(groups=(CORPUS,)))


_ENDINGS = {"JPEG": "jpg", "TIFF": "tif", "HEIF": "heic", "RAW": "bin"}  # Others are called as their format is.
_NO_PICTURE = "bin"


def why_no_picture(content: bytes, *, decode: bool = False) -> str | None:
    """Why these bytes are refused as a picture; None if they are one, also when its decoder is not installed.

    Only with `decode` is the whole of it looked at, and found out when it ends too early.
    """
    try:
        with open_picture(content, _most_pixels()) as image:
            if decode:
                load_small(image, content, _most_pixels())
    except MissingDecoderError:
        return None
    except RefusedError as error:
        return f"expected a picture: {error}"
    return None


def ending_of(content: bytes) -> str:
    """The usual ending of a file with this content."""
    found = identify(content[:64])
    return _NO_PICTURE if found is None else _ENDINGS.get(found, found.lower())


@cache
def _most_pixels() -> int:
    return Config().scan.max_pixels
