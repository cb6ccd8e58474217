"""The picture cells of a VLMEvalKit file: base64, lists of it, the index of another row, or paths."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from dataclasses import replace
from pathlib import Path

from sightline.bench.formats.base import Options
from sightline.bench.formats.embedded import EmbeddedPictures, file_name
from sightline.bench.formats.picture_bytes import ending_of, why_no_picture
from sightline.bench.formats.retrieval import picture_uri
from sightline.bench.formats.rows import Row, WrongFieldError
from sightline.bench.formats.vlmevalkit_rows import texts_of
from sightline.io import sha256_of
from sightline.types import Picture

# Up to this length the tool itself takes a cell for the index of the row that holds the picture.
_LONGEST_INDEX = 64
_BASE64 = re.compile(r"[A-Za-z0-9+/=]{32,}")


class CellPictures:
    """The pictures of rows; those inside the file are written out if the options say where."""

    def __init__(self, options: Options, folder: Path) -> None:
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

    def add(self, index: str, row: Row) -> None:
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
