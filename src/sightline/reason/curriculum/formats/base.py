"""What a format is: how to write a curriculum's files, and how they are used."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sightline.io import dump, write_json, write_jsonl, write_whole
from sightline.reason.curriculum.course import Course, Record

TRAIN = "train.jsonl"
STAGES = "stages.json"
MODEL = "Qwen/Qwen2.5-VL-7B-Instruct"
"""In the ready commands; MIR's own choice."""


@dataclass(frozen=True, slots=True)
class Format:
    """A way to write a curriculum; `usage` is the part of its README that says how to train with it."""

    name: str
    write: Callable[[Course, Path], None]
    usage: Callable[[Course], str]


def write_in_order(course: Course, folder: Path, line: Callable[[Record], Any]) -> None:
    """All records in one file in the order of the training, and where each stage begins in it."""
    write_jsonl(folder / TRAIN, map(line, course.records()))
    first, stages = 1, []
    for stage in course.stages:
        row = {"name": stage.name, "phase": stage.phase, "file": TRAIN, "first_line": first}
        stages.append({**row, "records": len(stage.entries), "tokens": stage.tokens})
        first += len(stage.entries)
    write_json(folder / STAGES, stages)


def write_by_stage(course: Course, folder: Path, suffix: str, write: Callable[[Path, Iterator[Record]], None]) -> None:
    """A file for each stage, and their list in the order of the training."""
    stages = []
    for name, stage in zip(stage_names(course), course.stages, strict=True):
        file = f"{name}{suffix}"
        write(folder / file, course.records(stage))
        row = {"name": stage.name, "phase": stage.phase, "file": file}
        stages.append({**row, "records": len(stage.entries), "tokens": stage.tokens})
    write_json(folder / STAGES, stages)


def stage_names(course: Course) -> list[str]:
    """`01-easy`, `02-stage-1`, …: names of files that sort in the order of the training."""
    return [f"{number:02}-{stage.name}" for number, stage in enumerate(course.stages, 1)]


def write_list(path: Path, rows: Iterable[Any]) -> None:
    """One JSON list, a row on each line, written as a stream."""
    write_whole(path, _listed(rows))


def turns(record: Record) -> list[dict[str, str]]:
    """The messages in ShareGPT's words."""
    return [
        {"from": "human", "value": record.exercise.prompt},
        {"from": "gpt", "value": record.exercise.target},
    ]


def longest(course: Course) -> int:
    """The length to train at: the limit that was proved, else the longest record and, if estimated, half as much."""
    wanted = course.proof.longest if course.counter.exact else course.proof.longest * 3 // 2
    return course.proof.against.limit_tokens or -(-wanted // 1024) * 1024


def _listed(rows: Iterable[Any]) -> Iterator[bytes]:
    before = b"[\n"
    for row in rows:
        yield before + dump(row).rstrip()
        before = b",\n"
    yield b"\n]\n" if before != b"[\n" else b"[]\n"
