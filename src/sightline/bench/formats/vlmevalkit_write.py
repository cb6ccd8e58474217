"""Questions as a VLMEvalKit file."""

from __future__ import annotations

import base64
import csv
import io
import json
import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from sightline.bench.check import picture_path
from sightline.bench.formats.base import Content, Options
from sightline.bench.formats.beside import limited
from sightline.bench.formats.retrieval import check_options, local_file
from sightline.bench.formats.seeds import UNLABELLED
from sightline.bench.formats.vlmevalkit_rows import LABELS, text_of
from sightline.english import counted
from sightline.errors import UserError
from sightline.io import write_lines
from sightline.types import Answer, Benchmark, Choice, PictureRef, Task, Truth

log = logging.getLogger(__name__)


def write(content: Content, path: Path, options: Options) -> None:
    """Write the choose and answer tasks; pictures in base64 if all of them are here, else by path."""
    check_options(options)
    assert isinstance(content, Benchmark)
    benchmark = limited(content, options)
    tasks = [task for task in benchmark.tasks.values() if task.kind in ("choose", "answer")]
    if not tasks:
        raise UserError(f'"{benchmark.name}" has no choose or answer task.', "this format holds no other kinds")
    others = Counter(task.kind for task in benchmark.tasks.values() if task.kind not in ("choose", "answer"))
    if others:
        log.warning("left out: %s", ", ".join(counted(number, f"{kind} task") for kind, number in others.items()))
    rows = _Rows(benchmark, tasks, options)
    write_lines(path, rows.lines())


class _Rows:
    """The rows of the file; `image` is a column only if every picture is on this machine."""

    def __init__(self, benchmark: Benchmark, tasks: Sequence[Task], options: Options) -> None:
        self._pictures = benchmark.corpus.pictures
        self._options = options
        self._rows = [(task, _fields(task, benchmark.truth.get(task.id))) for task in tasks]
        missing = {name for task in tasks for name in _shown(task) if self._file(name) is None}
        if missing:
            said = counted(len(missing), "picture is", "pictures are")
            log.warning("%s not here; all are written by path (image_path)", said)
        used = dict.fromkeys(name for _, fields in self._rows for name in fields)
        letters = [letter for letter in ascii_uppercase if letter in used]
        pictures = ("image_path",) if missing else ("image", "image_path")
        usual = [name for name in ("hint", "question", *letters, "answer", *LABELS) if name in used]
        self._columns = ["index", *pictures, *usual, *(name for name in used if name not in usual)]

    def lines(self) -> Iterator[bytes]:
        """The header, then a line for each task."""
        yield _line(self._columns)
        for task, fields in self._rows:
            shown = _shown(task)
            row = {"index": task.id, "image_path": [self._path(name) for name in shown], **fields}
            if "image" in self._columns:
                row["image"] = [self._code(name) for name in shown]
                row["image_path"] = shown
            yield _line([_cell(row.get(name)) for name in self._columns])

    def _file(self, name: str) -> Path | None:
        return local_file(self._pictures[name], self._options)

    def _code(self, name: str) -> str:
        file = self._file(name)
        assert file is not None
        return base64.b64encode(file.read_bytes()).decode()

    def _path(self, name: str) -> str:
        uri = self._pictures[name].uri
        place = picture_path(uri, self._options.pictures or Path())
        return uri if place is None else str(place.absolute())


def _shown(task: Task) -> list[str]:
    """The pictures of a prompt and its options, each once."""
    parts = (*task.prompt, *(part for option in task.options for part in option.content))
    return list(dict.fromkeys(part.id for part in parts if isinstance(part, PictureRef)))


def _fields(task: Task, truth: Truth | None) -> dict[str, Any]:
    """The columns of a task but its index and pictures."""
    numbers = {name: place for place, name in enumerate(_shown(task), 1)}
    if len(task.options) > len(ascii_uppercase):
        raise UserError(f'task "{task.id}" has {len(task.options)} options.', "this format has the letters A to Z")
    letters = dict(zip((option.key for option in task.options), ascii_uppercase, strict=False))
    question = task.text if _pictures_first(task) else text_of(task.prompt, numbers)
    hint = task.extra.get("hint")
    extra = {name: value for name, value in task.extra.items() if name != "hint"}
    if isinstance(hint, str) and question.startswith(f"{hint}\n"):
        extra, question = {"hint": hint, **extra}, question.removeprefix(f"{hint}\n")
    labels = {name: [value for value in values if value != UNLABELLED] for name, values in task.labels.items()}
    options = {letters[option.key]: text_of(option.content, numbers) for option in task.options}
    return {**extra, **labels, "question": question, **options, "answer": _answer(truth, letters)}


def _pictures_first(task: Task) -> bool:
    """Is the prompt pictures, then text? Then no marker is needed, as long as no option shows a picture."""
    kinds = [isinstance(part, PictureRef) for part in task.prompt]
    in_options = any(isinstance(part, PictureRef) for option in task.options for part in option.content)
    return not in_options and kinds == sorted(kinds, reverse=True)


def _answer(truth: Truth | None, letters: Mapping[str, str]) -> str | list[str] | None:
    match truth:
        case Choice(option):
            return None if option is None else letters.get(option, option)
        case Answer(text, aliases):
            return [text, *aliases]
        case _:
            return None


def _cell(value: Any) -> str:
    """Text as it is, one item of a list alone, everything else as JSON, which Python reads as well."""
    if isinstance(value, list) and len(value) <= 1:
        value = value[0] if value else None
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False)


def _line(cells: Sequence[str]) -> bytes:
    text = io.StringIO()
    csv.writer(text, delimiter="\t", lineterminator="\n").writerow(cells)
    return text.getvalue().encode()
