"""The files of a project, line by line: pictures, annotations, seeds, plans and worded queries.

Columns are benchmaker's, by their configured names, and a few of ours.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeVar

from pydantic import ValidationError

from sightline.authoring.plan_table import PictureFingerprint
from sightline.authoring.project import IMAGES, Project
from sightline.benchmark.formats.base import Complaints, FormatOptions
from sightline.benchmark.formats.benchmaker_columns import BenchmakerColumns
from sightline.benchmark.formats.benchmaker_reader import BenchmakerPictures, read_plans
from sightline.benchmark.problems import Problem, ProblemsError, explain
from sightline.benchmark.records import AnnotationRecord
from sightline.config import Config
from sightline.config.settings import ColumnSettings
from sightline.errors import UserError
from sightline.io.append_only_file import AppendOnlyFile
from sightline.io.jsonl import CutOffError, LineError, parse_line, read_jsonl, read_lines, write_jsonl
from sightline.types import Annotation, Json, Picture, Tier

T = TypeVar("T")
BY, COST, SHA256, PHASH, SCHEMA, LOOK_ALIKE = "by", "cost_usd", "sha256", "phash", "schema", "look_alike"
"""Columns that benchmaker does not have: who said it, what it cost, of which bytes, under which questions."""
OURS = (BY, COST, SHA256, PHASH, SCHEMA, LOOK_ALIKE)
MEND = "correct the line, or remove it"
_DEFAULTS = ColumnSettings()
LABELS = ("style", "difficulty", "split")
"""Columns of a query that a report can break down by."""


class Pooled(NamedTuple):
    """A candidate: how it came into the pool, and how alike it is to the seeds."""

    picture: str
    tier: Tier
    score: float | None


@dataclass(frozen=True, slots=True)
class SeededQuery:
    """A query before it is planned: an id, and the pictures that stand for what is asked."""

    id: str
    seeds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlannedQuery:
    """A query with its pool, seeds first; `short` says how many candidates a tier lacks."""

    id: str
    seeds: tuple[str, ...]
    candidates: tuple[Pooled, ...]
    short: Mapping[Tier, int] = field(default_factory=dict)

    @property
    def pictures(self) -> tuple[str, ...]:
        """The pool's pictures, seeds first, as benchmaker lists them."""
        return tuple(candidate.picture for candidate in self.candidates)

    def of_tier(self, tier: Tier) -> tuple[Pooled, ...]:
        """The candidates of one tier, the most alike first."""
        return tuple(candidate for candidate in self.candidates if candidate.tier == tier)


def pool_problems(planned: PlannedQuery, judged: Collection[str], relevant: Collection[str]) -> list[str]:
    """What is wrong with a set of judgments: ids outside the pool, pictures not judged, a seed that is not relevant."""
    pool = dict.fromkeys(planned.pictures)
    found = [f'"{picture}" was judged, but is not in the pool' for picture in judged if picture not in pool]
    found += [f'"{picture}" is in the pool, but was not judged' for picture in pool if picture not in judged]
    return found + seed_problems(planned.seeds, relevant)


def seed_problems(seeds: Collection[str], relevant: Collection[str]) -> list[str]:
    """Seeds that do not fit the query that was made from them."""
    return [f'the seed "{seed}" was not judged relevant' for seed in seeds if seed not in relevant]


class StrictProblems(Complaints):
    """The first wrong line of a project's file ends the reading: a stage works on all of it, or not at all."""

    def __init__(self) -> None:
        super().__init__(FormatOptions())

    def add(self, file: str | Path, line: int | None, field_: str | None, message: str) -> None:
        raise ProblemsError(
            [Problem(str(file), line, field_, message)],
            "correct the line, or run the stage again that writes the file: what was paid for is in the journal",
        )


@dataclass(frozen=True, slots=True)
class AnnotationSet:
    """Annotations by picture; of several rows for the same picture the last one counts."""

    annotations: Mapping[str, Annotation] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    def looks(self) -> dict[str, PictureFingerprint]:
        """What the rows tell of which pictures are the same."""
        return {id_: look_of(note.extra) for id_, note in self.annotations.items()}


def look_of(values: Mapping[str, Json]) -> PictureFingerprint:
    """From columns; a perceptual hash is 16 hexadecimal digits, or a number."""
    sha256, phash, group = values.get(SHA256), values.get(PHASH), values.get(LOOK_ALIKE)
    number = phash if isinstance(phash, int) else _hexadecimal(phash)
    return PictureFingerprint(
        sha256 if isinstance(sha256, str) else None,
        None if number is None else number % 2**64,
        group if isinstance(group, str) else None,
    )


def _hexadecimal(text: Json) -> int | None:
    try:
        return int(text, 16) if isinstance(text, str) else None
    except ValueError:
        return None


# --- annotations -------------------------------------------------------------------------------------------


class AnnotationLines:
    """How a row of annotations is read and written: which columns are facets and flags, and what all are called."""

    def __init__(self, config: Config) -> None:
        self._names = config.columns
        self._told = {*config.annotate.taxonomy, *config.annotate.flags}
        plan = config.plan
        self._planned = {*plan.core_facets, *plan.off_facets, *plan.diversity_facets}
        names = config.columns
        self._fixed = (names.image_id, names.summary, names.tags, names.confidence)
        self._columns = {
            setting: tuple(dict.fromkeys((str(getattr(names, setting)), str(getattr(_DEFAULTS, setting)))))
            for setting in ("image_id", "summary", "tags", "confidence")
        }

    def read(self, row: Mapping[str, Any]) -> Annotation:
        """One row; raises `ValueError` with what was expected."""
        if "picture" in row and self._find(row, "image_id") is None:
            return _of_benchmark(row)
        columns = {setting: self._find(row, setting) for setting in self._columns}
        id_, tags = row.get(columns["image_id"] or ""), row.get(columns["tags"] or "") or ()
        if not isinstance(id_, str) or not id_:
            raise ValueError(f'expected a picture\'s id in "{self._names.image_id}"')
        if not isinstance(tags, list | tuple) or not all(isinstance(tag, str) for tag in tags):
            raise ValueError(f'expected a list of texts in "{columns["tags"]}"')
        sure = row.get(columns["confidence"] or "")
        sure = sure if isinstance(sure, dict) else {}
        facets: dict[str, str] = {}
        flags: dict[str, bool] = {}
        extra: dict[str, Json] = {}
        known = set(columns.values())
        for key, value in row.items():
            if key in known or value is None or key in (BY, COST):
                continue
            is_answer = key in self._told or key in self._planned or (not self._told and key in sure)
            if is_answer and isinstance(value, bool):
                flags[key] = value
            elif is_answer and isinstance(value, str):
                facets[key] = value
            else:
                extra[key] = value
        summary, by, cost = row.get(columns["summary"] or ""), row.get(BY), row.get(COST)
        return Annotation(
            id_,
            summary if isinstance(summary, str) else None,
            facets,
            flags,
            tuple(tags),
            {key: float(value) for key, value in sure.items() if isinstance(value, int | float)},
            by if isinstance(by, str) else None,
            float(cost) if isinstance(cost, int | float) else None,
            extra,
        )

    def write(self, note: Annotation) -> dict[str, Any]:
        """The same as a row."""
        names = self._names
        row: dict[str, Any] = {names.image_id: note.picture_id, names.summary: note.summary}
        row |= {**note.extra, **note.facets, **note.flags, names.tags: list(note.tags)}
        return row | {names.confidence: dict(note.confidence), BY: note.by, COST: note.cost_usd}

    def check_names(self) -> None:
        """Refuse a facet or a flag that would share its column with something else."""
        taken = sorted(self._told & {*self._fixed, *OURS, self._names.license, self._names.doi})
        if taken:
            raise UserError(
                f'a facet or flag is called "{taken[0]}", which is the name of another column.',
                "rename it in [annotate], or the column in [columns]",
            )

    def _find(self, row: Mapping[str, Any], setting: str) -> str | None:
        return next((name for name in self._columns[setting] if name in row), None)


def read_annotations(path: Path, config: Config) -> AnnotationSet:
    """All annotations of a file: benchmaker's, ours, or those of a benchmark folder."""
    lines, found, again = AnnotationLines(config), dict[str, Annotation](), 0
    for number, row in _objects(path):
        try:
            note = lines.read(row)
        except ValueError as error:
            raise LineError(path, number, str(error), MEND) from None
        again += note.picture_id in found
        found[note.picture_id] = note
    warnings = (f"{path}: {again:,} pictures are there more than once; the last row of each counts",) if again else ()
    return AnnotationSet(found, warnings)


def _of_benchmark(row: Mapping[str, Any]) -> Annotation:
    try:
        return AnnotationRecord.model_validate(row, strict=False).to_annotation()
    except ValidationError as error:
        raise ValueError(first_problem(error)) from None


def first_problem(error: ValidationError) -> str:
    """Where a row is wrong first, and how."""
    first = explain(error, "")[0]
    return f"{first.field}: {first.message}"


# --- pictures, seeds, plans --------------------------------------------------------------------------------


def read_images(path: Path, config: Config) -> tuple[dict[str, Picture], tuple[str, ...]]:
    """The pictures of `images.jsonl`, and what there is to say about repeated rows; other columns are in `extra`."""
    # A list that a scan made has addresses of its own; only bare ids are looked for in the configured folder.
    pictures = BenchmakerPictures(None, config.paths.pictures or path.parent, None, BenchmakerColumns(config.columns))
    warnings = pictures.read_list(path, StrictProblems())
    return pictures.found, tuple(warnings)


def listed_pictures(project: Project) -> dict[str, Picture]:
    """The pictures of a project, where they are listed."""
    path = project.found(IMAGES)
    return {} if path is None else read_images(path, project.config)[0]


def read_seeds(path: Path, config: Config) -> tuple[tuple[SeededQuery, ...], tuple[str, ...]]:
    """Queries and their seeds, from `seeds.jsonl` or from a plan."""
    found = read_plans(path, BenchmakerColumns(config.columns), StrictProblems())
    queries = tuple(SeededQuery(query, plan.seeds) for query, plan in found.values.items())
    return queries, tuple(found.warnings())


def write_seeds(path: Path, queries: Iterable[SeededQuery], config: Config) -> None:
    """`seeds.jsonl`, as benchmaker has it."""
    names = config.columns
    write_jsonl(path, ({names.query_id: query.id, names.seeds: list(query.seeds)} for query in queries))


def read_plan(path: Path, config: Config) -> dict[str, PlannedQuery]:
    """Planned queries by id, ours or benchmaker's; a candidate of which no tier is told is `pooled`."""
    found = read_plans(path, BenchmakerColumns(config.columns), StrictProblems())
    return {
        query: PlannedQuery(
            query,
            plan.seeds,
            tuple(Pooled(each.picture, each.tier, each.score) for each in plan.to_candidates(query)),
        )
        for query, plan in found.values.items()
    }


def write_plan(path: Path, queries: Iterable[PlannedQuery], config: Config) -> None:
    """`query_plan.jsonl`: benchmaker's columns, and beside them tier and score of each candidate."""
    names = config.columns
    write_jsonl(path, (plan_row(query, names) for query in queries))


def plan_row(query: PlannedQuery, names: ColumnSettings) -> dict[str, Any]:
    """One line of a plan."""
    row: dict[str, Any] = {
        names.query_id: query.id,
        names.seeds: list(query.seeds),
        names.candidates: list(query.pictures),
        "candidates": [
            {names.image_id: candidate.picture, "tier": candidate.tier, "score": candidate.score}
            for candidate in query.candidates
        ],
    }
    return row | ({"short": dict(query.short)} if query.short else {})


def _objects(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in read_lines(path):
        try:
            row = parse_line(path, number, line)
        except LineError as error:
            fix = (error.fix if isinstance(error, CutOffError) else None) or MEND
            raise LineError(path, number, error.reason, fix) from None
        if not isinstance(row, dict):
            raise LineError(path, number, "expected one JSON object", MEND)
        yield number, row


@dataclass(frozen=True, slots=True)
class QueryWording:
    """A query's words, the slices that it belongs to, and who worded it."""

    id: str
    text: str
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    by: str | None = None


def read_wordings(path: Path, config: Config) -> dict[str, QueryWording]:
    """Queries by id; of several rows for the same id the last counts. A row without words is refused."""
    found: dict[str, QueryWording] = {}
    for number, row in read_jsonl(path):
        if not isinstance(row, dict):
            raise LineError(path, number, "expected one JSON object")
        id_, text = _value(row, config, "query_id"), _value(row, config, "query")
        if not isinstance(id_, str) or not id_:
            raise LineError(path, number, f'expected the query\'s id in "{config.columns.query_id}"')
        if not isinstance(text, str) or not text.strip():
            raise LineError(
                path,
                number,
                f'expected the words of the query in "{config.columns.query}"',
                "write them, or make them again: sightline make query",
            )
        labels = {name: (value,) for name in LABELS if isinstance(value := row.get(name), str) and value}
        by = row.get(BY)
        found[id_] = QueryWording(id_, text.strip(), labels, by if isinstance(by, str) else None)
    return found


def _value(row: Mapping[str, Any], config: Config, setting: str) -> object:
    named, usual = str(getattr(config.columns, setting)), str(getattr(_DEFAULTS, setting))
    return row.get(named, row.get(usual))


# --- files that grow while a stage runs ---------------------------------------------------------------------


class GrowingFile(ABC):
    """A file that takes lines one by one, each on disk before the next; it is whole when the block ends.

    Killed in between, the lines of the unfinished run, in a file beside it, are found by the next one.
    """

    def __init__(self, project: Project, name: str) -> None:
        self.path = project.prepare(name)
        self.failed_path, self._partial = project.failed(name), project.partial(name)
        self.warnings: list[str] = []
        self._failures: dict[Hashable, Mapping[str, Any]] = {}
        self._file: AppendOnlyFile | None = None

    def _earlier(self, read: Callable[[object], T], again: str) -> Iterator[T]:
        """What earlier runs wrote; `again` says what becomes of a line that is cut off."""
        for path in (self.path, self._partial):
            if path.is_file():
                found, warnings = read_growing(path, read, again)
                self.warnings += warnings
                yield from found

    def __enter__(self) -> Self:
        self._file = AppendOnlyFile(self._partial)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._file is not None
        self._write()
        write_jsonl(self.failed_path, self._failures.values())
        self._file.close()
        self._partial.unlink(missing_ok=True)

    def _append(self, lines: bytes) -> None:
        assert self._file is not None
        self._file.append(lines)

    @abstractmethod
    def _write(self) -> None:
        """The whole file."""


def read_growing(path: Path, read: Callable[[object], T], again: str) -> tuple[list[T], list[str]]:
    """What `read` makes of each line, and a warning for a last one that is cut off; a wrong line is named."""
    found, warnings = [], []
    for number, line in read_lines(path):
        try:
            found.append(read(parse_line(path, number, line)))
        except CutOffError:
            warnings.append(f"{path}, line {number}: cut off by a run that was stopped; {again}")
        except LineError as error:
            raise LineError(path, number, error.reason, MEND) from None
        except ValueError as error:
            raise LineError(path, number, str(error), MEND) from None
    return found, warnings
