"""A row of a VLMEvalKit file as a task and its truth."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import NamedTuple
from zipfile import BadZipFile

from sightline.bench.formats.base import Complaints, Options
from sightline.bench.formats.csv_text import csv_rows
from sightline.bench.formats.rows import Row, WrongFieldError
from sightline.bench.formats.seeds import labelled
from sightline.errors import MissingExtraError, UserError
from sightline.types import Answer, Choice, Option, Part, PictureRef, Task, Truth

LABELS = ("category", "l2-category", "split")
_PICTURES = ("image", "image_path")
_MARKER = re.compile(r"<image (\d+)>")
_LONGEST_LIST = 1 << 20


class Question(NamedTuple):
    """A task and what is true of it, if the file says so."""

    task: Task
    truth: Truth | None


def open_rows(path: Path, complaints: Complaints) -> Iterator[Row]:
    """The rows of a TSV, CSV or Excel file."""
    if path.suffix == ".xlsx":
        return _xlsx_rows(path)
    return csv_rows(path, complaints, delimiter="," if path.suffix == ".csv" else "\t")


def _xlsx_rows(path: Path) -> Iterator[Row]:
    try:
        import openpyxl
        from openpyxl.utils.exceptions import InvalidFileException
    except ImportError:
        raise MissingExtraError("reading Excel files", "excel") from None
    try:
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
            yield Row(path, number, values)
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


def question_of(row: Row, pictures: Sequence[str], options: Options) -> Question:
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
    return Question(task, _truth(row, column("answer"), choices))


def _label_names(options: Options) -> Sequence[str]:
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


def _truth(row: Row, field: str, choices: Sequence[Option]) -> Truth | None:
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
