"""Small memory graphs, and a model that reads pictures of one colour, for the tests of mining."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from sightline.mining.graph import Edge, EventNode, MemoryGraph, Node, Photo
from sightline.mining.knowledge import Knowledge
from sightline.mining.records import Clue, Rule

START = datetime(2020, 1, 1, 9)
Shown = Mapping[str, float] | Iterable[str]
"""Looks of a photo ("red kite"), with their confidence."""


def clue(picture: str, number: int, look: str, confidence: float = 0.9) -> Clue:
    """A clue whose noun is the last word of its look; words in capitals are written ones."""
    if look.isupper():
        return Clue(f"{picture}#{number}", picture, "text", "words", look, f"the words {look}", look, confidence)
    noun = look.split()[-1]
    return Clue(f"{picture}#{number}", picture, "object", noun, look, f"a {look}", f"a {look}", confidence)


def graph_of(
    events: Mapping[str, Sequence[Shown]],
    *,
    places: Mapping[str, tuple[float, float]] | None = None,
    alike: Mapping[str, str] | None = None,
    links: Sequence[tuple[str, str, Rule]] = (),
    refused: Sequence[tuple[str, str]] = (),
    owner: str = "ana",
) -> MemoryGraph:
    """Events ten days apart, photos an hour apart; photo n of event "a" is "a0", "a1", …"""
    photos, nodes, clues = dict[str, Photo](), dict[str, EventNode](), dict[str, Clue]()
    edges: list[Edge] = []
    for day, (event, shown) in enumerate(events.items()):
        ids = tuple(f"{event}{number}" for number in range(len(shown)))
        nodes[event] = EventNode(event, owner, ids)
        lat, lon = (places or {}).get(event, (None, None))
        for hour, (id_, looks) in enumerate(zip(ids, shown, strict=True)):
            taken = (START + timedelta(days=10 * day, hours=hour)).isoformat()
            photos[id_] = Photo(id_, owner, event, taken, lat, lon, alike=(alike or {}).get(id_))
            edges.append(Edge("event-photo", Node("event", event), Node("photo", id_)))
            given = looks if isinstance(looks, Mapping) else dict.fromkeys(looks, 0.9)
            for number, (look, confidence) in enumerate(given.items()):
                found = clue(id_, number, look, confidence)
                clues[found.id] = found
                edges.append(Edge("photo-clue", Node("photo", id_), Node("clue", found.id)))
    edges += [
        Edge("association", Node("clue", source), Node("photo", target), rule, "alike")
        for source, target, rule in links
    ]
    return MemoryGraph(photos, nodes, clues, {}, tuple(edges), tuple(refused))


def knowledge(events: Mapping[str, Sequence[Shown]], **given: Any) -> Knowledge:
    return Knowledge(graph_of(events, **given), "ana", 0.5)


def keys(*looks: str) -> tuple[str, ...]:
    return tuple(f"{'text' if look.isupper() else 'object'}:{look}" for look in looks)


@cache
def script() -> ModuleType:
    """`benchmarks/mine.py`, which makes a graph of a life's truth."""
    path = Path(__file__).parents[1] / "benchmarks" / "mine.py"
    spec = importlib.util.spec_from_file_location("benchmark_of_mining", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
