"""The flat rows that benchmaker publishes: one for each pair of query and picture, with the picture inside."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sightline.bench.formats.base import Complaints, Content, Imported, Options
from sightline.bench.formats.benchmaker_columns import columns_of, config_of
from sightline.bench.formats.benchmaker_join import Found
from sightline.bench.formats.benchmaker_read import Pictures, Plan, Similarities, WordedJudgments
from sightline.bench.formats.benchmaker_write import Rows
from sightline.bench.formats.embedded import EmbeddedPictures, image_cell
from sightline.bench.formats.parquet import IMAGE, JSON_TEXT, as_json, column_type, write_file, write_parts
from sightline.bench.formats.retrieval import check_options, local_file
from sightline.bench.formats.rows import TABLES, checked, read_rows
from sightline.english import counted
from sightline.errors import UserError
from sightline.io import whole_folder, write_json, write_jsonl
from sightline.types import Benchmark

log = logging.getLogger(__name__)

_METADATA = "dataset_metadata.json"
_JSONL = (".jsonl", ".jsonl.gz")
_PARQUET = (".parquet", ".parq")


def read_flat(path: Path, options: Options) -> Imported:
    """A benchmark from rows; the first row of a query is taken for its seed if it is relevant."""
    check_options(options, "config", "extract", "facets", "flags")
    complaints = Complaints(options)
    config, warnings = config_of(options.extra.get("config"))
    columns = columns_of(options, config)
    files = _files(path)
    folder = path if path.is_dir() else path.parent
    pictures = Pictures(options.pictures, folder, None, columns)
    embedded = EmbeddedPictures(options, folder)
    judgments, similarities = WordedJudgments(files[0], columns), Similarities(columns)
    for row in (row for file in files for row in read_rows(file, complaints)):
        with checked(row, complaints):
            name = row.id(columns.of(row, "image_id"))
            new = name not in pictures.found
            judgments.add(row, pictures)
            similarities.add(row)
            if new:
                cell = row.values.get(columns.of(row, "image"))
                pictures.found[name] = embedded.picture(name, cell, rights=pictures.found[name].rights)
    asked = judgments.asked()
    seeds = {query: tuple(_seed(found.grades)) for query, found in asked.items()}
    content = Found(
        name=(config.benchmark.name if config else None) or folder.absolute().name,
        pictures=pictures.found,
        asked=asked,
        plans={query: Plan(found) for query, found in seeds.items()},
        annotations=judgments.annotations.values.values(),
        similarities=similarities,
    )
    said = [*warnings, *judgments.warnings(), *embedded.warnings()]
    seedless = [query for query, found in seeds.items() if not found]
    if seedless:
        many = counted(len(seedless), "query has", "queries have")
        said.append(f'{many} a first row that is not relevant, and so no seed, for example "{seedless[0]}"')
    return Imported(content.to_benchmark(options), tuple(complaints.problems), tuple(said))


def _files(path: Path) -> list[Path]:
    """A file, or the parts in a folder as `datasets` lays them out."""
    if path.is_file():
        return [path]
    for pattern in ("data/*", "dataset/*", "*"):
        found = [file for file in sorted(path.glob(pattern)) if file.name.endswith((*TABLES, *_JSONL))]
        if found:
            return found
    raise UserError(f"{path} has no Parquet, Arrow or JSONL file.", "give the folder that holds data/train-*.parquet")


def _seed(grades: Mapping[str, int]) -> Iterator[str]:
    for picture, grade in grades.items():
        if grade > 0:
            yield picture
        return


def write_flat(content: Content, path: Path, options: Options) -> None:
    """Write rows: JSONL or one Parquet file by the name's ending, else a folder as on the Hugging Face hub."""
    check_options(options)
    assert isinstance(content, Benchmark)
    rows = Rows.of(content, options)
    if path.name.endswith(_JSONL):
        write_jsonl(path, _with_addresses(rows))
        return
    columns = _columns(rows)
    if path.suffix in _PARQUET:
        write_file(path, columns, _with_pictures(rows, columns, options))
    else:
        with whole_folder(path, marker=_METADATA, owned=("data", _METADATA)) as folder:
            write_parts(folder / "data", "train", columns, _with_pictures(rows, columns, options))
            write_json(folder / _METADATA, _metadata(rows, columns, options))
    missing = _missing(rows, options)
    if missing:
        log.warning("%s not here; their rows have none", counted(missing, "picture is", "pictures are"))


def _with_addresses(rows: Rows) -> Iterator[dict[str, Any]]:
    pictures = rows.benchmark.corpus.pictures
    for row in rows.judgments(similarity=rows.has_similarities):
        picture = pictures.get(row[rows.names.image_id])
        yield {**row, rows.names.image: None if picture is None else picture.uri}


def _with_pictures(rows: Rows, columns: Mapping[str, Any], options: Options) -> Iterator[dict[str, Any]]:
    names, pictures = rows.names, rows.benchmark.corpus.pictures
    as_text = {name for name, kind in columns.items() if kind == JSON_TEXT}
    for row in rows.judgments(similarity=rows.has_similarities):
        filled = {name: as_json(row.get(name)) if name in as_text else row.get(name) for name in columns}
        picture = pictures.get(row[names.image_id])
        yield {**filled, names.image: None if picture is None else image_cell(picture, options)}


def _columns(rows: Rows) -> dict[str, Any]:
    """The columns of the rows in benchmaker's order, each with a type that fits all of its values."""
    names = rows.names
    fixed: dict[str, Any] = {
        names.query_id: "string",
        names.query: "string",
        names.image_id: "string",
        names.relevance: "int64",
        names.confidence: {key: "float64" for note in rows.notes.values() for key in note.confidence},
        names.doi: "string",
        names.license: "string",
        names.summary: "string",
        names.tags: ["string"],
    }
    if not fixed[names.confidence]:
        del fixed[names.confidence]
    notes = rows.notes.values()
    said: dict[str, list[Any]] = {}
    for kind in ("flags", "facets", "extra"):
        for note in notes:
            for name, value in getattr(note, kind).items():
                said.setdefault(name, []).append(value)
    found = fixed | {name: column_type(values) for name, values in said.items() if name not in fixed}
    if rows.has_similarities:
        found[rows.similarity_column] = "float64"
    return found | {names.image: IMAGE}


def _metadata(rows: Rows, columns: Mapping[str, Any], options: Options) -> dict[str, Any]:
    total = sum(len(grades) for _, grades in rows.tasks)
    return {
        "total_rows": total,
        "total_qrels": total,
        "missing_images": _missing(rows, options),
        "using_local_images": True,
        "columns": list(columns),
    }


def _missing(rows: Rows, options: Options) -> int:
    pictures = rows.benchmark.corpus.pictures
    shown = {picture for _, grades in rows.tasks for picture in grades}
    return sum(name not in pictures or local_file(pictures[name], options) is None for name in shown)
