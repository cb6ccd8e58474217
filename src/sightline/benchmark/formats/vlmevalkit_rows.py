"""A row of a VLMEvalKit file as a task and its truth.

Its picture cells hold base64, lists of it, the index of another row, or paths.
"""

from __future__ import annotations

import ast
import base64
import binascii
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from string import ascii_uppercase
from typing import NamedTuple
from zipfile import BadZipFile

from sightline.benchmark.formats.base import Complaints, FormatOptions
from sightline.benchmark.formats.dataset_folder import labelled
from sightline.benchmark.formats.pictures import EmbeddedPictures, ending_of, file_name, why_no_picture
from sightline.benchmark.formats.retrieval import picture_uri
from sightline.benchmark.formats.rows import TableRow, WrongFieldError, csv_rows
from sightline.errors import UserError, needs_extra
from sightline.io.files import sha256_of
from sightline.io.unpacked import check_zip
from sightline.types import Answer, Choice, Option, Part, Picture, PictureRef, Task, Truth

LABELS = ("category", "l2-category", "split")
_PICTURES = ("image", "image_path")
_MARKER = re.compile(r"<image (\d+)>")
_LONGEST_LIST = 1 << 20
# Up to this length the tool itself takes a cell for the index of the row that holds the picture.
_LONGEST_INDEX = 64
_BASE64 = re.compile(r"[A-Za-z0-9+/=]{32,}")


class QuestionRow(NamedTuple):
    """A task and what is true of it, if the file says so."""

    task: Task
    truth: Truth | None


def open_rows(path: Path, complaints: Complaints) -> Iterator[TableRow]:
    """The rows of a TSV, CSV or Excel file."""
    if path.suffix == ".xlsx":
        return _xlsx_rows(path)
    return csv_rows(path, complaints, delimiter="," if path.suffix == ".csv" else "\t")


def _xlsx_rows(path: Path) -> Iterator[TableRow]:
    with needs_extra("reading Excel files", "excel"):
        import openpyxl
        from openpyxl.utils.exceptions import InvalidFileException
    try:
        check_zip(path, "save it as .tsv")
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    except (InvalidFileException, BadZipFile, OSError, KeyError, ValueError) as error:
        raise UserError(f"{path} can't be read as Excel: {error}.", "save it again, or as .tsv") from error
    rows = enumerate(book.active.iter_rows(values_only=True), 1)
    _, header = next(rows, (0, ()))
    for number, cells in rows:
        values = {
            str(name): None if cell is None else str(cell) for name, cell in zip(header, cells, strict=False) if name
        }
        if any(value is not None for value in values.values()):
            yield TableRow(path, number, values)
    book.close()


def texts_of(cell: str | None) -> list[str]:
    """The texts of a cell: itself, or the items of a list as Python or JSON writes it."""
    if cell is None:
        return []
    if cell.startswith("[") and cell.endswith("]") and len(cell) <= _LONGEST_LIST:
        try:
            items = ast.literal_eval(cell)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return [cell]
        if isinstance(items, list) and all(isinstance(item, str | int | float) for item in items):
            return [str(item) for item in items]
    return [cell]


def question_of(row: TableRow, pictures: Sequence[str], options: FormatOptions) -> QuestionRow:
    """The task of a row that shows these pictures."""
    column = options.column
    refs = [PictureRef(picture) for picture in pictures]
    question, hint = row.text(column("question")), row.maybe_text(column("hint"))
    choices = tuple(Option(key, parts_of(row.text(key), refs)) for key in ascii_uppercase if key in row)
    parts = parts_of(question if hint is None else f"{hint}\n{question}", refs)
    shown = {part for content in (parts, *(choice.content for choice in choices)) for part in content}
    names = [name for name in _label_names(options) if column(name) in row.values]
    labels = {name: texts_of(row.maybe_text(column(name))) for name in names}
    known = {column(name) for name in ("index", "question", "answer", "prediction", *_PICTURES, *names)}
    extra = {key: value for key, value in row.rest(*known, *ascii_uppercase).items() if value is not None}
    task = Task(
        id=row.id(column("index")),
        kind="choose" if choices else "answer",
        prompt=(*(ref for ref in refs if ref not in shown), *parts),
        options=choices,
        labels={name: tuple(values) or labelled(None) for name, values in labels.items()},
        extra=extra,
    )
    return QuestionRow(task, _truth(row, column("answer"), choices))


def _label_names(options: FormatOptions) -> Sequence[str]:
    more = options.extra.get("labels", "")
    return (*LABELS, *filter(None, (name.strip() for name in more.split(","))))


def parts_of(text: str, refs: Sequence[PictureRef]) -> tuple[Part, ...]:
    """Text with pictures at the places where `<image 1>` names them; other markers stay text."""
    parts: list[Part] = []
    at = 0
    for found in _MARKER.finditer(text):
        if 1 <= int(found[1]) <= len(refs):
            parts += [*([text[at : found.start()]] if found.start() > at else []), refs[int(found[1]) - 1]]
            at = found.end()
    return (*parts, *([text[at:]] if text[at:] or not parts else []))


def text_of(parts: Sequence[Part], numbers: Mapping[str, int]) -> str:
    """The inverse of `parts_of`; `numbers` are the places of the pictures."""
    return "".join(part if isinstance(part, str) else f"<image {numbers[part.id]}>" for part in parts)


def _truth(row: TableRow, field: str, choices: Sequence[Option]) -> Truth | None:
    answers = texts_of(row.maybe_text(field))
    if not answers:
        return None
    if not choices:
        return Answer(answers[0], tuple(answers[1:]))
    said = answers[0].strip()
    for choice in choices:
        if said.upper() == choice.key or said == choice.text.strip():
            return Choice(choice.key)
    keys = ", ".join(choice.key for choice in choices)
    raise WrongFieldError(field, f"expected one of {keys}, got {said!r:.60}")


class CellPictures:
    """The pictures of rows; those inside the file are written out if the options say where."""

    def __init__(self, options: FormatOptions, folder: Path) -> None:
        target = options.extra.get("extract") or options.pictures
        self._target = None if target is None else Path(target).expanduser()
        extract = {} if target is None else {"extract": str(target)}
        self._embedded = EmbeddedPictures(replace(options, extra=extract), folder)
        self._root = options.pictures or folder
        self._options = options
        self._of_row: dict[str, tuple[str, ...]] = {}
        self._same_as: dict[str, str] = {}
        self._by_content: dict[str, str] = {}
        self.found: dict[str, Picture] = {}

    def add(self, index: str, row: TableRow) -> None:
        """Take in what a row's cells hold."""
        image, path = self._options.column("image"), self._options.column("image_path")
        cell, paths = row.maybe_text(image), texts_of(row.maybe_text(path))
        if cell is None:
            for name in paths:
                self.found.setdefault(name, Picture(name, picture_uri(name, self._root)))
            self._of_row[index] = tuple(paths)
        elif len(cell) <= _LONGEST_INDEX:
            self._same_as[index] = cell
        else:
            contents = [self._decoded(text, image) for text in _codes(cell)]
            if not contents:
                raise WrongFieldError(image, "expected pictures in base64")
            names = paths if len(paths) == len(contents) else [None] * len(contents)
            self._of_row[index] = tuple(
                self._picture(name or _usual_name(index, place, contents), content, image)
                for place, (name, content) in enumerate(zip(names, contents, strict=True), 1)
            )

    def of_row(self, index: str) -> tuple[str, ...]:
        """The ids of a row's pictures; after all rows were added."""
        other = self._same_as.get(index)
        if other is not None and other not in self._of_row:
            expected = f'expected a picture in base64, or the index of a row that has one, got "{other}"'
            raise WrongFieldError(self._options.column("image"), expected)
        return self._of_row.get(index if other is None else other, ())

    def warnings(self) -> tuple[str, ...]:
        """What the user should know."""
        return self._embedded.warnings()

    def _decoded(self, text: str, field: str) -> bytes:
        try:
            content = base64.b64decode(text, validate=True)
        except binascii.Error as error:
            raise WrongFieldError(field, f"expected base64: {error}") from None
        refusal = why_no_picture(content, decode=True)
        if refusal is not None:
            raise WrongFieldError(field, refusal)
        return content

    def _picture(self, name: str, content: bytes, field: str) -> str:
        """The id of a picture; the same content has one id."""
        sha256 = hashlib.sha256(content).hexdigest()
        if sha256 in self._by_content:
            return self._by_content[sha256]
        if name in self.found:
            raise WrongFieldError(field, f'"{name}" is another picture in an earlier row')
        path = file_name(name, None, content)
        place = None if self._target is None else self._target / path
        if place is not None and place.is_file() and sha256_of(place) != sha256:
            raise WrongFieldError(field, f"{place} is there already, and is another picture")
        self.found[name] = self._embedded.picture(name, {"bytes": content, "path": path})
        self._by_content[sha256] = name
        return name


def _codes(cell: str) -> list[str]:
    """The base64 texts of a cell: of a list, else one, which may be broken into lines or begin as a data address."""
    if cell.startswith("["):
        return _BASE64.findall(cell)
    return ["".join(cell.rpartition(";base64,")[2].split())]


def _usual_name(index: str, place: int, contents: list[bytes]) -> str:
    numbered = index if len(contents) == 1 else f"{index}_{place}"
    return f"{numbered}.{ending_of(contents[place - 1])}"
