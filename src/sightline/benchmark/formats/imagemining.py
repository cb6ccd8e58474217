"""ImageMining: questions about one picture that need looking and searching, in English and Chinese.

| `data.jsonl` | here |
|---|---|
| `id` (with gaps) | `Task.id` (kind `answer`), as text |
| `image`, `question`, `question_zh` | `prompt`: the picture, then the question; `translations["zh"]` |
| `answer`, `answer_zh` | `Answer.text`, `translations["zh"]` |
| `reasoning` | `Answer.steps`, one for each number in it, of kind `think` |
| `reasoning`, `reasoning_zh` as they are | `Task.extra["reference"]`, for the way back; never shown to a system |
| `category_l1`, `category_l2` | labels of these names |
| `difficulty_tags` | label `difficulty`, with several values |
| `need_image_before_search`, `need_image_during_search` | labels `true` or `false`, and booleans in `Task.extra` |
| other keys | `Task.extra` |

Pictures lie in `images/` beside the file. Their names are matched as they are, then without regard to case. The hub
has the same rows as Parquet with the pictures inside; the option `extract=DIR` makes files of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from sightline.benchmark.formats.base import Complaints, Content, Format, FormatOptions, Imported
from sightline.benchmark.formats.dataset_folder import (
    MAKING,
    UNLABELLED,
    chosen,
    copy_picture,
    data_files,
    inside,
    label,
    labelled,
    new_folder,
    number_or_text,
    one_picture,
    public_benchmark,
    tasks_of,
)
from sightline.benchmark.formats.pictures import EmbeddedPictures
from sightline.benchmark.formats.retrieval import check_options, picture_uri, some
from sightline.benchmark.formats.rows import TableRow, WrongFieldError, checked, read_rows
from sightline.english import counted
from sightline.io.jsonl import write_jsonl
from sightline.types import Answer, Benchmark, Corpus, Json, Picture, PictureRef, Step, Task

_AT_LINE_START = r"(?m)^[ \t]*[(（]?{n}(?:[.．、)）]|(?=[:：]))(?!\d)[:：]?"
_ANYWHERE = r"(?:(?<=\s)|(?<=[。；;])|^)[(（]?{n}[.．、)）](?!\d)"
HUB = "zai-org/ImageMining"
_FILE, _IMAGES = "data.jsonl", "images"
_FLAGS = ("need_image_before_search", "need_image_during_search")
_FIELDS = (
    "id",
    "category_l1",
    "category_l2",
    "difficulty_tags",
    "image",
    "question",
    "question_zh",
    "answer",
    "answer_zh",
    "reasoning",
    "reasoning_zh",
    *_FLAGS,
)
_BOOLS = {"yes": True, "no": False, True: True, False: False}


def split_steps(text: str) -> list[str]:
    """The steps numbered 1, 2, 3, … without their numbers; a text that is not numbered is one step.

    Numbers at the start of lines count where there are at least two of them, else numbers between words. What
    stands before the first number belongs to the first step.
    """
    places = _places(text, _AT_LINE_START)
    if len(places) < 2:
        places = _places(text, _ANYWHERE)
    if not places:
        return [text.strip()] if text.strip() else []
    ends = [start for start, _ in places[1:]] + [len(text)]
    steps = [text[after:end].strip() for (_, after), end in zip(places, ends, strict=True)]
    before = text[: places[0][0]].strip()
    if before:
        steps[0] = f"{before} {steps[0]}"
    return steps


def join_steps(steps: Sequence[str]) -> str:
    """The steps as one numbered text."""
    return "\n".join(f"{number}. {text}" for number, text in enumerate(steps, 1))


def _places(text: str, pattern: str) -> list[tuple[int, int]]:
    """Where 1, 2, 3, … stand, in this order: start and end of each number."""
    places: list[tuple[int, int]] = []
    at = 0
    while found := re.compile(pattern.replace("{n}", str(len(places) + 1))).search(text, at):
        places.append(found.span())
        at = found.end()
    return places


def read(path: Path, options: FormatOptions) -> Imported:
    """Answer tasks, one for each row."""
    check_options(options, "extract")
    complaints = Complaints(options)
    files = data_files(path, _FILE, options)
    images = _Images(options, files[0].parent)
    pictures: dict[str, Picture] = {}
    tasks: dict[str, Task] = {}
    truth: dict[str, Answer] = {}
    for row in chain.from_iterable(read_rows(file, complaints) for file in files):
        if len(tasks) == options.limit:
            break
        with checked(row, complaints):
            task = _task(row, options, tasks)
            truth[task.id] = _answer(row, options)
            tasks[task.id] = task
            shown = one_picture(task)
            pictures[shown] = images.picture(shown, row.values[options.column("image")])
    benchmark = public_benchmark(
        path,
        "ImageMining",
        options,
        Corpus("", pictures),
        tasks,
        truth,
        metrics=("answer",),
        description="Questions about one picture that need looking and searching.",
        languages=("en", "zh"),
    )
    return Imported(benchmark, tuple(complaints.problems), tuple(images.warnings()))


def _task(row: TableRow, options: FormatOptions, known: Mapping[str, Task]) -> Task:
    at = options.column
    name = row.new_id(at("id"), known)
    shown = PictureRef(_image(row, at("image")))
    flags: dict[str, Json] = {flag: _flag(row, at(flag)) for flag in _FLAGS if at(flag) in row}
    reference: dict[str, Json] = {
        field: row.text(at(field)) for field in ("reasoning", "reasoning_zh") if at(field) in row
    }
    asked_zh = row.maybe_text(at("question_zh"))
    return Task(
        name,
        "answer",
        (shown, row.text(at("question"))),
        labels={
            "category_l1": labelled(row.maybe_text(at("category_l1"))),
            "category_l2": labelled(row.maybe_text(at("category_l2"))),
            "difficulty": _tags(row, at("difficulty_tags")),
            **{flag: labelled(str(flags[flag]).lower() if flag in flags else None) for flag in _FLAGS},
        },
        translations={} if asked_zh is None else {"zh": (shown, asked_zh)},
        extra={**row.rest(*map(at, _FIELDS)), **flags, **({"reference": reference} if reference else {})},
    )


def _answer(row: TableRow, options: FormatOptions) -> Answer:
    zh = row.maybe_text(options.column("answer_zh"))
    reasoning = row.maybe_text(options.column("reasoning")) or ""
    return Answer(
        row.text(options.column("answer")),
        translations={} if zh is None else {"zh": zh},
        steps=tuple(Step("think", text) for text in split_steps(reasoning)),
    )


def _image(row: TableRow, field: str) -> str:
    """A file's name; in a table with pictures inside, the cell's path."""
    value = row.values.get(field)
    name = value.get("path") if isinstance(value, dict) else value
    if not isinstance(name, str) or not name:
        raise WrongFieldError(field, f"expected the name of a file, got {name!r:.60}")
    return name


def _flag(row: TableRow, field: str) -> bool:
    value = row.values[field]
    if not isinstance(value, str | bool) or value not in _BOOLS:
        raise WrongFieldError(field, f'expected "yes" or "no", got {value!r:.60}')
    return _BOOLS[value]


def _tags(row: TableRow, field: str) -> tuple[str, ...]:
    return (row.ids(field) if field in row else ()) or (UNLABELLED,)


class _Images:
    """Where pictures lie: the file of exactly that name, else the only one that differs in case alone."""

    def __init__(self, options: FormatOptions, beside: Path) -> None:
        self._embedded = EmbeddedPictures(options, beside / _IMAGES)
        self._folder = folder = options.pictures or beside / _IMAGES
        there = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
        self._exact = set(there)
        self._folded: dict[str, list[str]] = {}
        for name in there:
            self._folded.setdefault(name.casefold(), []).append(name)
        self._renamed: list[str] = []

    def picture(self, name: str, cell: Any) -> Picture:
        """The picture of that name; `cell` is what its row holds: the name, or the picture itself."""
        return Picture(name, self._uri(name)) if isinstance(cell, str) else self._embedded.picture(name, cell)

    def _uri(self, name: str) -> str:
        if name not in self._exact:
            alike = self._folded.get(name.casefold(), [])
            if len(alike) == 1:
                self._renamed.append(f"{name} → {alike[0]}")
                name = alike[0]
        return picture_uri(name, self._folder)

    def warnings(self) -> Iterator[str]:
        """What the user should know of the pictures."""
        yield from self._embedded.warnings()
        if self._renamed:
            said = counted(len(self._renamed), "picture was", "pictures were")
            yield f"{said} found under a name that differs in upper and lower case: {some(self._renamed)}"


# --- out ---------------------------------------------------------------------------------------------------


def write(content: Content, path: Path, options: FormatOptions) -> None:
    """Write `data.jsonl` alone where the name ends so, else a folder with it and the pictures that are here."""
    check_options(options, "pictures")
    assert isinstance(content, Benchmark)
    copies = chosen(options, "pictures", ("copy", "none")) == "copy"
    tasks = tasks_of(content, "answer", options)
    rows = [_row(task, content) for task in tasks]
    if path.name.endswith((".jsonl", ".jsonl.gz")):
        write_jsonl(path, rows)
        return
    with new_folder(path, _FILE) as folder:
        write_jsonl(folder / _FILE, rows)
        for name in dict.fromkeys(map(one_picture, tasks)) if copies else ():
            copy_picture(content.corpus.pictures.get(name), inside(folder / _IMAGES, name), options)


def _row(task: Task, benchmark: Benchmark) -> dict[str, Any]:
    truth = benchmark.truth[task.id]
    assert isinstance(truth, Answer)
    row: dict[str, Any] = {
        "id": number_or_text(task.id),
        "category_l1": label(task, "category_l1"),
        "category_l2": label(task, "category_l2"),
        "difficulty_tags": [tag for tag in task.labels.get("difficulty", ()) if tag != UNLABELLED],
        "image": one_picture(task),
        "question": task.text,
        "question_zh": _text(task.translations.get("zh")),
        "answer": truth.text,
        "answer_zh": truth.translations.get("zh"),
        **_reasoning(task, truth),
        **{flag: _yes_or_no(label(task, flag)) for flag in _FLAGS},
    }
    rest = {key: value for key, value in task.extra.items() if key not in {*_FIELDS, *MAKING, "reference"}}
    return {**{key: value for key, value in row.items() if value is not None}, **rest}


def _text(parts: Iterable[str | PictureRef] | None) -> str | None:
    return None if parts is None else "".join(part for part in parts if isinstance(part, str))


def _reasoning(task: Task, truth: Answer) -> dict[str, Any]:
    """As it came, unless the steps were changed since."""
    kept = task.extra.get("reference")
    reference = kept if isinstance(kept, dict) else {}
    texts = [step.text for step in truth.steps]
    said = reference.get("reasoning")
    if not isinstance(said, str) or split_steps(said) != texts:
        said = join_steps(texts) if texts else None
    return {"reasoning": said, "reasoning_zh": reference.get("reasoning_zh")}


def _yes_or_no(value: str | None) -> str | None:
    return {"true": "yes", "false": "no"}.get(value or "")


FORMATS = {
    "imagemining": Format(
        "imagemining", "ImageMining data.jsonl and images/", read, write, writes=(Benchmark,), hub=HUB
    )
}
