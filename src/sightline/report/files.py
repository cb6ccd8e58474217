"""The tables beside a page, as CSV: every attempt at every task, every slice, every difference."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, count
from typing import Any

from sightline.report.gather import Section
from sightline.report.output import csv_bytes

_NOT_PLAIN = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class FileNames:
    """How the tables of one benchmark are called."""

    per_task: str
    slices: str
    pairs: str


def file_names(stem: str, sections: Sequence[Section]) -> list[FileNames]:
    """`page-samples-per-task.csv` and so on; each benchmark's name is used once."""
    slugs = unique_slugs([section.facts.name for section in sections])
    return [
        FileNames(*(f"{stem}-{slug}-{table}.csv" for table in ("per-task", "slices", "differences"))) for slug in slugs
    ]


def unique_slugs(names: Sequence[str]) -> list[str]:
    """Names in plain small letters, each once."""
    found: list[str] = []
    for name in names:
        plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
        slug = _NOT_PLAIN.sub("-", plain).strip("-")[:60] or "benchmark"
        numbered = (f"{slug}-{number}" for number in count(2))
        found.append(next(one for one in chain([slug], numbered) if one not in found))
    return found


def tables_of(section: Section, names: FileNames) -> dict[str, bytes]:
    """The tables of a benchmark by file name; those that would be empty are left out."""
    tables = {
        names.per_task: list(_per_task(section)),
        names.slices: list(_slices(section)),
        names.pairs: list(_pairs(section)),
    }
    return {name: csv_bytes(rows) for name, rows in tables.items() if rows}


def _per_task(section: Section) -> Iterator[dict[str, Any]]:
    for run in section.runs:
        for record in run.scores.records():
            yield {"system": run.name, **record}


def _slices(section: Section) -> Iterator[dict[str, Any]]:
    for run in section.runs:
        for label, values in run.scores.by_label.items():
            for value, estimates in values.items():
                for metric, found in estimates.items():
                    yield {"label": label, "value": value, "metric": metric, "system": run.name, **asdict(found)}


def _pairs(section: Section) -> Iterator[dict[str, Any]]:
    for metric in section.metrics:
        for pair in section.pairs(metric):
            both = {"metric": metric, "first": pair.first, "second": pair.second}
            yield {**both, **asdict(pair.difference), "p_adjusted": pair.p_adjusted}
