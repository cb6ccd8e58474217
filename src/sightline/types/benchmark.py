"""A benchmark: a corpus, tasks, what is true of them, and the annotations, judgments and reviews behind that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from sightline.arguments import checked
from sightline.class_names import known_as
from sightline.display import Table, quiet
from sightline.english import counted
from sightline.types.corpus import Corpus, Json
from sightline.types.task import Task
from sightline.types.task_table import Tasks
from sightline.types.truth import Truth

if TYPE_CHECKING:
    from sightline.io.files import PathLike


@dataclass(frozen=True, slots=True)
class Annotation:
    """A description of one picture, with who gave it and what it cost."""

    picture_id: str
    summary: str | None = None
    facets: Mapping[str, str] = field(default_factory=dict)
    flags: Mapping[str, bool] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    confidence: Mapping[str, float] = field(default_factory=dict)
    by: str | None = None
    cost_usd: float | None = None
    extra: Mapping[str, Json] = field(default_factory=dict)


Tier: TypeAlias = Literal["seed", "positive", "neutral", "hard", "near", "easy", "random", "pooled"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A picture put into a task's pool, from which tier and with what score."""

    task: str
    picture: str
    tier: Tier
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Judgment:
    """What one judge said of one picture for one task."""

    task: str
    picture: str
    judge: str
    grade: int
    confidence: float | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Review:
    """What one person decided about a task, or about one picture of it."""

    task: str
    person: str
    decision: str
    when: datetime
    picture: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class _Fields(Table[Task]):
    """What a benchmark is made of: any mapping of tasks will do."""

    name: str
    corpus: Corpus
    tasks: Mapping[str, Task]
    truth: Mapping[str, Truth]
    version: str = "1"
    metrics: tuple[str, ...] = ()
    card: Mapping[str, Json] = field(default_factory=dict)
    annotations: tuple[Annotation, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    judgments: tuple[Judgment, ...] = ()
    reviews: tuple[Review, ...] = ()
    checksum: str | None = None
    former_checksums: frozenset[str] = field(default=frozenset(), compare=False)
    folder: Path | None = field(default=None, compare=False)


@known_as("Benchmark")
@dataclass(frozen=True, slots=True, repr=False)
class Benchmark(_Fields):
    """Corpus, tasks, truth, metrics and card; `checksum` names exactly this content once it is on disk.

    Its rows are its tasks; `benchmark.tasks[:5]` are the first five. `former_checksums` are versions with the same
    tasks, whose runs it scores too; `folder` is where it was read from.
    """

    if TYPE_CHECKING:

        @property  # type: ignore[misc]
        def tasks(self) -> Tasks:
            """The tasks by id, in order."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "tasks", Tasks(self.tasks, self.truth, self.corpus.pictures, self.folder))

    def records(self) -> list[dict[str, Any]]:
        """One flat record for each task."""
        return self.tasks.records()

    def __str__(self) -> str:
        return f"{self._line()}\n{self.tasks}"

    def _rows(self) -> Sequence[Task]:
        return tuple(self.tasks.values())

    def _line(self) -> str:
        kinds = Counter(task.kind for task in self.tasks.values())
        tasks = f" ({', '.join(f'{count:,} {kind}' for kind, count in kinds.items())})" if len(kinds) > 1 else ""
        pictures = counted(len(self.corpus.pictures), "picture")
        return f"{self.name}, version {self.version}: {counted(len(self.tasks), 'task')}{tasks} on {pictures}"

    def _blocks(self) -> Iterable[str]:
        if self.metrics:
            yield quiet(f"Metrics: {', '.join(self.metrics)}")
        yield from self.tasks._blocks()

    def is_version(self, checksum: str | None) -> bool:
        """Whether a checksum that a run keeps names this content; one that is not known, here or there, may."""
        return checksum is None or self.checksum in (None, checksum) or checksum in self.former_checksums

    @classmethod
    @checked
    def from_tables(
        cls,
        pictures: Any,
        queries: Any,
        judgments: Any,
        *,
        name: str = "benchmark",
        columns: Mapping[str, str] | None = None,
        labels: str | Sequence[str] = (),
        metrics: str | Sequence[str] = (),
        root: PathLike | None = None,
    ) -> Benchmark:
        """Make a benchmark from data frames (pandas or polars), lists or dictionaries.

        Columns are found by their usual names (`query_id`, `image_id`, `relevance`, …); `columns` says the others.
        A wrong cell is refused with its row and its column.

        Parameters
        ----------
        pictures:
            A table with an id, a path or address, or both; a list of ids, paths or addresses; `{id: path}`; a `Corpus`.
            Other columns are kept with the picture. None: those that the judgments name.
        queries:
            A table with `query_id` and `text`; `{id: text}`; a list of texts, which are then their own ids. A column
            `picture` shows a picture with the words. None: the ids that the judgments name.
        judgments:
            A table with `query_id`, `picture` and `grade`, or without grades where every row says "relevant";
            tuples of the same; `{query: {picture: grade}}`; `{query: [pictures]}`. A grade is a whole number or a truth
            value: 0 is judged and not relevant, a negative one is not judged. For other kinds of task
            `{query: PictureSet(("a.jpg",))}` (exactly these pictures), `{query: Answer("two")}`, or
            `{query: Choice("B")}` with a column `options` in the queries.
        name:
            What the benchmark is called.
        columns:
            Where a column is called otherwise, `{field: column}`, as with `import --map`; fields are `picture`, `uri`,
            `query`, `text` and `grade`.
        labels:
            Columns of the queries by which scores are broken down.
        metrics:
            What is scored when nothing else is said.
        root:
            Where relative paths of pictures begin; the current folder when not given.

        Returns
        -------
        Benchmark
            Rank tasks, unless the judgments say otherwise, in memory; queries without a judgment are left out, with a
            warning.

        Examples
        --------
        >>> benchmark = Benchmark.from_tables(
        ...     pictures=["a.jpg", "b.jpg", "c.jpg"],
        ...     queries={"q1": "a red bicycle"},
        ...     judgments={"q1": {"a.jpg": 2, "b.jpg": 0}},
        ... )
        >>> benchmark.tasks["q1"].text
        'a red bicycle'
        """
        from sightline.benchmark.from_tables import benchmark_from_tables

        return benchmark_from_tables(
            pictures, queries, judgments, name=name, columns=columns, labels=labels, metrics=metrics, root=root
        )
