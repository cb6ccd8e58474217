"""Teachers that say what they are told to, and pictures that are only addresses."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sightline.calls.session import CallOptions, Session
from sightline.io.jsonl import write_jsonl
from sightline.reason.traces.pipeline import TraceWork
from sightline.reason.traces.questions import PictureSource
from sightline.reason.traces.records import PictureKnowledge, Teacher, TracePicture
from sightline.reason.traces.teachers import TraceSettings

ONE = (
    "<think>I see {0} and think about what else is there, step by step.</think>"
    "The picture shows {0} in a quiet place. Nothing else of note stands near {0}. The light is soft today."
)
"""What a first teacher says of a thing, and what a second one says, who sees the same."""
TWO = (
    "◁think▷There is {0}, as far as I can tell, and the rest is background.◁/think▷"
    "The picture shows {0} in a quiet place. The ground below is covered with fine gravel. "
    "It may be spring in the hills."
)


def script(path: Path, lines: Sequence[dict[str, Any]]) -> Teacher:
    """A teacher who answers by the words of the prompt."""
    write_jsonl(path, lines)
    return Teacher(f"scripted/{path}")


def source_of(subjects: Sequence[TracePicture], name: str = "things") -> PictureSource:
    return PictureSource(name, len(subjects), lambda: iter(subjects))


def things(names: Sequence[str]) -> list[TracePicture]:
    return [
        TracePicture(f"{number:04d}.jpg", f"https://p.example/{number}.jpg", PictureKnowledge((name,)))
        for number, name in enumerate(names)
    ]


def work_of(
    subjects: Sequence[TracePicture], settings: TraceSettings, folder: Path, asking: CallOptions | None = None
) -> TraceWork:
    return TraceWork(source_of(subjects), settings, Session(folder / "ws", calls=asking or CallOptions()))
