"""The labels of a made benchmark against the exact truth: how many are right, and how many true pictures they hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from sightline.metrics.statistics import estimate
from sightline.types import Benchmark, Estimate, Relevance
from sightline_world.demo.truth import Exact


@dataclass(frozen=True, slots=True)
class TruthAudit:
    """Shares with intervals that resample queries; labels of pictures that can be doubted are left out, and counted.

    `right`: of all labels. `precision`: of those that say relevant, the true ones. `recall`: of all pictures of the
    life of which a query is true, those that are labelled relevant; `recall_in_pools`: of those among the judged.
    """

    queries: int
    labels: int
    doubtful: int
    not_understood: tuple[str, ...]
    right: Estimate
    precision: Estimate
    recall: Estimate
    recall_in_pools: Estimate

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return asdict(self)


def audit_by_truth(made: Benchmark, exact: Mapping[str, Exact], *, seed: int = 0) -> TruthAudit:
    """Hold every label of the benchmark against the truth."""
    labels = {
        (task, picture): grade > 0
        for task, truth in made.truth.items()
        if task in exact and isinstance(truth, Relevance)
        for picture, grade in truth.grades.items()
    }
    certain = {pair: yes for pair, yes in labels.items() if pair[1] not in exact[pair[0]].doubtful}
    true = {(task, picture) for task, known in exact.items() for picture in known.true}
    said = {pair for pair, yes in certain.items() if yes}

    def share(holds: Mapping[tuple[str, str], bool]) -> Estimate:
        tasks = [task for task, _ in holds]
        return estimate([float(yes) for yes in holds.values()], clusters=tasks, proportion=True, seed=seed)

    return TruthAudit(
        queries=len(exact),
        labels=len(labels),
        doubtful=len(labels) - len(certain),
        not_understood=tuple(task for task in made.tasks if task not in exact),
        right=share({pair: yes == (pair in true) for pair, yes in certain.items()}),
        precision=share(_among(said, true)),
        recall=share(_among(true, said)),
        recall_in_pools=share(_among(true & certain.keys(), said)),
    )


def by_truth(made: Benchmark, exact: Mapping[str, Exact]) -> Benchmark:
    """The same queries with the truth in place of the labels; what can be doubted is not judged."""
    every = made.corpus.pictures
    truth = {
        task: Relevance({picture: int(picture in known.true) for picture in every if picture not in known.doubtful})
        for task, known in exact.items()
    }
    return Benchmark(
        name=made.name,
        corpus=made.corpus,
        tasks={task: made.tasks[task] for task in truth},
        truth=truth,
        metrics=made.metrics,
    )


def _among(pairs: Iterable[tuple[str, str]], found: set[tuple[str, str]]) -> dict[tuple[str, str], bool]:
    return {pair: pair in found for pair in sorted(pairs)}
