"""Writing describe tasks as ImageNet-Think's rows, or as LLaVA conversations."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sightline.bench.formats.base import Content, Options
from sightline.bench.formats.embedded import image_cell
from sightline.bench.formats.parquet import IMAGE, as_json, column_type, write_file, write_parts
from sightline.bench.formats.retrieval import check_options
from sightline.bench.formats.seeds import chosen, new_folder, one_picture, tasks_of
from sightline.english import counted
from sightline.errors import UserError
from sightline.io import write_json, write_jsonl
from sightline.types import Benchmark, Task, Trace, Traces

_FIXED = ("id", "image", "prompt")
_PARTS = ("think", "answer", "model")


def write(content: Content, path: Path, options: Options) -> None:
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

    def __init__(self, benchmark: Benchmark, options: Options, embeds: bool) -> None:
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
        return found | {key: kind or "string" for key, kind in self._types.items()}

    def cells(self) -> Iterator[dict[str, Any]]:
        """The rows for Parquet."""
        for task in self._tasks:
            row = self._row(task)
            row |= {key: as_json(row[key]) for key, kind in self._types.items() if kind is None}
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


def write_llava(content: Content, path: Path, options: Options) -> None:
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


def _cell(task: Task, benchmark: Benchmark, options: Options) -> dict[str, Any]:
    name = one_picture(task)
    picture = benchmark.corpus.pictures.get(name)
    found = None if picture is None else image_cell(picture, options)
    return found or {"bytes": None, "path": name}
