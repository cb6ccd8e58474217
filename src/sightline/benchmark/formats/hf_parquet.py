"""A benchmark as a Hugging Face data set: one Parquet configuration for each of its tables, pictures inside.

| configuration | columns |
|---|---|
| `pictures` | the fields of `pictures.jsonl`, and `image`: the picture itself where it is on this machine |
| `tasks` | the fields of `tasks.jsonl`, and for readers `text` and `pictures`: the prompt's words and picture ids |
| `truth` | `task`, `form`, for readers `answer`: what would be right to say, and `truth`: the form's fields |
| `groups`, `annotations`, `candidates`, `judgments`, `reviews` | those of the table, where it holds something |

What is nested is JSON text. `sightline.json` holds name, version, metrics and card; `README.md` lists the
configurations, so that `datasets.load_dataset(folder, "tasks")` finds them. Nothing of a benchmark is lost.
With option `extract=DIR` the pictures are written out on the way in.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson
from pydantic import ValidationError

from sightline.benchmark import files
from sightline.benchmark.folder import contents
from sightline.benchmark.formats.base import Complaints, Content, Format, FormatOptions, Imported
from sightline.benchmark.formats.dataset_folder import limited, new_folder
from sightline.benchmark.formats.parquet import IMAGE, read_table, write_parts
from sightline.benchmark.formats.pictures import EmbeddedPictures, image_cell
from sightline.benchmark.formats.replies import right_replies
from sightline.benchmark.formats.retrieval import check_options, local_file
from sightline.benchmark.problems import explain
from sightline.benchmark.table import RecordTable
from sightline.benchmark.truth import TaskTruth
from sightline.english import counted
from sightline.errors import UserError
from sightline.io.files import picture_path
from sightline.io.jsonl import dump, read_json, write_json
from sightline.types import Benchmark, Corpus, Picture, Task

log = logging.getLogger(__name__)

JSON = "json"
_TEXT, _NUMBER, _COUNT, _IDS = "string", "float64", "int64", ["string"]
_HEADER = "sightline.json"


def _nothing(_: Any) -> Mapping[str, Any]:
    return {}


@dataclass(frozen=True, slots=True)
class TableColumns:
    """A table and its columns; those that `shown` gives are for readers and are not read back.

    No two rows have the same `key`, if there is one.
    """

    table: RecordTable[Any, Any]
    columns: Mapping[str, Any]
    key: str | None = None
    shown: Callable[[Any], Mapping[str, Any]] = _nothing

    @property
    def name(self) -> str:
        return self.table.name.removesuffix(".jsonl")

    @property
    def types(self) -> dict[str, Any]:
        return {name: _TEXT if kind == JSON else kind for name, kind in self.columns.items()}

    def row(self, value: Any) -> dict[str, Any]:
        """The row of a value."""
        fields = orjson.loads(self.table.line(value))
        if self.table is files.TRUTH:
            fields = {"task": fields.pop("task"), "form": fields.pop("form"), "truth": fields}
        row = {name: _cell(kind, fields.get(name)) for name, kind in self.columns.items()}
        return {**row, **self.shown(value)}

    def value(self, row: Mapping[str, Any]) -> Any:
        """The value of a row; what does not fit raises pydantic's or orjson's error."""
        fields: dict[str, Any] = {}
        for name, kind in self.columns.items():
            cell = row.get(name)
            if cell is not None and name in self.table.fields | {"truth"}:
                fields[name] = orjson.loads(cell) if kind == JSON else cell
        fields |= fields.pop("truth", {})
        return self.table.to_value(self.table.schema.validate_json(dump(fields)))


def _cell(kind: Any, value: Any) -> Any:
    if kind == JSON:
        return None if value is None else dump(value).decode().rstrip("\n")
    return bool(value) if kind == "bool" else value


def _task_for_readers(task: Task) -> Mapping[str, Any]:
    return {"text": task.text, "pictures": [ref.id for ref in task.pictures]}


def _truth_for_readers(row: TaskTruth) -> Mapping[str, Any]:
    return {"answer": right_replies(row.truth)}


PICTURES = TableColumns(
    files.PICTURES,
    {
        "id": _TEXT, "image": IMAGE, "uri": _TEXT, "sha256": _TEXT, "phash": _TEXT, "width": _COUNT, "height": _COUNT,
        "mime": _TEXT, "taken_at": _TEXT, "lat": _NUMBER, "lon": _NUMBER, "altitude": _NUMBER, "address": _TEXT,
        "device": _TEXT, "rights": JSON, "extra": JSON,
    },
    key="id",
)  # fmt: skip
TASKS = TableColumns(
    files.TASKS,
    {
        "id": _TEXT, "kind": _TEXT, "text": _TEXT, "pictures": _IDS, "prompt": JSON, "options": JSON, "scope": JSON,
        "labels": JSON, "translations": JSON, "extra": JSON,
    },
    key="id",
    shown=_task_for_readers,
)  # fmt: skip
TRUTH = TableColumns(
    files.TRUTH,
    {"task": _TEXT, "form": _TEXT, "answer": _IDS, "truth": JSON},
    key="task",
    shown=_truth_for_readers,
)
GROUPS = TableColumns(files.GROUPS, {"id": _TEXT, "kind": _TEXT, "pictures": _IDS, "hidden": "bool"})
ANNOTATIONS = TableColumns(
    files.ANNOTATIONS,
    {
        "picture": _TEXT, "summary": _TEXT, "facets": JSON, "flags": JSON, "tags": _IDS, "confidence": JSON,
        "by": _TEXT, "cost_usd": _NUMBER, "extra": JSON,
    },
)  # fmt: skip
CANDIDATES = TableColumns(files.CANDIDATES, {"task": _TEXT, "picture": _TEXT, "tier": _TEXT, "score": _NUMBER})
JUDGMENTS = TableColumns(
    files.JUDGMENTS,
    {"task": _TEXT, "picture": _TEXT, "judge": _TEXT, "grade": _COUNT, "confidence": _NUMBER, "reason": _TEXT},
)
REVIEWS = TableColumns(
    files.REVIEWS, {"task": _TEXT, "picture": _TEXT, "person": _TEXT, "decision": _TEXT, "when": _TEXT}
)


_REQUIRED = (PICTURES, TASKS, TRUTH)


def read(path: Path, options: FormatOptions) -> Imported:
    """A benchmark from the folder of such a data set."""
    check_options(options, "extract")
    for config in _REQUIRED:
        if not _parts(path, config):
            raise UserError(
                f"{path} has no {config.name}/*.parquet.", "give the folder that holds pictures/, tasks/ and truth/"
            )
    complaints = Complaints(options)
    header = _read_header(path)
    embedded = EmbeddedPictures(options, path)

    def values(config: TableColumns) -> tuple[Any, ...]:
        return tuple(value for value, _ in _values(path, config, complaints))

    shown = _values(path, PICTURES, complaints)
    pictures = (_placed(picture, row.get("image"), embedded, options) for picture, row in shown)
    benchmark = Benchmark(
        name=options.name or str(header.get("name") or path.absolute().name),
        corpus=Corpus(
            name=str(header.get("corpus", path.absolute().name)),
            pictures={picture.id: picture for picture in pictures},
            groups=values(GROUPS),
        ),
        tasks={task.id: task for task in values(TASKS)},
        truth={row.task: row.truth for row in values(TRUTH)},
        version=str(header.get("version") or "1"),
        metrics=tuple(header.get("metrics") or ()),
        card=header.get("card") or {},
        annotations=values(ANNOTATIONS),
        candidates=values(CANDIDATES),
        judgments=values(JUDGMENTS),
        reviews=values(REVIEWS),
    )
    return Imported(limited(benchmark, options), tuple(complaints.problems), embedded.warnings())


def _parts(folder: Path, config: TableColumns) -> list[Path]:
    return sorted((folder / config.name).glob("*.parquet"))


def _read_header(folder: Path) -> dict[str, Any]:
    path = folder / _HEADER
    header = read_json(path) if path.is_file() else {}
    if not isinstance(header, dict):
        raise UserError(f"{path}: expected an object.", "remove it to import without name and metrics")
    return header


def _values(folder: Path, config: TableColumns, complaints: Complaints) -> Iterator[tuple[Any, dict[str, Any]]]:
    """The values of a table, each with the row that it was read from."""
    seen: set[Any] = set()
    for path in _parts(folder, config):
        for line, row in enumerate(read_table(path), 1):
            try:
                value = config.value(row)
            except ValidationError as error:
                for problem in explain(error, str(path), line, config.table.fields):
                    complaints.add(problem.file, problem.line, problem.field, problem.message)
            except orjson.JSONDecodeError as error:
                complaints.add(path, line, None, f"expected JSON text: {error}")
            else:
                name = row.get(config.key) if config.key else None
                if name in seen:
                    complaints.add(path, line, config.key, f'"{name}" is there twice')
                else:
                    yield value, row
                seen.update(() if name is None else (name,))


def _placed(picture: Picture, cell: Any, embedded: EmbeddedPictures, options: FormatOptions) -> Picture:
    """The picture with an address at which its file can be had, where it is only inside the table."""
    here = picture_path(picture.uri, options.pictures or Path())
    extract = "extract" in options.extra
    inside = isinstance(cell, dict) and cell.get("bytes") is not None
    if not inside or (here is not None and here.is_file() and not extract):
        return picture
    found = embedded.picture(picture.id, cell)
    return replace(picture, uri=found.uri if extract else picture.uri, sha256=picture.sha256 or found.sha256)


def write(content: Content, path: Path, options: FormatOptions) -> None:
    """Write a benchmark with the pictures that are here."""
    check_options(options)
    assert isinstance(content, Benchmark)
    benchmark = limited(content, options)
    split = options.split or "test"
    with_images = replace(PICTURES, shown=lambda picture: {"image": image_cell(picture, options)})
    values_of = {table.name: values for table, values in contents(benchmark)}
    configs = (with_images, TASKS, TRUTH, GROUPS, ANNOTATIONS, CANDIDATES, JUDGMENTS, REVIEWS)
    kept = [(config, values) for config in configs if (values := values_of[config.table.name]) or config.table.required]
    with new_folder(path, _HEADER) as folder:
        for config, values in kept:
            write_parts(folder / config.name, split, config.types, map(config.row, values))
        write_json(folder / _HEADER, _header(benchmark))
        (folder / "README.md").write_text(_card(benchmark, split, [config.name for config, _ in kept]), "utf-8")
    missing = sum(local_file(picture, options) is None for picture in benchmark.corpus.pictures.values())
    if missing:
        log.warning("%s not here and not in the data set", counted(missing, "picture is", "pictures are"))


def _header(benchmark: Benchmark) -> dict[str, Any]:
    return {
        "name": benchmark.name,
        "version": benchmark.version,
        "corpus": benchmark.corpus.name,
        "metrics": list(benchmark.metrics),
        "card": dict(benchmark.card),
    }


def _card(benchmark: Benchmark, split: str, configs: Sequence[str]) -> str:
    """A README.md whose head tells `datasets` where the configurations are."""
    listed = "".join(
        f"- config_name: {config}\n"
        f"  default: {'true' if config == 'tasks' else 'false'}\n"
        f"  data_files:\n  - split: {split}\n    path: {config}/{split}-*.parquet\n"
        for config in configs
    )
    title = " ".join(benchmark.name.split())
    description = str(benchmark.card.get("description") or f"Pictures, tasks and truth of {title}.")
    return f"""\
---
pretty_name: {json.dumps(title, ensure_ascii=False)}
configs:
{listed}---

# {title}

{description}

Each configuration ({", ".join(configs)}) has the split `{split}`; columns with nested values hold JSON text.

```python
from datasets import load_dataset

tasks = load_dataset("path/to/this/folder", "tasks", split="{split}")
```
"""


FORMATS = {
    "hf-parquet": Format(
        "hf-parquet", "a benchmark as a Hugging Face data set, nothing lost", read, write, writes=(Benchmark,)
    ),
}
