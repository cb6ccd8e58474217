"""benchmaker (imsearch_benchmaker): its files, and the flat rows that it publishes.

| benchmaker | here |
|---|---|
| images: `image_id`, `mime_type`, other columns | `Picture.id`, `mime`, `extra` |
| images: `image_url` | `Picture.uri`, unless the pictures' folder is known |
| images: `license`, `doi`, `original_dataset_name`; the rights map | `Picture.rights`; `UNKNOWN` is None |
| annotations: `summary`, `tags`, `confidence`, other columns | `Annotation`, its `extra` |
| annotations: taxonomy and boolean columns | `Annotation.facets`, `flags` |
| seeds and plan: `seed_image_ids`, `candidate_image_ids` | `Candidate` of tier `seed` and `pooled` |
| plan: `candidates` with `tier` and `score`, which is ours | `Candidate` of that tier |
| qrels: `query_id`, `query_text`, `image_id`, `relevance_label` | a `rank` task, `Relevance`, `Judgment` |
| the similarity column of the scored qrels | `Task.extra["similarity"]` |
| the data set of the seed | the label `original_dataset_name` |

`benchmaker-rows` has one row for each pair of query and picture, the seed first, with the picture inside.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sightline.benchmark.formats.base import Complaints, Content, Format, FormatOptions, Imported
from sightline.benchmark.formats.benchmaker_columns import (
    BenchmakerColumns,
    BenchmakerFiles,
    columns_of,
    config_of,
    find_files,
)
from sightline.benchmark.formats.benchmaker_reader import (
    BenchmakerContent,
    BenchmakerPictures,
    QueryPlan,
    Similarities,
    WordedJudgments,
    read_annotations,
    read_plans,
)
from sightline.benchmark.formats.benchmaker_writer import BenchmakerRows, write_files
from sightline.benchmark.formats.parquet import IMAGE, JSON_TEXT, as_json, column_type, write_file, write_parts
from sightline.benchmark.formats.pictures import EmbeddedPictures, image_cell
from sightline.benchmark.formats.retrieval import check_options, local_file
from sightline.benchmark.formats.rows import TABLES, checked, read_rows
from sightline.config import Config
from sightline.corpus.rights import RightsMap
from sightline.english import counted
from sightline.errors import UserError
from sightline.io.files import whole_folder
from sightline.io.jsonl import write_json, write_jsonl
from sightline.types import Annotation, Benchmark, Json

log = logging.getLogger(__name__)

_METADATA = "dataset_metadata.json"
_JSONL = (".jsonl", ".jsonl.gz")
_PARQUET = (".parquet", ".parq")


def read_flat(path: Path, options: FormatOptions) -> Imported:
    """A benchmark from rows; the first row of a query is taken for its seed if it is relevant."""
    check_options(options, "config", "extract", "facets", "flags")
    complaints = Complaints(options)
    config, warnings = config_of(options.extra.get("config"))
    columns = columns_of(options, config)
    files = _files(path)
    folder = path if path.is_dir() else path.parent
    pictures = BenchmakerPictures(options.pictures, folder, None, columns)
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
    content = BenchmakerContent(
        name=(config.benchmark.name if config else None) or folder.absolute().name,
        pictures=pictures.found,
        asked=asked,
        plans={query: QueryPlan(found) for query, found in seeds.items()},
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


def write_flat(content: Content, path: Path, options: FormatOptions) -> None:
    """Write rows: JSONL or one Parquet file by the name's ending, else a folder as on the Hugging Face hub."""
    check_options(options)
    assert isinstance(content, Benchmark)
    rows = BenchmakerRows.of(content, options)
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


def _with_addresses(rows: BenchmakerRows) -> Iterator[dict[str, Any]]:
    pictures = rows.benchmark.corpus.pictures
    for row in rows.judgments(similarity=rows.has_similarities):
        picture = pictures.get(row[rows.names.image_id])
        yield {**row, rows.names.image: None if picture is None else picture.uri}


def _with_pictures(
    rows: BenchmakerRows, columns: Mapping[str, Any], options: FormatOptions
) -> Iterator[dict[str, Any]]:
    names, pictures = rows.names, rows.benchmark.corpus.pictures
    as_text = {name for name, kind in columns.items() if kind == JSON_TEXT}
    for row in rows.judgments(similarity=rows.has_similarities):
        filled = {name: as_json(row.get(name)) if name in as_text else row.get(name) for name in columns}
        picture = pictures.get(row[names.image_id])
        yield {**filled, names.image: None if picture is None else image_cell(picture, options)}


def _columns(rows: BenchmakerRows) -> dict[str, Any]:
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


def _metadata(rows: BenchmakerRows, columns: Mapping[str, Any], options: FormatOptions) -> dict[str, Any]:
    total = sum(len(grades) for _, grades in rows.tasks)
    return {
        "total_rows": total,
        "total_qrels": total,
        "missing_images": _missing(rows, options),
        "using_local_images": True,
        "columns": list(columns),
    }


def _missing(rows: BenchmakerRows, options: FormatOptions) -> int:
    pictures = rows.benchmark.corpus.pictures
    shown = {picture for _, grades in rows.tasks for picture in grades}
    return sum(name not in pictures or local_file(pictures[name], options) is None for name in shown)


def read(path: Path, options: FormatOptions) -> Imported:
    """A benchmark from those of benchmaker's files that are there; judgments must be.

    `path` is their folder, a file of judgments alone, or a configuration in TOML that says where they are.
    """
    check_options(options, "config", "facets", "flags")
    config_path = path if path.suffix == ".toml" else options.extra.get("config")
    config, warnings = config_of(config_path)
    folder = path.parent if path.suffix == ".toml" else path
    files = find_files(folder, config, None if config_path is None else Path(config_path).expanduser().parent)
    reading = _Reading(files, columns_of(options, config), _root(options, config), options)
    found = reading.all(_name(folder, config), _card(config))
    benchmark = found.to_benchmark(options)
    said = (*warnings, *reading.warnings, *found.warnings())
    return Imported(benchmark, tuple(reading.complaints.problems), said)


class _Reading:
    """One pass over the files, each with what is known from those before it."""

    def __init__(
        self, files: BenchmakerFiles, columns: BenchmakerColumns, root: Path | None, options: FormatOptions
    ) -> None:
        self.files = files
        self.columns = columns
        self.complaints = Complaints(options)
        self.warnings: list[str] = []
        rights = None if files.rights is None else RightsMap.read(files.rights)
        self.pictures = BenchmakerPictures(root, files.qrels.parent, rights, columns)

    def all(self, name: str, card: dict[str, Json]) -> BenchmakerContent:
        """The content of all files."""
        if self.files.images is not None:
            self.warnings += self.pictures.read_list(self.files.images, self.complaints)
        notes = self._annotations()
        plans = self._plans()
        judgments = WordedJudgments(self.files.qrels, self.columns)
        for row in read_rows(self.files.qrels, self.complaints):
            with checked(row, self.complaints):
                judgments.add(row, self.pictures)
        # Last, because a plan tells nothing of a picture but its id.
        for picture in (name for plan in plans.values() for name in plan.pictures()):
            self.pictures.mention(picture)
        self.warnings += (*judgments.warnings(), *self.pictures.warnings())
        return BenchmakerContent(
            name=name,
            pictures=self.pictures.found,
            asked=judgments.asked(),
            plans=plans,
            annotations=(notes or judgments.annotations.values).values(),
            similarities=self._similarities(),
            card=card,
        )

    def _annotations(self) -> dict[str, Annotation]:
        if self.files.annotations is None:
            return {}
        found = read_annotations(self.files.annotations, self.columns, self.pictures, self.complaints)
        self.warnings += found.warnings()
        return found.values

    def _plans(self) -> dict[str, QueryPlan]:
        """The plan; seeds of queries that it does not have are taken from `seeds.jsonl`."""
        plans: dict[str, QueryPlan] = {}
        for path in (self.files.seeds, self.files.plan):
            if path is not None:
                found = read_plans(path, self.columns, self.complaints)
                self.warnings += found.warnings()
                plans |= found.values
        return plans

    def _similarities(self) -> Similarities:
        found = Similarities(self.columns)
        if self.files.scored is not None:
            for row in read_rows(self.files.scored, self.complaints):
                with checked(row, self.complaints):
                    found.add(row)
        return found


def _root(options: FormatOptions, config: Config | None) -> Path | None:
    """The pictures' folder, if it is given, or the configuration names one that is there."""
    if options.pictures is not None:
        return options.pictures
    named = None if config is None else config.paths.pictures
    return named if named is not None and named.is_dir() else None


def _name(path: Path, config: Config | None) -> str:
    named = None if config is None else config.benchmark.name
    return named or (path.absolute().name if path.is_dir() else path.stem)


def _card(config: Config | None) -> dict[str, Json]:
    if config is None:
        return {}
    return config.benchmark.model_dump(mode="json", exclude={"name"}, exclude_none=True)


FORMATS = {
    "benchmaker": Format(
        "benchmaker", "imsearch_benchmaker's files: images, annotations, plan, qrels", read, write_files, (Benchmark,)
    ),
    "benchmaker-rows": Format(
        "benchmaker-rows", "imsearch_benchmaker's published rows, the seed first", read_flat, write_flat, (Benchmark,)
    ),
}
