"""What differs between two versions of a benchmark, and by whose decisions."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from sightline.types import Benchmark, Json

What: TypeAlias = Literal["label", "new label", "words", "answer"]


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that is different now: what it was, by whose decisions, and when the last of them was made."""

    task: str
    what: What
    was: Json
    now: Json
    people: tuple[str, ...]
    when: datetime
    picture: str | None = None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A query that is not in the new version, and why."""

    task: str
    reason: str
    people: tuple[str, ...] = ()
    when: datetime | None = None


@dataclass(frozen=True, slots=True)
class Applied:
    """A new version of a benchmark, and all that makes it differ from the one before."""

    benchmark: Benchmark
    changes: tuple[Change, ...]
    left_out: tuple[LeftOut, ...]
    accepted: tuple[str, ...]
    confirmed: int
    undecided: int

    def counts(self) -> dict[str, int]:
        """The summary of what changed, in numbers."""
        kinds = Counter(change.what for change in self.changes)
        return {
            "queries": len(self.benchmark.tasks),
            "labels changed": kinds["label"],
            "labels added": kinds["new label"],
            "labels confirmed": self.confirmed,
            "queries reworded": kinds["words"],
            "answers corrected": kinds["answer"],
            "queries accepted": len(self.accepted),
            "queries left out": len(self.left_out),
            "undecided": self.undecided,
        }
