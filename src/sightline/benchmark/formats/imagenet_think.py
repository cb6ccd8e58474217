"""ImageNet-Think: pictures with several (thinking, answer) pairs; and its conversion to LLaVA conversations.

| Parquet or JSON lines | here |
|---|---|
| `id`; without it, the picture's name | `Task.id` (kind `describe`) |
| `image` (a path, or the picture itself), `prompt` | `prompt`: the text, then the picture |
| `think_n`, `answer_n`, `model_n` for n = 1, 2, … | `Traces.references`, in order of n |
| the synset that the picture's name begins with (`n00005787_…`) | label `synset` |
| other columns | `Task.extra` |

What the thinking columns are called is not published: `think_n`, `thinking_n`, `think{n}` and `thinking{n}` are known
(likewise `answer{n}`, `model{n}`), and `--map think_1=…` names any other. Without a column `prompt` it is the one
prompt that the data set was made with. Pictures inside a table stay there, unless the option `extract=DIR` is given.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Any

from sightline.benchmark.formats.base import Complaints, Content, Format, FormatOptions, Imported
from sightline.benchmark.formats.dataset_folder import (
    chosen,
    data_files,
    labelled,
    new_folder,
    one_picture,
    public_benchmark,
    tasks_of,
)
from sightline.benchmark.formats.parquet import IMAGE, JSON_TEXT, as_json, column_type, write_file, write_parts
from sightline.benchmark.formats.pictures import EmbeddedPictures, image_cell
from sightline.benchmark.formats.retrieval import check_options
from sightline.benchmark.formats.rows import TableRow, WrongFieldError, checked, read_rows
from sightline.english import counted
from sightline.errors import UserError
from sightline.io.jsonl import write_json, write_jsonl
from sightline.types import Benchmark, Corpus, Picture, PictureRef, Task, Trace, Traces

_FIXED = ("id", "image", "prompt")
_PARTS = ("think", "answer", "model")
HUB = "krishnateja95/ImageNet-Think"
PROMPT = (
    "Please analyze this image step by step. Explain your reasoning process. "
    "Describe this image and give as much information as possible"
)
"""What both generators of the data set were asked."""
METRICS = ("rouge-1", "rouge-l", "jaccard", "overlap", "tfidf")
_FILE = "data.jsonl"
_SPELT = {"think": ("think_{n}", "thinking_{n}", "think{n}", "thinking{n}")}
_NUMBERED = re.compile(r"(?:think|thinking|answer|model)_?(\d+)")
_MAPPED = re.compile(r"(?:think|answer|model)_(\d+)")
_SYNSET = re.compile(r"n\d{8}(?=[_.]|$)")


def write(content: Content, path: Path, options: FormatOptions) -> None:
    """Write a `.jsonl` or `.parquet` file where the name ends so, else a folder of Parquet parts.

    With the option `pictures=embed`, Parquet holds the pictures that are here, as the `datasets` library keeps them.
    """
    check_options(options, "pictures")
    assert isinstance(content, Benchmark)
    embeds = chosen(options, "pictures", ("none", "embed")) == "embed"
    table = _Table(content, options, embeds)
    if path.name.endswith((".jsonl", ".jsonl.gz")):
        write_jsonl(path, table.lines())
    elif path.suffix == ".parquet":
        write_file(path, table.columns(), table.cells())
    else:
        with new_folder(path, "data") as folder:
            write_parts(folder / "data", "train", table.columns(), table.cells())


class _Table:
    """Describe tasks as rows: the columns of the data set, as many traces as any task has, then what else is known."""

    def __init__(self, benchmark: Benchmark, options: FormatOptions, embeds: bool) -> None:
        self._benchmark = benchmark
        self._options = options
        self._embeds = embeds
        self._tasks = tasks_of(benchmark, "describe", options)
        self._width = max(len(_references(task, benchmark)) for task in self._tasks)
        numbered = (f"{part}_{number}" for number in range(1, self._width + 1) for part in _PARTS)
        self._names = [options.column(name) for name in (*_FIXED, *numbered)]
        self._extras = sorted({key for task in self._tasks for key in task.extra if key not in self._names})
        self._types = {key: column_type([task.extra.get(key) for task in self._tasks]) for key in self._extras}

    def columns(self) -> dict[str, Any]:
        """The type of each Parquet column; values without a common type are JSON text."""
        found: dict[str, Any] = dict.fromkeys(self._names, "string")
        found[self._options.column("image")] = IMAGE if self._embeds else "string"
        return found | self._types

    def cells(self) -> Iterator[dict[str, Any]]:
        """The rows for Parquet."""
        for task in self._tasks:
            row = self._row(task)
            row |= {key: as_json(row[key]) for key, kind in self._types.items() if kind == JSON_TEXT}
            if self._embeds:
                row[self._options.column("image")] = _cell(task, self._benchmark, self._options)
            yield row

    def lines(self) -> Iterator[dict[str, Any]]:
        """The rows for JSON lines."""
        for task in self._tasks:
            yield {key: value for key, value in self._row(task).items() if value is not None}

    def _row(self, task: Task) -> dict[str, Any]:
        values: list[str | None] = [task.id, one_picture(task), task.text]
        references = _references(task, self._benchmark)
        for said in references:
            values += [said.thinking, said.answer, said.model]
        values += [None] * (len(_PARTS) * (self._width - len(references)))
        return {**dict(zip(self._names, values, strict=True)), **{key: task.extra.get(key) for key in self._extras}}


def write_llava(content: Content, path: Path, options: FormatOptions) -> None:
    """Write conversations, a list (`.json`) or lines (`.jsonl`): the prompt, and the reference that `answer` names (1).

    With the option `think=true` the thinking stands before the answer, between `<think>` and `</think>`.
    """
    check_options(options, "answer", "think")
    assert isinstance(content, Benchmark)
    number = options.extra.get("answer", "1")
    if not number.isdecimal() or int(number) < 1:
        raise UserError(f'--option answer="{number}" is not the number of a reference.', "the first one is 1")
    thinks = chosen(options, "think", ("false", "true")) == "true"
    rows = [_conversation(task, content, int(number), thinks) for task in tasks_of(content, "describe", options)]
    if path.name.endswith((".jsonl", ".jsonl.gz")):
        write_jsonl(path, rows)
    else:
        write_json(path, rows)


def _conversation(task: Task, benchmark: Benchmark, number: int, thinks: bool) -> dict[str, Any]:
    references = _references(task, benchmark)
    if number > len(references):
        raise UserError(
            f'task "{task.id}" has {counted(len(references), "reference")}, not {number}.', "choose --option answer=1"
        )
    said = references[number - 1]
    text = f"<think>{said.thinking}</think>\n{said.answer}" if thinks else said.answer
    return {
        "id": task.id,
        "image": one_picture(task),
        "conversations": [{"from": "human", "value": f"{task.text}\n<image>"}, {"from": "gpt", "value": text}],
    }


def _references(task: Task, benchmark: Benchmark) -> tuple[Trace, ...]:
    truth = benchmark.truth[task.id]
    return truth.references if isinstance(truth, Traces) else ()


def _cell(task: Task, benchmark: Benchmark, options: FormatOptions) -> dict[str, Any]:
    name = one_picture(task)
    picture = benchmark.corpus.pictures.get(name)
    found = None if picture is None else image_cell(picture, options)
    return found or {"bytes": None, "path": name}


def read(path: Path, options: FormatOptions) -> Imported:
    """Describe tasks, one for each row."""
    check_options(options, "extract")
    complaints = Complaints(options)
    files = data_files(path, _FILE, options)
    embedded = EmbeddedPictures(options, files[0].parent)
    pictures: dict[str, Picture] = {}
    tasks: dict[str, Task] = {}
    truth: dict[str, Traces] = {}
    for row in chain.from_iterable(read_rows(file, complaints) for file in files):
        if len(tasks) == options.limit:
            break
        with checked(row, complaints):
            columns = _Columns(row.values, options)
            name, shown = _names(row, options)
            if name in tasks:
                raise WrongFieldError(options.column("id"), f'"{name}" is there twice')
            task, traces = _task(row, name, shown, columns, options), columns.traces(row)
            tasks[name], truth[name] = task, traces
            if shown not in pictures:
                pictures[shown] = embedded.picture(shown, row.values.get(options.column("image")))
    description = "Pictures with thinking and answers of several models."
    corpus = Corpus("", pictures)
    benchmark = public_benchmark(
        path, "ImageNet-Think", options, corpus, tasks, truth, metrics=METRICS, description=description
    )
    return Imported(benchmark, tuple(complaints.problems), embedded.warnings())


class _Columns:
    """Which columns of a row hold thinking, answers and models, by number."""

    def __init__(self, values: Mapping[str, Any], options: FormatOptions) -> None:
        found = [*map(_NUMBERED.fullmatch, values), *map(_MAPPED.fullmatch, options.columns)]
        self.numbers = sorted({int(match[1]) for match in found if match})
        self._options = options
        self._values = values

    def name(self, part: str, number: int) -> str | None:
        """The column of a part: the one that the user mapped, else one of its usual names, if it is there."""
        mapped = self._options.columns.get(f"{part}_{number}")
        usual = _SPELT.get(part, (f"{part}_{{n}}", f"{part}{{n}}"))
        names = [spelt.format(n=number) for spelt in usual] if mapped is None else [mapped]
        return next((name for name in names if name in self._values), None)

    def used(self) -> Iterator[str]:
        """Every column that belongs to a trace."""
        for number in self.numbers:
            yield from filter(None, (self.name(part, number) for part in ("think", "answer", "model")))

    def traces(self, row: TableRow) -> Traces:
        """The references of a row; a pair that is missing is skipped."""
        found = []
        for number in self.numbers:
            thinking, answer, model = (self._text(row, part, number) for part in ("think", "answer", "model"))
            if thinking is not None or answer is not None:
                found.append(Trace(thinking or "", answer or "", model))
        if not found:
            raise WrongFieldError("answer_1", "expected think_n and answer_n for at least one n")
        return Traces(tuple(found))

    def _text(self, row: TableRow, part: str, number: int) -> str | None:
        name = self.name(part, number)
        return None if name is None else row.maybe_text(name)


def _names(row: TableRow, options: FormatOptions) -> tuple[str, str]:
    """The ids of the task and of its picture; each stands in for the other where it is missing."""
    id_, image = options.column("id"), options.column("image")
    cell = row.values.get(image)
    path = cell.get("path") if isinstance(cell, Mapping) else cell
    name = row.id(id_) if id_ in row else None
    if isinstance(path, str) and path:
        return name or PurePosixPath(path).stem, path
    if name is None:
        raise WrongFieldError(id_, "expected an id, or the path of a picture")
    return name, name


def _task(row: TableRow, name: str, shown: str, columns: _Columns, options: FormatOptions) -> Task:
    fields = [options.column(field) for field in ("id", "image", "prompt")]
    asked = row.maybe_text(fields[2]) or PROMPT
    synset = _SYNSET.match(PurePosixPath(shown).name) or _SYNSET.match(name)
    return Task(
        name,
        "describe",
        (asked, PictureRef(shown)),
        labels={"synset": labelled(synset[0] if synset else None)},
        extra=row.rest(*fields, *columns.used()),
    )


FORMATS = {
    "imagenet-think": Format(
        "imagenet-think",
        "ImageNet-Think rows: prompt, think_n, answer_n, model_n (Parquet, JSON lines)",
        read,
        write,
        writes=(Benchmark,),
        hub=HUB,
    ),
    "llava": Format("llava", "LLaVA conversations from describe tasks", write=write_llava, writes=(Benchmark,)),
}
