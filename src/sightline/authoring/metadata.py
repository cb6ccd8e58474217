"""The stage `add-metadata`: columns that are known of the pictures, into annotations and judgments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sightline.authoring import project as files
from sightline.authoring.project import Project
from sightline.authoring.project_files import StrictProblems
from sightline.authoring.stage import StageResult
from sightline.benchmark.formats.rows import read_rows
from sightline.corpus.metadata_table import read_metadata_rows
from sightline.errors import UserError, did_you_mean
from sightline.io.jsonl import LineError, read_jsonl, write_jsonl

_TARGETS = (files.ANNOTATIONS, files.JUDGMENTS, files.SIMILARITY)
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class MetadataStage:
    """Copies columns by picture; a row keeps what it has under the same name, unless it is to be replaced."""

    columns: tuple[str, ...] = ()
    "Which columns; `annotate.metadata_columns`, data set and media type when not given."
    metadata: Path | None = None
    "JSONL, CSV or Parquet with an image_id; the list of pictures and `paths.metadata` when not given."
    replace: bool = False
    name: str = "add-metadata"
    writes: tuple[str, ...] = _TARGETS

    def run(self, project: Project) -> StageResult:
        """Add the columns to those of annotations and judgments that are there."""
        names = project.config.columns
        wanted = self.columns or (*project.config.annotate.metadata_columns, names.dataset, names.mime_type)
        known = self._known(project)
        self._check(wanted, known)
        targets = [path for name in _TARGETS if (path := project.found(name)) is not None]
        if not targets:
            raise UserError(
                f"there is nothing to add to: {project.path(files.JUDGMENTS)} and the others are not there.",
                "annotate or judge first, or name the folder with --out",
            )
        counts = {"pictures": len(known)}
        missing: dict[str, None] = {}
        for path in targets:
            rows = list(_filled(path, names.image_id, known, wanted, self.replace, missing))
            write_jsonl(path, rows)
            counts[f"rows of {path.name}"] = len(rows)
        return StageResult(self.name, tuple(targets), counts, warnings=_about(missing))

    def _known(self, project: Project) -> dict[str, dict[str, Any]]:
        """What is known of each picture, from the list of pictures and then from the file of metadata."""
        known: dict[str, dict[str, Any]] = {}
        listed, table = project.path(files.IMAGES), self.metadata or project.config.paths.metadata
        for row in read_rows(listed, StrictProblems()) if listed.is_file() else ():
            column = project.config.columns.image_id
            known[row.id(column if column in row.values else "image_id")] = dict(row.values)
        for id_, values in () if table is None else read_metadata_rows(table):
            known.setdefault(id_, {}).update(values)
        if not known:
            raise UserError(
                f"nothing is known of the pictures: there is no {listed}, and no file of metadata.",
                "list them first: sightline make pictures DIR, or give --metadata FILE",
            )
        return known

    def _check(self, wanted: Sequence[str], known: Mapping[str, Mapping[str, Any]]) -> None:
        there = {name for values in known.values() for name in values}
        for name in self.columns and wanted:
            if name not in there:
                hint = did_you_mean(name, there, f"There are: {', '.join(sorted(there)) or 'none'}")
                raise UserError(f'no picture has a column "{name}".', hint)


def _filled(
    path: Path,
    column: str,
    known: Mapping[str, Mapping[str, Any]],
    wanted: Sequence[str],
    again: bool,
    missing: dict[str, None],
) -> Iterator[dict[str, Any]]:
    for number, row in read_jsonl(path):
        id_ = row.get(column, row.get("image_id")) if isinstance(row, dict) else None
        if not isinstance(id_, str):
            raise LineError(path, number, f'expected an object with "{column}"')
        if id_ not in known:
            missing[id_] = None
        found = {name: value for name in wanted if (value := known.get(id_, {}).get(name)) is not None}
        kept = {} if again else {name: value for name, value in row.items() if value is not None}
        yield {**row, **found, **kept}


def _about(missing: Mapping[str, None]) -> tuple[str, ...]:
    if not missing:
        return ()
    shown = ", ".join(list(missing)[:_SHOWN])
    return (f"{len(missing):,} pictures are in no list of pictures, and get no columns, for example {shown}",)
