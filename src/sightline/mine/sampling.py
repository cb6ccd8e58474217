"""Subgraphs around one photo: DISBench's Algorithm 1, the same for the same seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from sightline.mine.graph import Edge, EdgeKind, MemoryGraph, Node


@dataclass(frozen=True, slots=True)
class Subgraph:
    """Nodes and edges that were drawn, in the order of drawing; parents that were missing are added."""

    seed_photo: str
    edges: tuple[Edge, ...]
    photos: tuple[str, ...]
    events: tuple[str, ...]
    clues: tuple[str, ...]
    people: tuple[str, ...]


def sample(
    graph: MemoryGraph, around: Mapping[Node, Sequence[Edge]], start: str, rng: Random, most: int = 40
) -> Subgraph:
    """Grow from a photo until `most` edges are drawn or nothing is left.

    Each step takes a node of the frontier, then one of the kinds of its edges that are not drawn yet, then an edge of
    that kind, each with equal chance: rare kinds come as often as common ones. Afterwards every clue has its photo and
    every photo its event.
    """
    first = Node("photo", start)
    frontier = [first]
    nodes: dict[Node, None] = {first: None}
    drawn: dict[Edge, None] = {}
    while frontier and len(drawn) < most:
        place = rng.randrange(len(frontier))
        node = frontier[place]
        left = [edge for edge in around.get(node, ()) if edge not in drawn]
        if not left:
            frontier[place] = frontier[-1]
            frontier.pop()
            continue
        edge = _pick(left, rng)
        drawn[edge] = None
        for end in (edge.source, edge.target):
            if end not in nodes:
                nodes[end] = None
                frontier.append(end)
    return _completed(graph, start, drawn, nodes)


def _pick(edges: Sequence[Edge], rng: Random) -> Edge:
    kinds: dict[EdgeKind, list[Edge]] = {}
    for edge in edges:
        kinds.setdefault(edge.kind, []).append(edge)
    return rng.choice(kinds[rng.choice(sorted(kinds))])


def _completed(graph: MemoryGraph, start: str, drawn: dict[Edge, None], nodes: dict[Node, None]) -> Subgraph:
    for node in [node for node in nodes if node.kind == "clue"]:
        nodes[Node("photo", graph.clues[node.id].picture)] = None
    for node in [node for node in nodes if node.kind == "photo"]:
        nodes[Node("event", graph.photos[node.id].event)] = None

    def of(kind: str) -> tuple[str, ...]:
        return tuple(node.id for node in nodes if node.kind == kind)

    return Subgraph(start, tuple(drawn), of("photo"), of("event"), of("clue"), of("person"))
