"""What the demo found on a synthetic photo history: labels against the ground truth, and what each system found.

What a query is true of is told by the exact scenes: the words are taken apart by a grammar, and nobody looks at a
picture. Each claim of a query is held against what was drawn. It is *surely* so when it holds both with all that was
drawn and with only what one would notice (at most half hidden, not tiny; signs that can be read); it is *perhaps* so
when only one of the two says so, or when the place itself is full of what is asked for. A query is true of a picture
when all of its claims surely hold, in doubt when all hold at least perhaps, and else false.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from sightline.corpus.scan import ScanSummary
from sightline.metrics.comparison import Comparison
from sightline.metrics.statistics.estimates import estimate
from sightline.types import Benchmark, Estimate, Relevance
from sightline_world.demo.systems import SYSTEMS, Field, standing
from sightline_world.draw.places import PLACES
from sightline_world.models.chat.claims import Claim, Exists, Meant
from sightline_world.models.chat.parser import understand
from sightline_world.models.chat.verification import check, items_of
from sightline_world.models.scene_reader import Reading
from sightline_world.scene import SceneGraph
from sightline_world.tasks.album import is_noticed, is_readable
from sightline_world.truth import ShotTruth, SyntheticHistory

RANKED, SET = "ndcg@10", "f1"
"""The metrics of the short table, one for each benchmark."""


@dataclass(frozen=True, slots=True)
class Exact:
    """The pictures of which a query is true, and those of which it can be doubted; it is false of all others."""

    true: frozenset[str]
    doubtful: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Scene:
    """A picture as eyes without fault would see it: all that is drawn, and only what is noticed."""

    id: str
    whole: Reading
    noticed: Reading
    scenery: frozenset[str]

    def share(self, claim: Claim) -> float:
        """1: the claim surely holds. 0.5: perhaps. 0: it does not."""
        said = (check(claim, self.whole).holds, check(claim, self.noticed).holds)
        if all(said):
            return 1.0
        amid = isinstance(claim, Exists) and self.scenery.issuperset(claim.wanted.kinds)
        return 0.5 if any(said) or amid else 0.0


def exact_truth(queries: Mapping[str, str], shots: Iterable[ShotTruth]) -> dict[str, Exact]:
    """By query what it is true of; a query of which a word is not understood is left out."""
    scenes = [_scene(shot) for shot in shots]
    meant = {name: understand(text) for name, text in queries.items()}
    return {name: _exact(one, scenes) for name, one in meant.items() if one.claims and not one.unknown}


def _exact(meant: Meant, scenes: Iterable[_Scene]) -> Exact:
    least = {scene.id: min(scene.share(claim) for claim in meant.claims) for scene in scenes}
    return Exact(
        frozenset(name for name, share in least.items() if share == 1.0),
        frozenset(name for name, share in least.items() if share == 0.5),
    )


def _scene(shot: ShotTruth) -> _Scene:
    graph = shot.graph
    noticed = replace(
        graph,
        things=tuple(filter(is_noticed, graph.things)),
        figures=tuple(filter(is_noticed, graph.figures)),
        signs=tuple(filter(is_readable, graph.signs)),
    )
    scenery = frozenset(PLACES[graph.place].scenery_kinds)
    return _Scene(shot.id, _without_fault(_bared(graph)), _without_fault(noticed), scenery)


def _bared(graph: SceneGraph) -> SceneGraph:
    """All that was drawn, as if nothing hid anything: the check of claims forgives what is half hidden."""
    return replace(
        graph,
        things=tuple(replace(item, hidden=0.0) for item in graph.things),
        figures=tuple(replace(item, hidden=0.0) for item in graph.figures),
        signs=tuple(replace(item, hidden=0.0) for item in graph.signs),
    )


def _without_fault(graph: SceneGraph) -> Reading:
    return Reading(graph, 1.0, 1.0, {item.id: 1.0 for item in items_of(graph)})


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


@dataclass(frozen=True, slots=True)
class WorldFound:
    """A life, the benchmark that was made of it and how right it is, and four systems on that and on exact sets.

    `exact` compares the runs of `found` once more, by the ground truth in place of the generated labels.
    """

    life: SyntheticHistory
    scanned: ScanSummary
    benchmark: Benchmark
    truth: Mapping[str, Exact]
    audit: TruthAudit
    found: Field
    exact: Comparison
    selected: Field

    def to_dict(self) -> dict[str, Any]:
        """Every figure, ready for JSON."""
        return {
            "owner": self.life.owner,
            "events": len(self.life.events),
            "queries": len(self.benchmark.tasks),
            "audit": asdict(self.audit),
            "systems": {name: self._system(name) for name in SYSTEMS},
            "comparisons": {
                "search": asdict(self.found.comparison),
                "search by the ground truth": asdict(self.exact),
                "sets": asdict(self.selected.comparison),
            },
        }

    def _system(self, name: str) -> dict[str, Any]:
        spent = self.found.spending(name)
        return {
            RANKED: asdict(self.found.standing(name, RANKED)),
            f"{RANKED} by the ground truth": asdict(standing(self.exact, name, RANKED)),
            SET: asdict(self.selected.standing(name, SET)),
            "usd": spent.usd,
            "p50": spent.p50,
        }
