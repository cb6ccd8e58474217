"""Hugging Face imagefolder: pictures in a folder, with `metadata.{jsonl,csv,parquet}` or folders named by label.

| imagefolder | here |
|---|---|
| `file_name` (from the metadata file's folder) | `Picture.uri` and, unless there is a column `id`, `Picture.id` |
| `text` or `caption` (or `--map text=COLUMN`) | a `rank` task with grade 1 for its picture; a list gives several |
| `sha256`, `width`, `taken_at`, `license`, … | the field of that name in `Picture` or its `rights` |
| other columns | `Picture.extra` |
| a folder above the file, where there is no metadata | `Picture.extra["label"]` |
| a folder `train`, `validation` or `test` | `Picture.extra["split"]`, label `split` of its tasks; `--split` reads one |

A benchmark is written as pictures and `metadata.jsonl`, with `groups.jsonl`, `tasks.jsonl`, `truth.jsonl`, … beside
them as in a BENCH folder; those are read again. Pictures that have no row are taken in; rows whose file is missing too.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from sightline.benchmark.formats.base import Complaints, Content, Format, FormatOptions, Imported
from sightline.benchmark.formats.dataset_folder import has_tasks, limited, new_folder, read_beside, write_beside
from sightline.benchmark.formats.pictures import from_fields
from sightline.benchmark.formats.retrieval import (
    PictureCaption,
    caption_tasks,
    captions_of,
    check_options,
    finite_number,
    local_file,
    picture_uri,
    rank_benchmark,
    shared_captions,
    some,
    whole_number,
)
from sightline.benchmark.formats.rows import TableRow, WrongFieldError, checked, csv_rows, read_rows
from sightline.corpus.export import export_corpus
from sightline.corpus.names import picture_id
from sightline.english import counted
from sightline.errors import UserError
from sightline.io.jsonl import json_object, read_jsonl, write_jsonl
from sightline.types import Benchmark, Corpus, Json, Picture

SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".gif", ".bmp", ".webp", ".tif", ".tiff", ".avif", ".heic", ".heif"})
"""The endings of files that are taken for pictures."""

_METADATA = ("metadata.jsonl", "metadata.csv", "metadata.parquet")
_FILE = "file_name"
_CAPTIONS = ("text", "caption", "captions")
_OURS = {"uri", "groups", "extra"}
_NUMBERS = {"width", "height", "lat", "lon", "altitude"}
_SPLITS = {
    **dict.fromkeys(("train", "training"), "train"),
    **dict.fromkeys(("validation", "valid", "val", "dev"), "validation"),
    **dict.fromkeys(("test", "testing", "eval", "evaluation"), "test"),
}


def read(path: Path, options: FormatOptions) -> Imported:
    """A benchmark of the pictures; captions become tasks, unless tasks lie beside the pictures."""
    check_options(options)
    if not path.is_dir():
        raise UserError(f"{path} is not a folder.", "give the folder that holds the pictures and their metadata")
    complaints = Complaints(options)
    folder = _Folder(path, options)
    for file in folder.metadata:
        for row in csv_rows(file, complaints) if file.suffix == ".csv" else read_rows(file, complaints):
            with checked(row, complaints):
                folder.add_row(row)
    warnings = folder.add_unlisted()
    pictures = folder.of_split(options.split)
    tasks = caption_tasks(caption for caption in folder.captions if caption.picture in pictures)
    benchmark = rank_benchmark(path.absolute().name, pictures, tasks, options)
    if folder.has_tasks:
        benchmark = limited(read_beside(benchmark, path, complaints), options)
    return Imported(benchmark, tuple(complaints.problems), (*warnings, *shared_captions(tasks)))


class _Folder:
    """The pictures of a folder as its rows and files are read."""

    def __init__(self, root: Path, options: FormatOptions) -> None:
        self._root = root
        self._options = options
        self._listed: set[str] = set()
        self._files = [file for file in _files(root) if file.suffix.lower() in SUFFIXES]
        self.metadata = _metadata_files(root)
        self.has_tasks = has_tasks(root)
        self.pictures: dict[str, Picture] = {}
        self.captions: list[PictureCaption] = []

    def add_row(self, row: TableRow) -> None:
        """Take in what a row of metadata says."""
        file = self._file(row)
        name = row.id(self._options.column("id")) if self._options.column("id") in row else _id(file)
        if name in self.pictures:
            raise WrongFieldError("id", f'"{name}" is there twice; --map id={_FILE} goes by path')
        column = self._options.columns.get("text") or next((key for key in _CAPTIONS if key in row), None)
        captions = _captions(row, column)
        fields = _fields(row, {_FILE, self._options.column("id"), column})
        self._listed.add(_id(file))
        self._add(name, file, fields)
        if not self.has_tasks:
            labels = _split_label(self.pictures[name])
            self.captions += [
                PictureCaption(name if place == 1 else f"{name}#{place}", name, text, labels=labels)
                for place, text in enumerate(captions, 1)
            ]

    def add_unlisted(self) -> tuple[str, ...]:
        """Take in the files that no row speaks of."""
        unlisted = {_id(file): file for file in self._files if _id(file) not in self._listed}
        for name, file in unlisted.items():
            label = file.parent.name
            known = label and not self.metadata and label.lower() not in _SPLITS
            self._add(name, file, {"label": label} if known else {})
        if not (unlisted and self.metadata):
            return ()
        said = counted(len(unlisted), "picture has", "pictures have")
        return (f"{said} no row in the metadata: {some(list(unlisted))}; taken in without",)

    def of_split(self, wanted: str | None) -> dict[str, Picture]:
        """All pictures, or those of one split."""
        if wanted is None:
            return self.pictures
        if self.has_tasks:
            raise UserError(f"{self._root} has tasks over all its pictures.", "leave --split out")
        splits: defaultdict[str, dict[str, Picture]] = defaultdict(dict)
        for name, picture in self.pictures.items():
            splits[str(picture.extra.get("split", ""))][name] = picture
        if wanted not in splits:
            known = ", ".join(filter(None, splits)) or "there are none; leave --split out"
            raise UserError(f'{self._root} has no split "{wanted}".', f"choose from: {known}")
        return splits[wanted]

    def _file(self, row: TableRow) -> Path:
        """The path of a row's picture from the root."""
        text = row.text(_FILE).replace("\\", "/")
        given = PurePosixPath(text)
        if given.is_absolute() or ".." in given.parts or "://" in text or not given.parts:
            raise WrongFieldError(_FILE, f"expected a path inside the folder, got {text!r}")
        return row.file.parent.relative_to(self._root) / given

    def _add(self, name: str, file: Path, fields: dict[str, Json]) -> None:
        folders = (folder.lower() for folder in file.parts[:-1])
        split = next((_SPLITS[folder] for folder in folders if folder in _SPLITS), None)
        if split is not None:
            fields.setdefault("split", split)
        root = self._options.pictures or self._root
        self.pictures[name] = from_fields(name, picture_uri(str(file), root), fields)


def _id(file: Path) -> str:
    return picture_id(os.fsencode(file))


def _files(root: Path) -> Iterator[Path]:
    """The visible files under a folder, in order, as paths from it."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith("."):
                yield (Path(folder) / name).relative_to(root)


def _metadata_files(root: Path) -> list[Path]:
    found = sorted(file for name in _METADATA for file in root.rglob(name))
    kinds = sorted({file.suffix for file in found})
    if len(kinds) > 1:
        raise UserError(f"{root} has metadata of several kinds: {', '.join(kinds)}.", "keep one kind of them")
    return found


def _captions(row: TableRow, column: str | None) -> tuple[str, ...]:
    value = row.values.get(column) if column is not None else None
    texts = value if isinstance(value, list) else [] if value is None else [value]
    if not all(isinstance(text, str) for text in texts):
        raise WrongFieldError(str(column), f"expected text or a list of texts, got {value!r:.60}")
    return tuple(text for text in texts if text.strip())


def _fields(row: TableRow, known: set[str | None]) -> dict[str, Json]:
    """What a row says of its picture; in metadata of ours `extra` is JSON, and `uri` is where the picture came from."""
    fields = row.rest(*filter(None, known))
    if row.values.keys() >= _OURS:
        fields = {**_extra(row), **{key: value for key, value in fields.items() if key not in _OURS}}
    for key in _NUMBERS & fields.keys():  # A CSV file has only text.
        number = whole_number(fields[key]) if key in ("width", "height") else finite_number(fields[key])
        fields[key] = fields[key] if number is None else number
    return fields


def _extra(row: TableRow) -> dict[str, Json]:
    text = row.maybe_text("extra") or "{}"
    extra = json_object(text)
    if extra is None:
        raise WrongFieldError("extra", f"expected a JSON object, got {text!r:.60}")
    return extra


def _split_label(picture: Picture) -> dict[str, tuple[str, ...]]:
    split = picture.extra.get("split")
    return {"split": (split,)} if isinstance(split, str) else {}


def write(content: Content, path: Path, options: FormatOptions) -> None:
    """Write a corpus, or a benchmark with its tasks beside the pictures; all pictures must be here."""
    check_options(options)
    with new_folder(path, _METADATA[0]) as folder:
        if isinstance(content, Benchmark):
            content = limited(content, options)
            export_corpus(_on_this_machine(content, options), "imagefolder", folder)
            _add_captions(content, folder / _METADATA[0])
            write_beside(content, folder)
        else:
            assert isinstance(content, Corpus)
            export_corpus(content, "imagefolder", folder)


def _on_this_machine(benchmark: Benchmark, options: FormatOptions) -> Corpus:
    """The corpus with the files that its pictures lie in."""
    pictures = benchmark.corpus.pictures
    places = {name: local_file(picture, options) for name, picture in pictures.items()}
    missing = [name for name, place in places.items() if place is None]
    if missing:
        said = counted(len(missing), "picture is", "pictures are")
        raise UserError(f"{said} not here: {some(missing)}.", "an image folder holds the pictures themselves")
    found = {
        name: replace(pictures[name], uri=picture_uri(str(place), Path())) for name, place in places.items() if place
    }
    return replace(benchmark.corpus, pictures=found)


def _add_captions(benchmark: Benchmark, metadata: Path) -> None:
    """A column `text` for those who look for captions, where the tasks are captions."""
    texts: dict[str, list[str]] = defaultdict(list)
    for caption in captions_of(benchmark):
        texts[caption.picture].append(caption.text)
    if not texts:
        return
    single = all(len(of_picture) == 1 for of_picture in texts.values())

    def rows() -> Iterator[Any]:
        for _, row in read_jsonl(metadata):
            found = texts.get(row["id"], [])
            yield {**row, "text": found if not single else found[0] if found else None}

    write_jsonl(metadata, rows())


FORMATS = {
    "imagefolder": Format(
        "imagefolder", "Hugging Face image folder with metadata", read, write, writes=(Benchmark, Corpus)
    ),
}
