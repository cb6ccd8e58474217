"""The queries in words, as `queries.jsonl` has them, or as a file of judgments repeats them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sightline.config import Config
from sightline.config.settings import ColumnSettings
from sightline.io import LineError, read_jsonl

LABELS = ("style", "difficulty", "split")
"""Columns of a query that a report can break down by."""
_DEFAULTS = ColumnSettings()


@dataclass(frozen=True, slots=True)
class Wording:
    """A query's words, and the slices that it belongs to."""

    id: str
    text: str
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def read_wordings(path: Path, config: Config) -> dict[str, Wording]:
    """Queries by id; of several rows for the same id the last counts. A row without words is refused."""
    found: dict[str, Wording] = {}
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
                "write them, or make them anew: sightline make query",
            )
        labels = {name: (value,) for name in LABELS if isinstance(value := row.get(name), str) and value}
        found[id_] = Wording(id_, text.strip(), labels)
    return found


def _value(row: Mapping[str, Any], config: Config, setting: str) -> object:
    named, usual = str(getattr(config.columns, setting)), str(getattr(_DEFAULTS, setting))
    return row.get(named, row.get(usual))
