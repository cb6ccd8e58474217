"""What a query is true of by the exact scenes: the words are taken apart by a grammar, and nobody looks at a picture.

Each claim of a query is held against what was drawn. It is *surely* so when it holds both with all that was drawn and
with only what one would notice (at most half hidden, not tiny; signs that can be read); it is *perhaps* so when only
one of the two says so, or when the place itself is full of what is asked for. A query is true of a picture when all of
its claims surely hold, in doubt when all hold at least perhaps, and else false.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from sightline_world.draw.places import PLACES
from sightline_world.models.chat.checking import check, items_of
from sightline_world.models.chat.claims import Claim, Exists, Meant
from sightline_world.models.chat.grammar import understand
from sightline_world.models.reader import Reading
from sightline_world.scene import SceneGraph
from sightline_world.tasks.traits import is_noticed, is_readable
from sightline_world.truth import ShotTruth


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
