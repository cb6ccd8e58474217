"""The version of the files, and how older ones become current: one small step per version."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from pathlib import Path
from typing import Any, TypeAlias

from sightline.bench.problems import Problem, ProblemsError
from sightline.errors import UserError

CURRENT = 2

Row: TypeAlias = dict[str, Any]
Upgrade: TypeAlias = Callable[[Row], Row]


def version_of(header: Any, path: Path) -> int:
    """The schema version that `benchmark.json` or `run.json` states; a newer one than ours is refused."""
    version = header.get("schema") if isinstance(header, dict) else None
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        expected = f"expected a schema version, an integer from 1 to {CURRENT}"
        raise ProblemsError([Problem(path.name, None, "schema", expected)], f"is {path} one of Sightline's files?")
    if version > CURRENT:
        raise UserError(
            f"{path} has schema {version}; this Sightline reads up to {CURRENT}.",
            "upgrade: pip install --upgrade sightline",
        )
    return version


def upgrade_of(file: str, version: int) -> Upgrade | None:
    """What turns a row of `file` in that version into a current one; None when there is nothing to do."""
    if version == CURRENT:
        return None
    steps = [_STEPS[older][file] for older in range(version, CURRENT) if file in _STEPS[older]]

    def upgrade(row: Row) -> Row:
        return reduce(lambda older, step: step(older), steps, row)

    return upgrade


def _add_checksums(row: Row) -> Row:
    return {**row, "schema": 2, "checksums": {}}


def _state_version(row: Row) -> Row:
    return {**row, "schema": 2}


def _slices_to_labels(row: Row) -> Row:
    if not isinstance(row.get("slices"), dict):
        return row
    labels = {
        name: values[0] if isinstance(values, list) and len(values) == 1 else values
        for name, values in row["slices"].items()
    }
    return {key: value for key, value in row.items() if key != "slices"} | {"labels": labels}


def _failure_to_object(row: Row) -> Row:
    if not isinstance(row.get("failure"), str):
        return row
    return {**row, "failure": {"kind": "unknown", "message": row["failure"]}}


# From the version that is the key to the next one; each function takes and gives a row of that file.
_STEPS: Mapping[int, Mapping[str, Upgrade]] = {
    1: {
        "benchmark.json": _add_checksums,
        "tasks.jsonl": _slices_to_labels,
        "run.json": _state_version,
        "predictions.jsonl": _failure_to_object,
    },
}
