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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from sightline.benchmark.formats.base import Complaints, Content, Format, FormatOptions, Imported
from sightline.benchmark.formats.dataset_folder import (
    chosen,
    copy_picture,
    data_file,
    inside,
    label,
    labelled,
    new_folder,
    number_or_text,
    public_benchmark,
    tasks_of,
)
from sightline.benchmark.formats.retrieval import bare_pictures, check_options
from sightline.benchmark.formats.rows import TableRow, WrongFieldError, read_rows
from sightline.errors import UserError
from sightline.io.jsonl import read_json, write_json, write_jsonl
from sightline.types import Benchmark, Choice, Corpus, Json, Option, Part, PictureRef, Step, StepKind, Task

IMAGE = "<image>"
"""Where a picture stands in a text."""

MAPPING, LIST = "mapping", "list"
"""Ways of writing options; a third is what stands before each, such as `{key}. `."""

STEPS: tuple[tuple[StepKind, str], ...] = (
    ("think", "reasoning"),
    ("summary", "summary"),
    ("caption", "caption"),
    ("text-to-region", "text2img"),
    ("region-to-region", "img2img"),
    ("conclusion", "conclusion"),
)
"""Kinds of step and the keys that they are under."""
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


@dataclass(frozen=True, slots=True)
class Written:
    """Options by key, and how they were written."""

    options: tuple[tuple[str, str], ...]
    style: str


def read_options(given: Any, field: str) -> Written:
    """Options from a list or a mapping; `"A. text"` loses its letter where every option has its own."""
    if isinstance(given, Mapping) and given and all(given):
        return Written(tuple((str(key), _text(text, f"{field}.{key}")) for key, text in given.items()), MAPPING)
    if not isinstance(given, list) or not 0 < len(given) <= len(ascii_uppercase):
        expected = f"expected a list of up to {len(ascii_uppercase)} options, or a mapping of them by key"
        raise WrongFieldError(field, f"{expected}, got {given!r:.60}")
    texts = [_text(text, f"{field}.{place}") for place, text in enumerate(given)]
    style = _before(texts)
    cut = 0 if style is None else len(style.format(key="A"))
    return Written(tuple((key, text[cut:]) for key, text in zip(ascii_uppercase, texts, strict=False)), style or LIST)


def write_options(options: Mapping[str, str], style: str) -> dict[str, str] | list[str]:
    """Options as they were written; where letters don't count up from A, only a mapping can hold them."""
    if style == MAPPING or list(options) != list(ascii_uppercase[: len(options)]):
        return dict(options)
    return [text if style == LIST else style.format(key=key) + text for key, text in options.items()]


def conclusion_key(said: str, options: tuple[Option, ...]) -> str | None:
    """The key of the option that a conclusion names: by its key, its text, or in a sentence."""
    wanted = said.strip().casefold()
    by_key = [option.key for option in options if option.key.casefold() == wanted]
    by_text = [option.key for option in options if option.text.strip().casefold() == wanted]
    if len(by_key or by_text) == 1:
        return (by_key or by_text)[0]
    from sightline.metrics.choices.parse import parse_choice  # Here, because hardly any conclusion needs it.

    return parse_choice(said, options).option


def joined(texts: Sequence[str]) -> str | None:
    """Several steps of a kind as one text."""
    return "\n".join(texts) if texts else None


def _before(texts: Sequence[str]) -> str | None:
    """What stands before each option, such as `({key}) `; None if the options have no letters."""
    found = re.match(r"([(\[]?)A([.:：、)\]]+\s*)", texts[0])
    if found is None or "{" in found[0] or "}" in found[0]:
        return None
    style = f"{found[1]}{{key}}{found[2]}"
    fits = all(text.startswith(style.format(key=key)) for key, text in zip(ascii_uppercase, texts, strict=False))
    return style if fits else None


def _text(value: Any, field: str) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise WrongFieldError(field, f"expected text, got {value!r:.60}")
    return str(value)


def write(content: Content, path: Path, options: FormatOptions) -> None:
    """Write a `.json` or `.jsonl` file where the name ends so, else a folder with it and the pictures that are here."""
    check_options(options, "pictures")
    assert isinstance(content, Benchmark)
    copies = chosen(options, "pictures", ("copy", "none")) == "copy"
    records = [
        _record(number, task, content, options) for number, task in enumerate(tasks_of(content, "choose", options), 1)
    ]
    if path.name.endswith((".jsonl", ".jsonl.gz")):
        write_jsonl(path, records)
    elif path.suffix == ".json":
        write_json(path, records)
    else:
        with new_folder(path, "all_data_rel.json") as folder:
            write_json(folder / "all_data_rel.json", records)
            shown = dict.fromkeys(image for record in records for image in record[options.column("images")])
            for name in shown if copies else ():
                copy_picture(content.corpus.pictures.get(name), inside(folder, name), options)


def _record(number: int, task: Task, benchmark: Benchmark, options: FormatOptions) -> dict[str, Any]:
    truth = benchmark.truth[task.id]
    assert isinstance(truth, Choice)
    kept = task.extra.get("mir")
    style = kept if isinstance(kept, dict) else {}
    parts = [*task.prompt, *(part for option in task.options for part in option.content)]
    texts = {option.key: _marked(option.content, task) for option in task.options}
    record: dict[str, Any] = {
        "id": None if task.id == str(number) else number_or_text(task.id),
        "images": [part.id for part in parts if isinstance(part, PictureRef)],
        "question": _marked(task.prompt, task),
        "options": write_options(texts, str(style.get("options", MAPPING))),
        "category": label(task, "category"),
        "subtask": label(task, "subtask"),
        **_step_fields(task, truth, as_list=style.get("caption") == LIST),
    }
    named = {options.column(field): value for field, value in record.items() if value is not None}
    return {**{key: value for key, value in task.extra.items() if key != "mir"}, **named}


def _step_fields(task: Task, truth: Choice, *, as_list: bool) -> dict[str, Any]:
    found: dict[str, Any] = {
        field: joined([step.text for step in truth.steps if step.kind == kind]) for kind, field in STEPS
    }
    captions = [step.text for step in truth.steps if step.kind == "caption"]
    if len(captions) > 1 or as_list:
        found["caption"] = captions
    found["conclusion"] = _conclusion(found["conclusion"], task, truth)
    return found


def _conclusion(said: str | None, task: Task, truth: Choice) -> str | None:
    """The last step as it is if the right option can be read from it, else after the option's key, else the key."""
    ways = () if said is None else (said, f"{truth.option}. {said}")
    return next((way for way in ways if conclusion_key(way, task.options) == truth.option), truth.option)


def _marked(parts: tuple[Part, ...], task: Task) -> str:
    """Parts as one text, `<image>` where a picture stands."""
    if any(isinstance(part, str) and IMAGE in part for part in parts):
        raise UserError(f'task "{task.id}" has {IMAGE} in its words, which MIR takes for a picture.', "reword it")
    return "".join(part if isinstance(part, str) else IMAGE for part in parts)


def _plain(name: str) -> str:
    return _NO_LETTER.sub("", name.lower())


_CATEGORY_OF = {_plain(name): category for category, names in SUBTASKS.items() for name in names}


def read(path: Path, options: FormatOptions) -> Imported:
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
    benchmark = public_benchmark(
        path,
        "MIR",
        options,
        Corpus("", bare_pictures(reader.pictures, options, file.parent)),
        reader.tasks,
        reader.truth,
        metrics=("accuracy",),
        description="Multiple choice over several pictures interleaved with text.",
    )
    return Imported(benchmark, tuple(complaints.problems), tuple(_packed(root)))


def _records(file: Path, complaints: Complaints) -> Iterator[TableRow]:
    if not _is_list(file):
        yield from read_rows(file, complaints)
        return
    records = read_json(file)
    if not isinstance(records, list):
        raise UserError(f"{file} is not a list of records.", "expected [{…}, …], or a .jsonl file")
    for number, record in enumerate(records, 1):
        if isinstance(record, dict):
            yield TableRow(file, number, record)
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

    def __init__(self, options: FormatOptions) -> None:
        self._at = options.column
        self._fields = tuple(map(options.column, _FIELDS))
        self.tasks: dict[str, Task] = {}
        self.truth: dict[str, Choice] = {}
        self.pictures: dict[str, None] = {}

    def take(self, row: TableRow) -> None:
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

    def _images(self, row: TableRow) -> tuple[str, ...]:
        field = self._at("images")
        images = row.values.get(field)
        if not isinstance(images, list) or not all(isinstance(image, str) and image for image in images):
            raise WrongFieldError(field, f"expected a list of paths, got {images!r:.60}")
        return tuple(images)

    def _labels(self, row: TableRow) -> dict[str, tuple[str, ...]]:
        subtask = row.maybe_text(self._at("subtask"))
        category = row.maybe_text(self._at("category")) or _CATEGORY_OF.get(_plain(subtask or ""))
        return {"category": labelled(category), "subtask": labelled(subtask)}

    def _choice(self, row: TableRow, options: tuple[Option, ...], images: tuple[str, ...]) -> Choice:
        field = self._at("conclusion")
        said = row.text(field)
        option = conclusion_key(said, options)
        if option is None:
            keys = ", ".join(one.key for one in options)
            raise WrongFieldError(field, f"expected one of {keys} or an option's text, got {said!r:.60}")
        steps = (step for kind, name in STEPS for step in _steps(row, kind, self._at(name), images))
        return Choice(option, steps=tuple(steps))


def _steps(row: TableRow, kind: StepKind, field: str, images: tuple[str, ...]) -> Iterator[Step]:
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
