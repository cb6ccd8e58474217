"""How a published folder is laid out: tables of pictures, queries and judgments that `datasets` and `mteb` load.

| configuration | columns |
|---|---|
| `corpus` | `id`, `image`, `width`, `height`, `sha256`, `license`, `doi`, `source`, `attribution`: each picture once |
| `queries` | `id`, `text` (and `image` for queries by picture), `labels` as JSON text |
| `qrels` | `query-id`, `corpus-id`, `score` |
| `top_ranked` | `query-id`, `corpus-ids`: where queries may not all be answered with the same pictures |
| `annotations` | `picture`, `summary`, `facets`, `flags`, `tags`, `confidence`, `by` |
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from sightline.benchmark.formats import hf_parquet
from sightline.benchmark.formats.base import FormatOptions
from sightline.benchmark.formats.benchmaker import write_flat
from sightline.benchmark.formats.mteb_dataset import MODULE, Category, task_facts, task_module
from sightline.benchmark.formats.parquet import IMAGE, as_json, write_parts
from sightline.benchmark.formats.pictures import image_cell
from sightline.benchmark.formats.retrieval import JudgedTask, judged, qrels_rows
from sightline.config.settings import ColumnSettings
from sightline.errors import UserError
from sightline.metrics.scope import Scopes
from sightline.types import Benchmark, Picture

Layout: TypeAlias = Literal["retrieval", "rows", "full"]
_TEXT, _COUNT = "string", "int64"
_CORPUS = {
    "id": _TEXT, "image": IMAGE, "width": _COUNT, "height": _COUNT, "sha256": _TEXT,
    "license": _TEXT, "doi": _TEXT, "source": _TEXT, "attribution": _TEXT,
}  # fmt: skip
_QRELS = {"query-id": _TEXT, "corpus-id": _TEXT, "score": "int32"}
_RANKED = {"query-id": _TEXT, "corpus-ids": [_TEXT]}
_NOTES = {name: kind for name, kind in hf_parquet.ANNOTATIONS.types.items() if name not in ("cost_usd", "extra")}
TASK_FILE = f"{MODULE}.py"


@dataclass(frozen=True, slots=True)
class DatasetConfig:
    """One configuration of the data set: its columns, and the rows of each split."""

    name: str
    columns: Mapping[str, Any]
    rows: Mapping[str, int]

    def pattern(self, split: str) -> str:
        """Where its files are."""
        return f"{self.name}/{split}-*.parquet"


def write_tables(
    folder: Path, splits: Mapping[str, Benchmark], pictures: Path, layout: Layout, names: ColumnSettings
) -> list[DatasetConfig]:
    """Write the tables of every split into a new folder; `pictures` is where addresses of pictures start."""
    options = FormatOptions(pictures=pictures)
    if layout == "retrieval":
        return _retrieval(folder, splits, options)
    if len(splits) > 1:
        raise UserError(f'the layout "{layout}" has one split.', "leave --splits out, or choose --layout retrieval")
    ((split, benchmark),) = splits.items()
    return _rows(folder, benchmark, names, pictures) if layout == "rows" else _full(folder, benchmark, split, pictures)


def _retrieval(folder: Path, splits: Mapping[str, Benchmark], options: FormatOptions) -> list[DatasetConfig]:
    tasks = {split: judged(benchmark, options) for split, benchmark in splits.items()}
    category = category_of([one for of_split in tasks.values() for one in of_split])
    scopes = {split: _scopes(benchmark, tasks[split]) for split, benchmark in splits.items()}
    queries = {"id": _TEXT} | ({} if category == "i2i" else {"text": _TEXT})
    queries |= ({} if category == "t2i" else {"image": IMAGE}) | {"labels": _TEXT}
    kinds: dict[str, tuple[Mapping[str, Any], Any]] = {
        "corpus": (
            _CORPUS,
            lambda split: (_picture_row(one, options) for one in splits[split].corpus.pictures.values()),
        ),
        "queries": (queries, lambda split: _query_rows(tasks[split], splits[split], queries, options)),
        "qrels": (_QRELS, lambda split: qrels_rows(tasks[split])),
    }
    if any(scopes.values()):
        kinds["top_ranked"] = (_RANKED, lambda split: _ranked(scopes[split], tasks[split], splits[split]))
    if any(benchmark.annotations for benchmark in splits.values()):
        kinds["annotations"] = (_NOTES, lambda split: map(_note_row, splits[split].annotations))
    return [_written(folder, name, columns, rows, tuple(splits)) for name, (columns, rows) in kinds.items()]


def _written(folder: Path, name: str, columns: Mapping[str, Any], rows: Any, splits: Sequence[str]) -> DatasetConfig:
    counts: dict[str, int] = {}
    for split in splits:
        counts[split] = 0

        def counted(split: str = split) -> Iterator[Mapping[str, Any]]:
            for row in rows(split):
                counts[split] += 1
                yield row

        write_parts(folder / name, split, columns, counted())
    return DatasetConfig(name, columns, counts)


def category_of(tasks: Sequence[JudgedTask]) -> Category:
    """mteb has one category for a whole task, and at most one picture in a query."""
    if any(len(task.pictures) > 1 for task, _ in tasks):
        raise UserError("a query shows several pictures, which this layout can't hold.", "choose --layout full")
    kinds: set[Category] = {"t2i" if not task.pictures else "it2i" if task.text.strip() else "i2i" for task, _ in tasks}
    if len(kinds) > 1:
        raise UserError("some queries are texts, others pictures, and mteb has one kind.", "choose --layout full")
    return kinds.pop()


def task_file(benchmark: Benchmark, configs: Sequence[DatasetConfig], splits: Sequence[str]) -> bytes:
    """`mteb_task.py`: the folder as a task of mteb, on its test split if it has one."""
    split = "test" if "test" in splits else splits[-1]
    category = category_of(judged(benchmark, FormatOptions()))
    names = [config.name for config in configs]
    facts = task_facts(benchmark, split=split, category=category, language=None, configs=names)
    return task_module(facts).encode()


def _picture_row(picture: Picture, options: FormatOptions) -> dict[str, Any]:
    rights = picture.rights
    return {
        "id": picture.id,
        "image": image_cell(picture, options),
        "width": picture.width,
        "height": picture.height,
        "sha256": picture.sha256,
        "license": rights.license,
        "doi": rights.doi,
        "source": rights.source,
        "attribution": rights.attribution,
    }


def _query_rows(
    tasks: Sequence[JudgedTask], benchmark: Benchmark, columns: Mapping[str, Any], options: FormatOptions
) -> Iterator[dict[str, Any]]:
    for task, _ in tasks:
        row: dict[str, Any] = {
            "id": task.id,
            "labels": as_json({key: list(value) for key, value in task.labels.items()}),
        }
        if "text" in columns:
            row["text"] = task.text
        if "image" in columns:
            row["image"] = image_cell(benchmark.corpus.pictures[task.pictures[0].id], options)
        yield row


def _scopes(benchmark: Benchmark, tasks: Sequence[JudgedTask]) -> dict[str, frozenset[str]]:
    """What each query may be answered with, for those that may not be answered with everything."""
    known = Scopes(benchmark.corpus)
    scopes = {task.id: known.pictures(task.scope) for task, _ in tasks}
    return {task: frozenset(scope) for task, scope in scopes.items() if scope is not None}


def _ranked(
    scopes: Mapping[str, frozenset[str]], tasks: Sequence[JudgedTask], benchmark: Benchmark
) -> Iterator[dict[str, Any]]:
    every = list(benchmark.corpus.pictures)
    for task, _ in tasks:
        scope = scopes.get(task.id)
        yield {"query-id": task.id, "corpus-ids": every if scope is None else [id_ for id_ in every if id_ in scope]}


def _note_row(note: Any) -> dict[str, Any]:
    row = hf_parquet.ANNOTATIONS.row(note)
    return {name: row.get(name) for name in _NOTES}


def _rows(folder: Path, benchmark: Benchmark, names: ColumnSettings, pictures: Path) -> list[DatasetConfig]:
    """benchmaker's layout: one row for each pair, the seed first, the picture inside every time."""
    columns = {str(default): getattr(names, setting) for setting, default in ColumnSettings()}
    place = folder / "rows"
    renamed = {key: value for key, value in columns.items() if key != value}
    write_flat(benchmark, place, FormatOptions(columns=renamed, pictures=pictures))
    for entry in list(place.iterdir()):
        entry.rename(folder / entry.name)
    place.rmdir()
    count = sum(len(grades) for _, grades in judged(benchmark, FormatOptions()))
    return [DatasetConfig("data", {}, {"train": count})]


def _full(folder: Path, benchmark: Benchmark, split: str, pictures: Path) -> list[DatasetConfig]:
    """Every table of the benchmark, nothing lost; `sightline import hf-parquet` reads it back."""
    place = folder / "full"
    hf_parquet.write(benchmark, place, FormatOptions(split=split, pictures=pictures))
    (place / "README.md").unlink()
    configs = []
    for entry in sorted(place.iterdir()):
        target = "benchmark.json" if entry.name == "sightline.json" else entry.name
        entry.rename(folder / target)
        if (folder / target).is_dir():
            configs.append(DatasetConfig(target, {}, {split: _count(folder / target)}))
    place.rmdir()
    return configs


def _count(folder: Path) -> int:
    import pyarrow.parquet as pq

    return sum(pq.ParquetFile(path).metadata.num_rows for path in folder.glob("*.parquet"))
