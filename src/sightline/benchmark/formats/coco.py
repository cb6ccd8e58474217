"""COCO captions and instances: one JSON document. Also the split files in which images carry their `sentences`.

| COCO | here |
|---|---|
| `images[]`: `id`, `file_name`, `width`, `height` | `Picture.id`, `uri`, `width`, `height` |
| `images[].license` with `licenses[]`: `name`, `url` | `Picture.rights.license`, `extra["license_url"]` |
| `images[].flickr_url` or `coco_url` | `Picture.rights.source` |
| other keys of an image | `Picture.extra` |
| `annotations[]` with `caption` | a `rank` task whose id is the annotation's, grade 1 for its picture |
| `annotations[]` with `category_id`, `categories[]` | tags in an `Annotation` of the picture; boxes are left out |
| `images[].split`, or the file's name (`captions_val2017.json`) | label `split`; `--split` reads one |

COCO's ids are whole numbers: where ours are not, pictures and captions are numbered and keep their names as `picture`
and `task`. Several pictures of one caption, and grades other than 1, come back in the same way.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from sightline.benchmark.formats.base import Complaints, Content, Format, FormatOptions, Imported
from sightline.benchmark.formats.dataset_folder import limited, number_or_text
from sightline.benchmark.formats.pictures import from_fields, to_fields
from sightline.benchmark.formats.retrieval import (
    PictureCaption,
    caption_tasks,
    captions_of,
    check_options,
    picture_uri,
    rank_benchmark,
    shared_captions,
)
from sightline.benchmark.formats.rows import TableRow, WrongFieldError
from sightline.english import counted
from sightline.errors import UserError
from sightline.io.files import picture_path
from sightline.io.jsonl import read_json, write_json
from sightline.types import Annotation, Benchmark, Picture

log = logging.getLogger(__name__)
_NAME = re.compile(r"(?:captions|instances|image_info)_(?P<folder>(?P<split>train|val|test)[a-z-]*(?:\d{4})?)")
_LISTS = ("images", "annotations", "licenses", "categories")


def write(content: Content, path: Path, options: FormatOptions) -> None:
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


def _file_names(pictures: Mapping[str, Picture], options: FormatOptions) -> dict[str, str]:
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


def read(path: Path, options: FormatOptions) -> Imported:
    """A benchmark of the pictures, with a task for each caption and tags from instances."""
    check_options(options)
    complaints = Complaints(options)
    reader = _Reader(path, options, complaints)
    reader.read()
    tasks = caption_tasks(reader.captions)
    benchmark = rank_benchmark(path.stem, reader.pictures, tasks, options)
    notes = tuple(Annotation(name, tags=tuple(tags), by="coco") for name, tags in reader.tags.items())
    return Imported(replace(benchmark, annotations=notes), tuple(complaints.problems), shared_captions(tasks))


class _Reader:
    """The lists of a document, one after the other."""

    def __init__(self, path: Path, options: FormatOptions, complaints: Complaints) -> None:
        self._path = path
        self._options = options
        self._complaints = complaints
        self._lists = _lists(path)
        self._root = options.pictures or _picture_folder(path, self._lists["images"])
        self._licences = {values.get("id"): values for values in self._lists["licenses"]}
        self._categories = {values.get("id"): values.get("name") for values in self._lists["categories"]}
        found = _NAME.match(path.stem)
        self._split = found["split"] if found else None
        self._splits: dict[str, None] = {}
        self._names: dict[str, str | None] = {}  # By COCO's id; None for a picture of another split.
        self._texts: dict[str, str] = {}
        self.pictures: dict[str, Picture] = {}
        self.captions: list[PictureCaption] = []
        self.tags: dict[str, dict[str, None]] = {}

    def read(self) -> None:
        """Take in pictures, then what is said of them."""
        self._each("images", self._image)
        wanted = self._options.split
        if wanted is not None and wanted not in self._splits:
            known = ", ".join(self._splits) or "there are none; leave --split out"
            raise UserError(f'{self._path} has no split "{wanted}".', f"choose from: {known}")
        self._each("annotations", self._annotation)

    def _each(self, name: str, take: Callable[[TableRow], None]) -> None:
        for place, values in enumerate(self._lists[name]):
            try:
                take(TableRow(self._path, 0, values))
            except WrongFieldError as error:
                self._complaints.add(self._path, None, f"{name}.{place}.{error.field}", error.message)

    def _image(self, row: TableRow) -> None:
        number = row.id("id")
        name = row.id("picture") if "picture" in row else number
        if number in self._names or name in self.pictures:
            raise WrongFieldError("id", f'"{name}" is there twice')
        split = row.maybe_text("split") or self._split
        self._splits |= {split: None} if split else {}
        wanted = self._options.split in (None, split)
        self._names[number] = name if wanted else None
        if wanted:
            self.pictures[name] = self._picture(name, row)

    def _picture(self, name: str, row: TableRow) -> Picture:
        file = row.maybe_text("file_name") or name
        if file.startswith("/") or ".." in file.split("/"):
            raise WrongFieldError("file_name", f"expected a path from the folder of the pictures, got {file!r}")
        fields = row.rest("id", "picture", "file_name", "license")
        licence = self._licences.get(row.values.get("license"), {})
        fields |= {"license": licence.get("name"), "license_url": licence.get("url") or None}
        fields["source"] = fields.get("source") or fields.get("flickr_url") or fields.get("coco_url")
        return from_fields(name, picture_uri(file, self._root), fields)

    def _annotation(self, row: TableRow) -> None:
        number = row.id("image_id")
        if number not in self._names:
            raise WrongFieldError("image_id", f'"{number}" is not among the images')
        name = self._names[number]
        if name is None:
            return
        if "caption" in row:
            self._caption(name, row)
        elif isinstance(category := self._categories.get(row.values.get("category_id")), str):
            self.tags.setdefault(name, {})[category] = None
        else:
            raise WrongFieldError("caption", "expected a caption, or a category_id that is listed")

    def _caption(self, picture: str, row: TableRow) -> None:
        task, text = row.id("task") if "task" in row else row.id("id"), row.text("caption").strip()
        if task in self._texts and ("task" not in row or self._texts[task] != text):
            raise WrongFieldError("id", f'"{task}" is there twice')
        if picture not in self.pictures:
            raise WrongFieldError("image_id", "its image is wrong and was left out")
        self._texts[task] = text
        split = self.pictures[picture].extra.get("split") or self._split
        labels = {"split": (str(split),)} if split else {}
        self.captions.append(PictureCaption(task, picture, text, row.grade("grade") if "grade" in row else 1, labels))


def _lists(path: Path) -> dict[str, list[dict[str, Any]]]:
    content = read_json(path)
    lists = {name: content.get(name) or [] for name in _LISTS} if isinstance(content, dict) else {}
    if not lists.get("images"):
        raise UserError(f"{path} has no images.", "give a file like annotations/captions_val2017.json")
    for name, values in lists.items():
        if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
            raise UserError(f"{path}, {name}: expected a list of objects.", "is it a COCO file?")
    if any("sentences" in image for image in lists["images"]):
        return {**lists, **_from_sentences(lists["images"])}
    return lists


def _from_sentences(images: Sequence[Mapping[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """A split file in COCO's own form: `cocoid` or `imgid`, `filepath`/`filename`, and `sentences` of `raw` text."""
    known = ("cocoid", "imgid", "filepath", "filename", "sentences", "sentids")
    plain: list[dict[str, Any]] = []
    captions: list[dict[str, Any]] = []
    for image in images:
        number = image.get("cocoid", image.get("imgid"))
        file = "/".join(filter(None, (image.get("filepath"), image.get("filename"))))
        plain.append({"id": number, "file_name": file, **{k: v for k, v in image.items() if k not in known}})
        for sentence in image.get("sentences") or ():
            captions.append({"id": sentence.get("sentid"), "image_id": number, "caption": sentence.get("raw")})
    return {"images": plain, "annotations": captions}


def _picture_folder(path: Path, images: Sequence[Mapping[str, Any]]) -> Path:
    """The usual places, seen from the file: beside it, in `images`, or in the split's folder beside `annotations`."""
    first = images[0].get("file_name")
    found = _NAME.match(path.stem)
    here, above = path.parent, path.absolute().parent.parent
    places = [here, here / "images", above / "images", above, *([above / found["folder"]] if found else [])]
    return next((place for place in places if isinstance(first, str) and (place / first).is_file()), here)


FORMATS = {
    "coco": Format("coco", "COCO captions; instances as tags", read, write, writes=(Benchmark,)),
}
