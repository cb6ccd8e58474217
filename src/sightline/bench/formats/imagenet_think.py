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

from sightline.bench.formats.base import Complaints, Format, Imported, Options
from sightline.bench.formats.embedded import EmbeddedPictures
from sightline.bench.formats.imagenet_think_write import write, write_llava
from sightline.bench.formats.retrieval import check_options
from sightline.bench.formats.rows import Row, WrongFieldError, checked, read_rows
from sightline.bench.formats.seeds import came_from, data_files, labelled
from sightline.types import Benchmark, Corpus, Picture, PictureRef, Task, Trace, Traces

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


def read(path: Path, options: Options) -> Imported:
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
    name = options.name or "ImageNet-Think"
    benchmark = Benchmark(
        name=name,
        corpus=Corpus(name, pictures),
        tasks=tasks,
        truth=truth,
        metrics=METRICS,
        card={
            "description": "Pictures with thinking and answers of several models.",
            "languages": ["en"],
            "source": came_from(path, "ImageNet-Think", options),
        },
    )
    return Imported(benchmark, tuple(complaints.problems), embedded.warnings())


class _Columns:
    """Which columns of a row hold thinking, answers and models, by number."""

    def __init__(self, values: Mapping[str, Any], options: Options) -> None:
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

    def traces(self, row: Row) -> Traces:
        """The references of a row; a pair that is missing is passed over."""
        found = []
        for number in self.numbers:
            thinking, answer, model = (self._text(row, part, number) for part in ("think", "answer", "model"))
            if thinking is not None or answer is not None:
                found.append(Trace(thinking or "", answer or "", model))
        if not found:
            raise WrongFieldError("answer_1", "expected think_n and answer_n for at least one n")
        return Traces(tuple(found))

    def _text(self, row: Row, part: str, number: int) -> str | None:
        name = self.name(part, number)
        return None if name is None else row.maybe_text(name)


def _names(row: Row, options: Options) -> tuple[str, str]:
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


def _task(row: Row, name: str, shown: str, columns: _Columns, options: Options) -> Task:
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
