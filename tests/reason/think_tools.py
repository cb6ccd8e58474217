"""Teachers that say what they are told to, and pictures that are only addresses."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sightline.io import write_jsonl
from sightline.models.asking import Asking
from sightline.reason.traces.asking import Settings
from sightline.reason.traces.making import Work
from sightline.reason.traces.nouns import Known, Subject, Teacher
from sightline.reason.traces.sources import Source

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


def source_of(subjects: Sequence[Subject], name: str = "things") -> Source:
    return Source(name, len(subjects), lambda: iter(subjects))


def things(names: Sequence[str]) -> list[Subject]:
    return [
        Subject(f"{number:04d}.jpg", f"https://p.example/{number}.jpg", Known((name,)))
        for number, name in enumerate(names)
    ]


def work_of(subjects: Sequence[Subject], settings: Settings, folder: Path, asking: Asking | None = None) -> Work:
    return Work(source_of(subjects), settings, folder / "ws", asking=asking or Asking())
