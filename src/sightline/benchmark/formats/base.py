"""What a format is: a name, a way in, a way out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from sightline.benchmark.problems import Problem, ProblemsError
from sightline.types import Benchmark, Corpus, Run

Content: TypeAlias = Benchmark | Run | Corpus
"""What can be exported."""


@dataclass(frozen=True, slots=True)
class FormatOptions:
    """How to read or write: `columns` are the user's `--map field=column`; `benchmark` is what a run was made on.

    `source` is the folder that is exported, for formats that need more of it than its content; `hub` is the data set
    that was fetched by its name to be imported.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    name: str | None = None
    split: str | None = None
    limit: int | None = None
    seed: int = 0
    keep_going: bool = False
    local_only: bool = False
    pictures: Path | None = None
    benchmark: Benchmark | None = None
    source: Path | None = None
    hub: str | None = None
    extra: Mapping[str, str] = field(default_factory=dict)

    def column(self, name: str) -> str:
        """The column that holds a field: its own name, unless the user mapped it."""
        return self.columns.get(name, name)


class Complaints:
    """Where a reader reports wrong lines: the first one ends the reading, unless it is to keep going."""

    def __init__(self, options: FormatOptions) -> None:
        self._keep_going = options.keep_going
        self.problems: list[Problem] = []

    def add(self, file: str | Path, line: int | None, field_: str | None, message: str) -> None:
        problem = Problem(str(file), line, field_, message)
        self.problems.append(problem)
        if not self._keep_going:
            raise ProblemsError([problem], "correct the line, or add --keep-going to import the rest and list them all")


@dataclass(frozen=True, slots=True)
class Imported:
    """What was read: a benchmark or a run, lines that were left out, and things that the user should know."""

    content: Benchmark | Run
    problems: tuple[Problem, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Format:
    """One format; `hub` is the data set that its bare name stands for, where it has a home on a hub."""

    name: str
    summary: str
    read: Callable[[Path, FormatOptions], Imported] | None = None
    write: Callable[[Content, Path, FormatOptions], None] | None = None
    writes: tuple[type[Benchmark] | type[Run] | type[Corpus], ...] = ()
    hub: str | None = None
