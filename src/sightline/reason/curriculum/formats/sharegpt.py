"""ShareGPT: `conversations` of `human` and `gpt`, with `images`, one file in the order of the training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sightline.reason.curriculum.course import Course, Record
from sightline.reason.curriculum.formats.base import Format, turns, write_in_order
from sightline.reason.curriculum.formats.ms_swift import swift_command


def _write(course: Course, folder: Path) -> None:
    write_in_order(course, folder, _line)


def _line(record: Record) -> dict[str, Any]:
    return {"id": record.id, "conversations": turns(record), "images": list(record.images)}


def _usage(course: Course) -> str:
    return f"""Many tools read these fields; whichever is used, turn its shuffling off. With ms-swift, in this folder:

{swift_command(course)}"""


SHAREGPT = Format("sharegpt", _write, _usage)
