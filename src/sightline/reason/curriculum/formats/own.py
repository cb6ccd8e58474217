"""Sightline's own: one file of JSON lines for each stage, for `sightline train`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sightline.io import write_jsonl
from sightline.reason.curriculum.course import Course, Record
from sightline.reason.curriculum.formats.base import Format, write_by_stage


def _write(course: Course, folder: Path) -> None:
    write_by_stage(course, folder, ".jsonl", _write_stage)


def _write_stage(path: Path, records: Iterator[Record]) -> None:
    write_jsonl(path, map(line, records))


def line(record: Record) -> dict[str, Any]:
    """A record with all that is known of it."""
    exercise = record.exercise
    return {
        "id": record.id,
        "task": exercise.lesson.task,
        "phase": record.phase,
        "stage": record.stage,
        "form": exercise.stage.name,
        "order": record.order,
        "messages": record.messages,
        "images": list(record.images),
        "given": list(exercise.stage.given),
        "target": list(exercise.stage.target),
        "options": {option.key: option.text for option in exercise.lesson.options},
        "answer": exercise.lesson.answer,
        "target_chars": len(exercise.target),
        "tokens": asdict(record.tokens),
    }


def _usage(course: Course) -> str:
    return f"""`stages.json` lists the stages in the order of the training, each with its file of JSON lines. The user's
message has `<image>` where each of `images` (paths from this folder) stands; the loss belongs on the assistant's
message alone.

```console
$ sightline train . --model MODEL --out {course.trained}
```
"""


OWN = Format("sightline", _write, _usage)
