"""The memory graph of a history: photos, events, clues and people, and what links them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pydantic import TypeAdapter, ValidationError

from sightline.io.jsonl import LineError, read_jsonl, write_jsonl
from sightline.mining.history import PhotoHistory
from sightline.mining.records import Association, Clue, PictureClues, Rule
from sightline.types import Group, Picture

NodeKind: TypeAlias = Literal["photo", "event", "clue", "person"]
EdgeKind: TypeAlias = Literal["event-photo", "photo-clue", "person-photo", "association"]
"""The first three are structural; an association leads from a clue to another photo that shows the same."""
_NAMES = "people"
"""What scans call the names that a picture's own metadata give (Google Takeout)."""


@dataclass(frozen=True, slots=True)
class Node:
    """What an edge ends in."""

    kind: NodeKind
    id: str


@dataclass(frozen=True, slots=True)
class Photo:
    """A photo as the graph knows it; photos of one burst, or copies of each other, share `alike`."""

    id: str
    owner: str
    event: str
    taken_at: str
    lat: float | None = None
    lon: float | None = None
    address: str | None = None
    device: str | None = None
    summary: str = ""
    place: str = ""
    alike: str | None = None


@dataclass(frozen=True, slots=True)
class EventNode:
    """An event with its photos, in order of time."""

    id: str
    owner: str
    photos: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody whom the metadata of one owner's pictures name; faces are not compared."""

    id: str
    owner: str
    name: str
    photos: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Edge:
    """Two nodes; an association has its reason, and the rule by which it was accepted."""

    kind: EdgeKind
    source: Node
    target: Node
    rule: Rule | None = None
    why: str = ""
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class MemoryGraph:
    """Nodes by id, and edges; events of different times are linked by associations and people only."""

    photos: Mapping[str, Photo] = field(default_factory=dict)
    events: Mapping[str, EventNode] = field(default_factory=dict)
    clues: Mapping[str, Clue] = field(default_factory=dict)
    people: Mapping[str, Person] = field(default_factory=dict)
    edges: tuple[Edge, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()
    "Clue and photo of comparisons that were not accepted: evidence, too."

    @property
    def owners(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(photo.owner for photo in self.photos.values()))

    def around(self) -> dict[Node, list[Edge]]:
        """The edges at each node."""
        found: dict[Node, list[Edge]] = {}
        for edge in self.edges:
            found.setdefault(edge.source, []).append(edge)
            found.setdefault(edge.target, []).append(edge)
        return found

    def stats(self) -> dict[str, Any]:
        """Nodes and edges by kind, rules of associations, and how many of them cross events."""
        associations = [edge for edge in self.edges if edge.kind == "association"]
        crossing = sum(
            self.photos[self.clues[edge.source.id].picture].event != self.photos[edge.target.id].event
            for edge in associations
        )
        return {
            "nodes": {
                "photo": len(self.photos),
                "event": len(self.events),
                "clue": len(self.clues),
                "person": len(self.people),
            },
            "edges": dict(Counter(edge.kind for edge in self.edges)),
            "rules": dict(Counter(edge.rule or "" for edge in associations)),
            "across_events": crossing,
            "refused": len(self.refused),
        }


def build_graph(
    histories: Iterable[PhotoHistory],
    readings: Mapping[str, PictureClues],
    associations: Iterable[Association],
    groups: Iterable[Group] = (),
) -> MemoryGraph:
    """The graph of what was read and accepted.

    Pictures that nobody could read are left out, for they may show anything. A name is a person of one history, and a
    clue of each of its photos.
    """
    alike = {id_: group.id for group in groups if group.kind in ("burst", "duplicate") for id_ in group.pictures}
    photos: dict[str, Photo] = {}
    events: dict[str, EventNode] = {}
    named: dict[tuple[str, str], list[str]] = {}
    for history in histories:
        for event in history.only(readings).events:
            ids = tuple(picture.id for picture in event.pictures)
            events[event.id] = EventNode(event.id, history.owner, ids)
            for picture in event.pictures:
                photos[picture.id] = _photo(picture, history.owner, event.id, readings[picture.id], alike)
                for name in _named(picture):
                    named.setdefault((history.owner, name), []).append(picture.id)
    # By the history that names them: equal names of two owners are two people.
    numbered = enumerate(sorted(named.items()), 1)
    everyone = [Person(f"{owner}#{number}", owner, name, tuple(ids)) for number, ((owner, name), ids) in numbered]
    people = {person.id: person for person in everyone}
    seen = (clue for id_ in photos for clue in readings[id_].clues)
    clues = {clue.id: clue for clue in (*seen, *_names(people.values()))}
    compared = [each for each in associations if each.clue in clues and each.picture in photos]
    refused = tuple((each.clue, each.picture) for each in compared if not each.accepted)
    links = (
        Edge("association", Node("clue", one.clue), Node("photo", one.picture), one.rule, one.reason, one.confidence)
        for one in compared
        if one.accepted
    )
    edges = (*structure(events, clues, people), *links)
    return MemoryGraph(photos, events, clues, people, edges, refused)


def _photo(picture: Picture, owner: str, event: str, reading: PictureClues, alike: Mapping[str, str]) -> Photo:
    assert picture.taken_at is not None
    return Photo(
        picture.id,
        owner,
        event,
        picture.taken_at.isoformat(),
        picture.lat,
        picture.lon,
        picture.address,
        picture.device,
        reading.summary,
        reading.place,
        alike.get(picture.id),
    )


def _named(picture: Picture) -> list[str]:
    names = picture.extra.get(_NAMES)
    told = names if isinstance(names, list) else []
    return list(dict.fromkeys(name.strip() for name in told if isinstance(name, str) and name.strip()))


def _names(people: Iterable[Person]) -> Iterator[Clue]:
    for person in people:
        for photo in person.photos:
            yield Clue(f"{photo}@{person.id}", photo, "name", "name", person.name, person.name, person.name, 1.0)


def structure(
    events: Mapping[str, EventNode], clues: Mapping[str, Clue], people: Mapping[str, Person]
) -> Iterator[Edge]:
    """The structural edges: what contains what, and who is in which photo."""
    for event in events.values():
        for photo in event.photos:
            yield Edge("event-photo", Node("event", event.id), Node("photo", photo))
    for clue in clues.values():
        yield Edge("photo-clue", Node("photo", clue.picture), Node("clue", clue.id))
    for person in people.values():
        for photo in person.photos:
            yield Edge("person-photo", Node("person", person.id), Node("photo", photo))


# --- on disk -----------------------------------------------------------------------------------------------

_KINDS: Mapping[str, type[Any]] = {"photo": Photo, "event": EventNode, "clue": Clue, "person": Person, "edge": Edge}


def write_graph(graph: MemoryGraph, path: Path) -> None:
    """One line for each node, then one for each edge, then one for each comparison that was refused."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_jsonl(path, _lines(graph))


def read_graph(path: Path) -> MemoryGraph:
    """The graph of a file; a wrong line is named."""
    adapters = {name: TypeAdapter(kind) for name, kind in _KINDS.items()}
    found: dict[str, list[Any]] = {name: [] for name in _KINDS}
    refused: list[tuple[str, str]] = []
    for number, row in read_jsonl(path):
        what = row.pop("is", None) if isinstance(row, dict) else None
        try:
            if what == "refused":
                refused.append((str(row["clue"]), str(row["photo"])))
            elif what in adapters:
                found[what].append(adapters[what].validate_python(row))
            else:
                raise LineError(path, number, f'expected "is" to be one of {", ".join(_KINDS)}', "make the graph again")
        except (ValidationError, KeyError) as error:
            raise LineError(path, number, f"no {what} of a graph: {error}", "make the graph again") from None
    by_id = {name: {each.id: each for each in found[name]} for name in _KINDS if name != "edge"}
    return MemoryGraph(
        by_id["photo"], by_id["event"], by_id["clue"], by_id["person"], tuple(found["edge"]), tuple(refused)
    )


def _lines(graph: MemoryGraph) -> Iterator[dict[str, Any]]:
    parts: tuple[tuple[str, Iterable[Any]], ...] = (
        ("photo", graph.photos.values()),
        ("event", graph.events.values()),
        ("clue", graph.clues.values()),
        ("person", graph.people.values()),
        ("edge", graph.edges),
    )
    for name, each in parts:
        for one in each:
            yield {"is": name, **asdict(one)}
    for clue, photo in graph.refused:
        yield {"is": "refused", "clue": clue, "photo": photo}
