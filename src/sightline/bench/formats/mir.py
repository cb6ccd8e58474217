"""MIR: multiple choice over several pictures interleaved with text, with five steps of reasoning.

| `all_data_rel.json` (a list; also JSON lines) | here |
|---|---|
| `id`; without it, the record's number from 1 | `Task.id` (kind `choose`) |
| `images`, `question` with `<image>` where each stands | `prompt`: text and pictures in turn |
| `options`: list (`"A. text"` or plain text) or mapping | `Task.options`; their way of writing in `Task.extra["mir"]` |
| `conclusion`: a key, an option's text, or a sentence with one | `Choice.option`, and the last step |
| `summary`, `caption` (text, or a list: one for each picture), `text2img`, `img2img`, `conclusion` | `Choice.steps` |
| `reasoning` | a step of kind `think` before them |
| `category`, `subtask` | labels of these names, else `unlabelled`; a known subtask implies its category |
| other keys | `Task.extra` |

What the keys of category and subtask are called is not published: `--map category=…` and `--map subtask=…` say so.
There must be as many `<image>` in the question and the options as `images`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from sightline.bench.formats.base import Complaints, Format, Imported, Options
from sightline.bench.formats.mir_parts import IMAGE, LIST, MAPPING, STEPS, conclusion_key, read_options
from sightline.bench.formats.mir_write import write
from sightline.bench.formats.retrieval import check_options, picture_uri
from sightline.bench.formats.rows import Row, WrongFieldError, read_rows
from sightline.bench.formats.seeds import came_from, data_file, labelled
from sightline.errors import UserError
from sightline.io import read_json
from sightline.types import Benchmark, Choice, Corpus, Json, Option, Part, Picture, PictureRef, Step, StepKind, Task

HUB = "ShellyCoder/MIRBench"
SUBTASKS = {
    "Sequential": ("Speed Comparison", "Motion Detection", "Cooking Process", "Image Puzzle"),
    "Spatial": ("Location Relationship", "Depth Relationship", "3D View", "Forced Perspective"),
    "Analytical": ("Chart Analysis", '"YES, BUT" Satire', "Weight Comparison", "Scale Blur"),
}
"""The subtasks of each category."""

_FILE = "all_data_rel.json"
_FIELDS = ("id", "images", "question", "options", "category", "subtask", *(field for _, field in STEPS))
_NO_LETTER = re.compile(r"[^a-z0-9]")


def _plain(name: str) -> str:
    return _NO_LETTER.sub("", name.lower())


_CATEGORY_OF = {_plain(name): category for category, names in SUBTASKS.items() for name in names}


def read(path: Path, options: Options) -> Imported:
    """Choose tasks, one for each record."""
    check_options(options)
    complaints = Complaints(options)
    file = data_file(path, _FILE)
    reader = _Reader(options)
    for row in _records(file, complaints):
        if len(reader.tasks) == options.limit:
            break
        try:
            reader.take(row)
        except WrongFieldError as wrong:
            complaints.add(file, *_place(file, row.line, wrong.field), wrong.message)
    root = options.pictures or file.parent
    name = options.name or "MIR"
    benchmark = Benchmark(
        name=name,
        corpus=Corpus(name, {shown: Picture(shown, picture_uri(shown, root)) for shown in reader.pictures}),
        tasks=reader.tasks,
        truth=reader.truth,
        metrics=("accuracy",),
        card={
            "description": "Multiple choice over several pictures interleaved with text.",
            "languages": ["en"],
            "source": came_from(path, "MIR", options),
        },
    )
    return Imported(benchmark, tuple(complaints.problems), tuple(_packed(root)))


def _records(file: Path, complaints: Complaints) -> Iterator[Row]:
    if not _is_list(file):
        yield from read_rows(file, complaints)
        return
    records = read_json(file)
    if not isinstance(records, list):
        raise UserError(f"{file} is not a list of records.", "expected [{…}, …], or a .jsonl file")
    for number, record in enumerate(records, 1):
        if isinstance(record, dict):
            yield Row(file, number, record)
        else:
            complaints.add(file, None, f"record {number}", f"expected an object, got {record!r:.60}")


def _is_list(file: Path) -> bool:
    return file.suffix == ".json"


def _place(file: Path, number: int, field: str) -> tuple[int | None, str]:
    """Line and field of a complaint: in a list it is the number of the record that tells where."""
    return (None, f"record {number}, {field}") if _is_list(file) else (number, field)


def _packed(root: Path) -> Iterator[str]:
    if (root / "images.zip").is_file() and not (root / "images").is_dir():
        yield f"{root / 'images.zip'} is still packed: unpack it there to have the pictures"


class _Reader:
    """Records into tasks and what is true of them."""

    def __init__(self, options: Options) -> None:
        self._at = options.column
        self._fields = tuple(map(options.column, _FIELDS))
        self.tasks: dict[str, Task] = {}
        self.truth: dict[str, Choice] = {}
        self.pictures: dict[str, None] = {}

    def take(self, row: Row) -> None:
        """Add the task of one record."""
        name = row.id(self._at("id")) if self._at("id") in row else str(row.line)
        if name in self.tasks:
            raise WrongFieldError(self._at("id"), f'"{name}" is there twice')
        images = self._images(row)
        written = read_options(row.values.get(self._at("options")), self._at("options"))
        texts = [row.text(self._at("question")), *(text for _, text in written.options)]
        prompt, *contents = _interleaved(texts, images, self._at("question"))
        options = tuple(Option(key, content) for (key, _), content in zip(written.options, contents, strict=True))
        choice = self._choice(row, options, images)
        style: dict[str, Json] = {} if written.style == MAPPING else {"options": written.style}
        if isinstance(row.values.get(self._at("caption")), list):
            style["caption"] = LIST
        self.tasks[name] = Task(
            name,
            "choose",
            prompt,
            options=options,
            labels=self._labels(row),
            extra={**row.rest(*self._fields), **({"mir": style} if style else {})},
        )
        self.truth[name] = choice
        self.pictures |= dict.fromkeys(images)

    def _images(self, row: Row) -> tuple[str, ...]:
        field = self._at("images")
        images = row.values.get(field)
        if not isinstance(images, list) or not all(isinstance(image, str) and image for image in images):
            raise WrongFieldError(field, f"expected a list of paths, got {images!r:.60}")
        return tuple(images)

    def _labels(self, row: Row) -> dict[str, tuple[str, ...]]:
        subtask = row.maybe_text(self._at("subtask"))
        category = row.maybe_text(self._at("category")) or _CATEGORY_OF.get(_plain(subtask or ""))
        return {"category": labelled(category), "subtask": labelled(subtask)}

    def _choice(self, row: Row, options: tuple[Option, ...], images: tuple[str, ...]) -> Choice:
        field = self._at("conclusion")
        said = row.text(field)
        option = conclusion_key(said, options)
        if option is None:
            keys = ", ".join(one.key for one in options)
            raise WrongFieldError(field, f"expected one of {keys} or an option's text, got {said!r:.60}")
        steps = (step for kind, name in STEPS for step in _steps(row, kind, self._at(name), images))
        return Choice(option, steps=tuple(steps))


def _steps(row: Row, kind: StepKind, field: str, images: tuple[str, ...]) -> Iterator[Step]:
    value = row.values.get(field)
    if isinstance(value, list) and kind == "caption":
        if not all(isinstance(text, str) for text in value):
            raise WrongFieldError(field, f"expected text or a list of texts, got {value!r:.60}")
        shown: list[tuple[PictureRef, ...]] = [(PictureRef(image),) for image in images]
        for place, text in enumerate(value):
            yield Step(kind, text, shown[place] if len(value) == len(shown) else ())
    elif field in row and row.text(field):
        yield Step(kind, row.text(field))


def _interleaved(texts: list[str], images: tuple[str, ...], field: str) -> Iterator[tuple[Part, ...]]:
    """Each text with its pictures in place; the pictures are taken in order, over all texts."""
    marks = sum(text.count(IMAGE) for text in texts)
    if marks != len(images):
        raise WrongFieldError(field, f"expected as many {IMAGE} as there are images ({len(images)}), got {marks}")
    left = iter(images)
    for text in texts:
        parts: list[Part] = []
        for place, words in enumerate(text.split(IMAGE)):
            parts += [PictureRef(next(left))] if place else []
            parts += [words] if words else []
        yield tuple(parts)


FORMATS = {
    "mir": Format(
        "mir", "MIR records: multiple choice over several pictures", read, write, writes=(Benchmark,), hub=HUB
    )
}
