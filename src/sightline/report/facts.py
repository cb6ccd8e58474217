"""What a benchmark is made of, in counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sightline.score.scores import Scores
from sightline.types import Benchmark, Json, PictureSet, Relevance, TaskKind


@dataclass(frozen=True, slots=True)
class Facts:
    """Counts of a benchmark; `pictures`, `judgments` and `groups` are None where only its scores are at hand.

    `judgments` counts the pictures that the truth speaks of; `prompts` are the words of each task.
    """

    name: str
    checksum: str | None
    kinds: Mapping[TaskKind, int]
    labels: Mapping[str, Mapping[str, int]]
    version: str | None = None
    pictures: int | None = None
    judgments: int | None = None
    groups: Mapping[str, int] | None = None
    card: Mapping[str, Json] = field(default_factory=dict)
    prompts: Mapping[str, str] = field(default_factory=dict)
    former_checksums: frozenset[str] = frozenset()

    @property
    def tasks(self) -> int:
        return sum(self.kinds.values())


def facts_of(benchmark: Benchmark) -> Facts:
    """The counts of a benchmark that was read."""
    tasks = benchmark.tasks.values()
    judged = (
        len(truth.grades) if isinstance(truth, Relevance) else len(truth.pictures)
        for truth in benchmark.truth.values()
        if isinstance(truth, Relevance | PictureSet)
    )
    return Facts(
        name=benchmark.name,
        checksum=benchmark.checksum,
        kinds=Counter(task.kind for task in tasks),
        labels=_count_labels(task.labels for task in tasks),
        version=benchmark.version,
        pictures=len(benchmark.corpus.pictures),
        judgments=sum(judged),
        groups=Counter(group.kind for group in benchmark.corpus.groups),
        card=benchmark.card,
        prompts={task.id: task.text for task in tasks},
        former_checksums=benchmark.former_checksums,
    )


def facts_from_scores(scores: Scores) -> Facts:
    """What a run's scores tell of the benchmark when its folder is not at hand."""
    tasks = {row.task_id: row for row in scores.tasks}.values()
    return Facts(
        name=scores.benchmark,
        checksum=scores.checksum,
        kinds=Counter(row.kind for row in tasks),
        labels=_count_labels(row.labels for row in tasks),
    )


def _count_labels(labels: Iterable[Mapping[str, tuple[str, ...]]]) -> dict[str, dict[str, int]]:
    counts: dict[str, Counter[str]] = {}
    for of_task in labels:
        for label, values in of_task.items():
            counts.setdefault(label, Counter()).update(values)
    return {
        label: dict(sorted(values.items(), key=lambda pair: (-pair[1], pair[0])))
        for label, values in sorted(counts.items())
    }
