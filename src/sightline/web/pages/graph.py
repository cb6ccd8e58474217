"""The memory graph of a mined photo history: events with their pictures, what joins them, and why."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from sightline.mining.graph import EventNode, MemoryGraph, Person, Photo, read_graph
from sightline.mining.graph_page import LEGEND, ROWS, RULES, GraphLink, arcs_of, curves, figures_of, links_of, title_of
from sightline.mining.project import GRAPH
from sightline.web.app_state import AppState, missing, number
from sightline.web.cache import StampedCache, stamp_of
from sightline.web.corpus_view import Tile

_GRAPHS: StampedCache[GraphView] = StampedCache()
_ROW, _WIDE = 96, 90
"""How high a row is (app.css has the same) and how wide the arcs are, in pixels."""


@dataclass(frozen=True, slots=True)
class JoinedPhotos:
    """Something that was seen in several pictures, those pictures, and why it is taken to be the same."""

    text: str
    photos: tuple[str, ...]
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GraphSelection:
    """What somebody looks at: a picture, an event, two events, or a person; `lit` are the pictures that it leads to."""

    title: str
    photo: Photo | None = None
    event: EventNode | None = None
    second: EventNode | None = None
    person: Person | None = None
    things: tuple[str, ...] = ()
    joined: tuple[JoinedPhotos, ...] = ()
    lit: frozenset[str] = frozenset()

    @property
    def owner(self) -> str:
        return next(one.owner for one in (self.photo, self.event, self.person) if one is not None)


@dataclass(frozen=True)
class GraphView:
    """A graph with what is looked up in it."""

    graph: MemoryGraph

    @cached_property
    def links(self) -> tuple[GraphLink, ...]:
        return links_of(self.graph)

    @cached_property
    def titles(self) -> Mapping[str, str]:
        """When and where each event was."""
        return {event.id: title_of(self.graph, event) for event in self.graph.events.values()}

    @cached_property
    def partners(self) -> Mapping[str, Sequence[str]]:
        """By event the events that something joins it with, in order of time."""
        found: dict[str, set[str]] = defaultdict(set)
        for link in self.links:
            one, other = self._events(link)
            if one != other:
                found[one].add(other)
                found[other].add(one)
        places = {id_: place for place, id_ in enumerate(self.graph.events)}
        return {id_: sorted(others, key=places.__getitem__) for id_, others in found.items()}

    @cached_property
    def _at(self) -> Mapping[str, Sequence[GraphLink]]:
        found: dict[str, list[GraphLink]] = defaultdict(list)
        for link in self.links:
            found[link.source].append(link)
            found[link.target].append(link)
        return found

    @cached_property
    def _things(self) -> Mapping[str, Sequence[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for clue in self.graph.clues.values():
            found[clue.picture].append(clue.text)
        return found

    def choose(self, query: Mapping[str, str]) -> GraphSelection | None:
        """What an address asks for; None where it asks for nothing that there is."""
        if photo := self.graph.photos.get(query.get("photo", "")):
            return self._photo(photo)
        if event := self.graph.events.get(query.get("event", "")):
            return self._event(event, self.graph.events.get(query.get("with", "")))
        if person := self.graph.people.get(query.get("person", "")):
            return GraphSelection(person.name, person=person, lit=frozenset(person.photos))
        return None

    def _photo(self, photo: Photo) -> GraphSelection:
        joined = tuple(_joined(self._at.get(photo.id, ()), without=photo.id))
        things = tuple(dict.fromkeys(self._things.get(photo.id, ())))
        return GraphSelection(self.titles[photo.event], photo=photo, things=things, joined=joined, lit=_lit(joined))

    def _event(self, event: EventNode, second: EventNode | None) -> GraphSelection:
        links = dict.fromkeys(link for photo in event.photos for link in self._at.get(photo, ()))
        wanted = [link for link in links if self._crosses(link, second)]
        joined = tuple(_joined(wanted))
        titles = [self.titles[one.id] for one in (event, second) if one is not None]
        return GraphSelection(" and ".join(titles), event=event, second=second, joined=joined, lit=_lit(joined))

    def _crosses(self, link: GraphLink, to: EventNode | None) -> bool:
        ends = self._events(link)
        return ends[0] != ends[1] and (to is None or to.id in ends)

    def _events(self, link: GraphLink) -> tuple[str, str]:
        return self.graph.photos[link.source].event, self.graph.photos[link.target].event


def load_graph(folder: Path) -> GraphView:
    """The graph of a folder, read again when it changes."""
    path = folder / GRAPH
    return _GRAPHS.get(folder, stamp_of(path), lambda: GraphView(read_graph(path)))


def _joined(links: Iterable[GraphLink], without: str = "") -> Iterable[JoinedPhotos]:
    """Links by what they are about, the commonest first."""
    by_text: dict[str, list[GraphLink]] = defaultdict(list)
    for link in links:
        by_text[link.clue.text].append(link)
    for text, held in sorted(by_text.items(), key=lambda pair: (-len(pair[1]), pair[0])):
        photos = dict.fromkeys(photo for link in held for photo in (link.source, link.target) if photo != without)
        yield JoinedPhotos(text, tuple(photos), tuple(dict.fromkeys(filter(None, map(_reason, held)))))


def _reason(link: GraphLink) -> str:
    return ": ".join(filter(None, (RULES[link.rule] if link.rule else "", link.why)))


def _lit(joined: Iterable[JoinedPhotos]) -> frozenset[str]:
    return frozenset(photo for one in joined for photo in one.photos)


def graph(request: Request) -> Response:
    """Events in order of time with the arcs between them; and what was chosen, with its reasons."""
    state = AppState.of(request)
    folder = state.library.places.graphs.get(request.path_params["name"])
    if folder is None:
        raise missing("such graph")
    held = load_graph(folder)
    chosen = held.choose(request.query_params)
    owners = held.graph.owners
    owner = chosen.owner if chosen is not None else request.query_params.get("owner", "")
    owner = owner if owner in owners else next(iter(owners), "")
    events = [event for event in held.graph.events.values() if event.owner == owner]
    offset = number(request, "offset")
    drawn = events[offset : offset + ROWS]
    arcs = arcs_of(held.graph, held.links, drawn)

    def tiles(photos: Iterable[str]) -> list[Tile]:
        """From the corpus, or else from a benchmark that holds them."""
        return [Tile(state.library.any_key(photo) or "", photo) for photo in photos]

    return state.show(
        request,
        "graph.html",
        name=request.path_params["name"],
        figures=figures_of(held.graph),
        legend=LEGEND,
        owners=owners,
        owner=owner,
        people=[person for person in held.graph.people.values() if person.owner == owner],
        rows=[(event, held.titles[event.id], tiles(event.photos)) for event in drawn],
        curves=[(drawn[arc.first], drawn[arc.second], arc, *how) for arc, *how in curves(arcs, _ROW, _WIDE)],
        chosen=chosen,
        tiles=tiles,
        titles=held.titles,
        partners=held.partners,
        wide=_WIDE,
        high=_ROW * len(drawn),
        offset=offset,
        step=ROWS,
        count=len(events),
    )
