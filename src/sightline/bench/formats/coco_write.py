"""Captions as a COCO document."""

from __future__ import annotations

import logging
import os
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from sightline.bench.check import picture_path
from sightline.bench.formats.base import Content, Options
from sightline.bench.formats.beside import limited
from sightline.bench.formats.captions import captions_of
from sightline.bench.formats.picture_fields import to_fields
from sightline.bench.formats.retrieval import check_options
from sightline.bench.formats.seeds import number_or_text
from sightline.english import counted
from sightline.errors import UserError
from sightline.io import write_json
from sightline.types import Benchmark, Picture

log = logging.getLogger(__name__)


def write(content: Content, path: Path, options: Options) -> None:
    """Write the pictures and, for each relevant picture of a task that is text alone, a caption."""
    check_options(options)
    assert isinstance(content, Benchmark)
    benchmark = limited(content, options)
    captions = list(captions_of(benchmark))
    if not captions:
        raise UserError(f'"{benchmark.name}" has no caption.', "COCO holds rank tasks whose prompt is text alone")
    left_out = len(benchmark.tasks) - len({caption.task for caption in captions})
    if left_out:
        log.warning("left out: %s that are not captions", counted(left_out, "task"))
    pictures = _Numbers("picture", benchmark.corpus.pictures)
    tasks = _Numbers("task", [caption.task for caption in captions])
    annotations = [
        {
            **tasks.keys(place, caption.task),
            "image_id": pictures.number(caption.picture),
            "caption": caption.text,
            **({} if caption.grade == 1 else {"grade": caption.grade}),
        }
        for place, caption in enumerate(captions)
    ]
    licences = _Licences()
    files = _file_names(benchmark.corpus.pictures, options)
    images = [
        {**_image(picture, licences), "file_name": files[name], **pictures.keys(place, name)}
        for place, (name, picture) in enumerate(benchmark.corpus.pictures.items())
    ]
    document = {
        "info": {"description": benchmark.name, "version": benchmark.version},
        "licenses": licences.listed(),
        "images": images,
        "annotations": annotations,
    }
    write_json(path, document)


class _Numbers:
    """Whole numbers for ids: the ids themselves where each is one and comes once, else their places from 1."""

    def __init__(self, field: str, ids: Collection[str]) -> None:
        self._field = field
        own = all(isinstance(number_or_text(name), int) for name in ids)
        self._own = own and len(set(ids)) == len(ids)
        self._places = {name: place for place, name in enumerate(ids, 1)}

    def number(self, name: str) -> int:
        """The number of an id that comes once."""
        return int(name) if self._own else self._places[name]

    def keys(self, place: int, name: str) -> dict[str, Any]:
        """What names the entry at a place of the list."""
        return {"id": int(name)} if self._own else {"id": place + 1, self._field: name}


class _Licences:
    """The licences of pictures, numbered as they come."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, str], int] = {}

    def number(self, name: str, url: str) -> int:
        return self._numbers.setdefault((name, url), len(self._numbers) + 1)

    def listed(self) -> list[dict[str, Any]]:
        return [{"id": number, "name": name, "url": url} for (name, url), number in self._numbers.items()]


def _image(picture: Picture, licences: _Licences) -> dict[str, Any]:
    fields = to_fields(picture)
    name, url = fields.pop("license", None), fields.pop("license_url", "")
    if name is not None:
        fields["license"] = licences.number(name, str(url))
    if "://" in picture.uri and not picture.uri.startswith("file:"):
        fields.setdefault("coco_url", picture.uri)
    return fields


def _file_names(pictures: Mapping[str, Picture], options: Options) -> dict[str, str]:
    """Paths from the folder that holds all the pictures; of a picture elsewhere, the end of its address."""
    places = {name: picture_path(picture.uri, options.pictures or Path()) for name, picture in pictures.items()}
    folder = _common(place for place in places.values() if place is not None)
    names: dict[str, str] = {}
    for name, place in places.items():
        if place is None:
            names[name] = PurePosixPath(urlsplit(pictures[name].uri).path).name or name
        else:
            names[name] = str(place.absolute().relative_to(folder))
    return names


def _common(places: Iterable[Path]) -> Path:
    folders = [str(place.absolute().parent) for place in places]
    return Path(os.path.commonpath(folders)) if folders else Path("/")
