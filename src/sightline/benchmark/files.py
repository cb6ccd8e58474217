"""The files of a BENCH folder, and the checksum that names their content."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sightline.benchmark.records import (
    AnnotationRecord,
    CandidateRecord,
    GroupRecord,
    JudgmentRecord,
    PictureRecord,
    ReviewRecord,
    TaskRecord,
)
from sightline.benchmark.table import RecordTable, plain_table, table
from sightline.benchmark.truth import FORMS, TruthRecord, from_task_truth, to_task_truth
from sightline.io.files import sha256_of
from sightline.types import Candidate, Group, Judgment, Review

HEADER = "benchmark.json"

PICTURES = table("pictures.jsonl", PictureRecord, PictureRecord.to_picture, PictureRecord.from_picture, required=True)
GROUPS = plain_table("groups.jsonl", GroupRecord, Group)
TASKS = table("tasks.jsonl", TaskRecord, TaskRecord.to_task, TaskRecord.from_task, required=True)
TRUTH = table("truth.jsonl", TruthRecord, to_task_truth, from_task_truth, forms=FORMS, required=True)
ANNOTATIONS = table(
    "annotations.jsonl", AnnotationRecord, AnnotationRecord.to_annotation, AnnotationRecord.from_annotation
)
CANDIDATES = plain_table("candidates.jsonl", CandidateRecord, Candidate)
JUDGMENTS = plain_table("judgments.jsonl", JudgmentRecord, Judgment)
REVIEWS = plain_table("reviews.jsonl", ReviewRecord, Review)

TABLES: tuple[RecordTable[Any, Any], ...] = (
    PICTURES,
    GROUPS,
    TASKS,
    TRUTH,
    ANNOTATIONS,
    CANDIDATES,
    JUDGMENTS,
    REVIEWS,
)


def checksums(folder: Path) -> dict[str, str]:
    """The SHA-256 of each table that is there, by file name, in order."""
    names = sorted(table.name for table in TABLES if (folder / table.name).is_file())
    return {name: sha256_of(folder / name) for name in names}


def checksum(parts: Mapping[str, str]) -> str:
    """One checksum for all that a run depends on: every table but the reviews, which change no label.

    A shell says the same with `ls *.jsonl | grep -v reviews | xargs sha256sum | sha256sum`.
    """
    listing = "".join(f"{parts[name]}  {name}\n" for name in sorted(parts) if name != REVIEWS.name)
    return hashlib.sha256(listing.encode()).hexdigest()


def review_checksums(folder: Path) -> Iterator[str]:
    """The SHA-256 of the reviews after each of their lines: what their checksum was at any time."""
    path = folder / REVIEWS.name
    if not path.is_file():
        return
    digest = hashlib.sha256()
    with path.open("rb") as file:
        for line in file:
            digest.update(line)
            yield digest.hexdigest()
