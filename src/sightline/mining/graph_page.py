"""A memory graph as it is drawn: events are rows in order of time, with arcs between those that show the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from types import MappingProxyType

from sightline.english import counted
from sightline.mining.graph import EventNode, MemoryGraph
from sightline.mining.records import Clue, Rule
from sightline.reports.text import day

ROWS = 60
"""Events that are drawn below each other at once."""
LEGEND = (
    "A row is an event, the earliest first, and in it are its pictures. An arc joins two events in whose pictures the "
    "same was seen: the thicker, the more often."
)
RULES: Mapping[Rule, str] = MappingProxyType(
    {
        "unique-identifier": "the very same, by something that only one has",
        "matching-features": "looks the same",
        "reference": "one refers to the other",
        "same-theme": "of the same theme",
    }
)
"""Why two pictures were taken to show the same, for people."""


@dataclass(frozen=True, slots=True)
class GraphLink:
    """A clue of one photo, another photo that shows the same, and why."""

    clue: Clue
    source: str
    target: str
    rule: Rule | None
    why: str

    def other(self, photo: str) -> str:
        """The end that a photo is not."""
        return self.target if photo == self.source else self.source


@dataclass(frozen=True, slots=True)
class GraphArc:
    """Two events by their places among those drawn, and what joins them."""

    first: int
    second: int
    links: tuple[GraphLink, ...]

    @property
    def told(self) -> str:
        things = list(dict.fromkeys(link.clue.text for link in self.links))
        more = f" and {counted(len(things) - 3, 'thing')} more" if len(things) > 3 else ""
        return f"{', '.join(things[:3])}{more}"


def title_of(graph: MemoryGraph, event: EventNode) -> str:
    """When and where an event was."""
    photos = [graph.photos[id_] for id_ in event.photos]
    first, last = day(photos[0].taken_at), day(photos[-1].taken_at)
    when = first if first == last else f"{first} to {last}"
    return ", ".join(filter(None, (when, town_of(photo.address for photo in photos))))


def town_of(addresses: Iterable[str | None]) -> str:
    """The second part from the end of the first address that is known; all of it where it has but one."""
    known = next((address for address in addresses if address), "")
    parts = [part.strip() for part in known.split(",") if part.strip()]
    return parts[-2] if len(parts) > 1 else "".join(parts)


def figures_of(graph: MemoryGraph) -> list[tuple[int, str]]:
    """How many there are of each, and what they are called."""
    stats = graph.stats()
    figures = (
        (len(graph.photos), "picture", "pictures"),
        (len(graph.events), "event", "events"),
        (len(graph.clues), "thing seen in them", "things seen in them"),
        (len(graph.people), "person named", "people named"),
        (stats["edges"].get("association", 0), "time the same in two pictures", "times the same in two pictures"),
        (stats["across_events"], "of these in two events", "of these in two events"),
    )
    return [(number, one if number == 1 else several) for number, one, several in figures]


def links_of(graph: MemoryGraph) -> tuple[GraphLink, ...]:
    """All associations that were accepted."""
    found = []
    for edge in graph.edges:
        if edge.kind == "association":
            clue = graph.clues[edge.source.id]
            found.append(GraphLink(clue, clue.picture, edge.target.id, edge.rule, edge.why))
    return tuple(found)


def arcs_of(graph: MemoryGraph, links: Iterable[GraphLink], events: Sequence[EventNode]) -> list[GraphArc]:
    """What joins the events that are drawn."""
    places = {event.id: place for place, event in enumerate(events)}
    joined: dict[tuple[int, int], list[GraphLink]] = defaultdict(list)
    for link in links:
        ends = [places.get(graph.photos[photo].event) for photo in (link.source, link.target)]
        known = sorted(place for place in ends if place is not None)
        if len(known) == 2 and known[0] != known[1]:
            joined[known[0], known[1]].append(link)
    return [GraphArc(*pair, tuple(held)) for pair, held in sorted(joined.items())]


def curves(arcs: Iterable[GraphArc], row: float, wide: float) -> Iterator[tuple[GraphArc, str, float]]:
    """Each arc, bent to the left, as a path in a drawing so wide with rows so high; and how thick it is."""
    for arc in arcs:
        bend = wide - min(1.3 * wide, 18 + 14 * (arc.second - arc.first))
        first, second = (row * (place + 0.5) for place in (arc.first, arc.second))
        path = f"M{wide:.0f},{first:.0f} C{bend:.0f},{first:.0f} {bend:.0f},{second:.0f} {wide:.0f},{second:.0f}"
        yield arc, path, min(6.0, 0.6 + sqrt(len(arc.links)) / 2)
