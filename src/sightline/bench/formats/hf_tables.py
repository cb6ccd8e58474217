"""The tables of a benchmark as columns of a Parquet file; what is nested is JSON text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from sightline.bench import files
from sightline.bench.formats.parquet import IMAGE
from sightline.bench.formats.replies import right_replies
from sightline.bench.table import Table
from sightline.bench.truth import TaskTruth
from sightline.io import dump
from sightline.types import Task

JSON = "json"
_TEXT, _NUMBER, _COUNT, _IDS = "string", "float64", "int64", ["string"]


def _nothing(_: Any) -> Mapping[str, Any]:
    return {}


@dataclass(frozen=True, slots=True)
class Columns:
    """A table and its columns; those that `shown` gives are for readers and are not read back.

    No two rows have the same `key`, if there is one.
    """

    table: Table[Any, Any]
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


PICTURES = Columns(
    files.PICTURES,
    {
        "id": _TEXT, "image": IMAGE, "uri": _TEXT, "sha256": _TEXT, "phash": _TEXT, "width": _COUNT, "height": _COUNT,
        "mime": _TEXT, "taken_at": _TEXT, "lat": _NUMBER, "lon": _NUMBER, "altitude": _NUMBER, "address": _TEXT,
        "device": _TEXT, "rights": JSON, "extra": JSON,
    },
    key="id",
)  # fmt: skip
TASKS = Columns(
    files.TASKS,
    {
        "id": _TEXT, "kind": _TEXT, "text": _TEXT, "pictures": _IDS, "prompt": JSON, "options": JSON, "scope": JSON,
        "labels": JSON, "translations": JSON, "extra": JSON,
    },
    key="id",
    shown=_task_for_readers,
)  # fmt: skip
TRUTH = Columns(
    files.TRUTH,
    {"task": _TEXT, "form": _TEXT, "answer": _IDS, "truth": JSON},
    key="task",
    shown=_truth_for_readers,
)
GROUPS = Columns(files.GROUPS, {"id": _TEXT, "kind": _TEXT, "pictures": _IDS, "hidden": "bool"})
ANNOTATIONS = Columns(
    files.ANNOTATIONS,
    {
        "picture": _TEXT, "summary": _TEXT, "facets": JSON, "flags": JSON, "tags": _IDS, "confidence": JSON,
        "by": _TEXT, "cost_usd": _NUMBER, "extra": JSON,
    },
)  # fmt: skip
CANDIDATES = Columns(files.CANDIDATES, {"task": _TEXT, "picture": _TEXT, "tier": _TEXT, "score": _NUMBER})
JUDGMENTS = Columns(
    files.JUDGMENTS,
    {"task": _TEXT, "picture": _TEXT, "judge": _TEXT, "grade": _COUNT, "confidence": _NUMBER, "reason": _TEXT},
)
REVIEWS = Columns(files.REVIEWS, {"task": _TEXT, "picture": _TEXT, "person": _TEXT, "decision": _TEXT, "when": _TEXT})
