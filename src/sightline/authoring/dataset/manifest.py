"""How a benchmark is published, and `sightline.json` in the folder: what is in it, and what was left out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import date
from pathlib import Path
from typing import Any

from sightline.benchmark.grade import Grade
from sightline.errors import UserError
from sightline.io.files import sha256_of
from sightline.io.jsonl import read_json
from sightline.types import Group, ScoreWarning

MANIFEST = "sightline.json"
SCHEMA = 1


@dataclass(frozen=True, slots=True)
class PublishTerms:
    """How a benchmark is published; kept with it, so that it can be made again without a picture."""

    layout: str = "retrieval"
    splits: str = "test"
    licences: tuple[str, ...] | None = None
    together: tuple[str, ...] = ("duplicate", "burst", "event", "owner")
    keep_metadata: bool = False
    seed: int = 0
    keep_ids: bool = False

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> PublishTerms:
        """From JSON, where tuples are lists."""
        known: dict[str, Any] = {name: values[name] for field in fields(cls) if (name := field.name) in values}
        return cls(**known | {name: tuple(value) for name, value in known.items() if isinstance(value, list)})


@dataclass(frozen=True, slots=True)
class PublishOptions:
    """What a folder is built with, beside the terms that it keeps."""

    released: date
    repo: str | None = None
    agreed: bool = False
    "Somebody said yes to what is asked first: pictures of people, ids that tell something."
    taken_down: Collection[str] = ()
    set_aside: int = 0
    "Queries that were set aside while the benchmark was made."
    ties: Sequence[Group] = ()
    "Bursts, events and owners that are known of the pictures but not in the benchmark."
    names: Path | None = None
    "Where it is kept which picture has which published id; outside the folder."
    grade: Grade | None = None
    "How far the labels of the whole benchmark can be trusted."
    warnings: tuple[ScoreWarning, ...] = ()


@dataclass(frozen=True, slots=True)
class DatasetManifest:
    """What a published folder says about itself."""

    name: str
    version: str
    content: str
    terms: PublishTerms
    released: str
    repo: str | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)
    lost_tasks: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {"schema": SCHEMA, **asdict(self)}


def read_manifest(folder: Path) -> DatasetManifest:
    """The manifest of a published folder."""
    path = folder / MANIFEST
    if not path.is_file():
        raise UserError(
            f"{folder} is not a published folder: it has no {MANIFEST}.", "make one: sightline make publish"
        )
    found = read_json(path)
    if not isinstance(found, dict) or found.get("schema") != SCHEMA:
        raise UserError(f"{path} is of another version.", "publish again: sightline make publish")
    known = {name: found[name] for field in fields(DatasetManifest) if (name := field.name) in found}
    return DatasetManifest(**{**known, "terms": PublishTerms.of(found["terms"])})


def checksums(folder: Path) -> dict[str, str]:
    """SHA-256 of every file of a folder, by its path there, without the manifest."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != MANIFEST)
    return {path.relative_to(folder).as_posix(): sha256_of(path) for path in files}
