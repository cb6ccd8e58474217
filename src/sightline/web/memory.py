"""Memory graphs as pages look things up in them: what a picture, an event or a person is joined to, and why."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from sightline.mine.files import GRAPH
from sightline.mine.graph import EventNode, MemoryGraph, Person, Photo, read_graph
from sightline.mine.graph_drawing import RULES, Link, links_of, title_of
from sightline.web.library import Fresh


@dataclass(frozen=True, slots=True)
class Joined:
    """Something that was seen in several pictures, those pictures, and why it is taken to be the same."""

    text: str
    photos: tuple[str, ...]
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Chosen:
    """What somebody looks at: a picture, an event, two events, or a person; `lit` are the pictures that it leads to."""

    title: str
    photo: Photo | None = None
    event: EventNode | None = None
    second: EventNode | None = None
    person: Person | None = None
    things: tuple[str, ...] = ()
    joined: tuple[Joined, ...] = ()
    lit: frozenset[str] = frozenset()

    @property
    def owner(self) -> str:
        return next(one.owner for one in (self.photo, self.event, self.person) if one is not None)


@dataclass(frozen=True)
class Remembered:
    """A graph with what is looked up in it."""

    graph: MemoryGraph

    @cached_property
    def links(self) -> tuple[Link, ...]:
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
    def _at(self) -> Mapping[str, Sequence[Link]]:
        found: dict[str, list[Link]] = defaultdict(list)
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

    def choose(self, query: Mapping[str, str]) -> Chosen | None:
        """What an address asks for; None where it asks for nothing that there is."""
        if photo := self.graph.photos.get(query.get("photo", "")):
            return self._photo(photo)
        if event := self.graph.events.get(query.get("event", "")):
            return self._event(event, self.graph.events.get(query.get("with", "")))
        if person := self.graph.people.get(query.get("person", "")):
            return Chosen(person.name, person=person, lit=frozenset(person.photos))
        return None

    def _photo(self, photo: Photo) -> Chosen:
        joined = tuple(_joined(self._at.get(photo.id, ()), without=photo.id))
        things = tuple(dict.fromkeys(self._things.get(photo.id, ())))
        return Chosen(self.titles[photo.event], photo=photo, things=things, joined=joined, lit=_lit(joined))

    def _event(self, event: EventNode, second: EventNode | None) -> Chosen:
        links = dict.fromkeys(link for photo in event.photos for link in self._at.get(photo, ()))
        wanted = [link for link in links if self._crosses(link, second)]
        joined = tuple(_joined(wanted))
        titles = [self.titles[one.id] for one in (event, second) if one is not None]
        return Chosen(" and ".join(titles), event=event, second=second, joined=joined, lit=_lit(joined))

    def _crosses(self, link: Link, to: EventNode | None) -> bool:
        ends = self._events(link)
        return ends[0] != ends[1] and (to is None or to.id in ends)

    def _events(self, link: Link) -> tuple[str, str]:
        return self.graph.photos[link.source].event, self.graph.photos[link.target].event


_GRAPHS: Fresh[Remembered] = Fresh()


def remember(folder: Path) -> Remembered:
    """The graph of a folder, read again when it changes."""
    path = folder / GRAPH
    state = path.stat()
    return _GRAPHS.get(folder, (state.st_mtime_ns, state.st_size), lambda: Remembered(read_graph(path)))


def _joined(links: Iterable[Link], without: str = "") -> Iterable[Joined]:
    """Links by what they are about, the commonest first."""
    by_text: dict[str, list[Link]] = defaultdict(list)
    for link in links:
        by_text[link.clue.text].append(link)
    for text, held in sorted(by_text.items(), key=lambda pair: (-len(pair[1]), pair[0])):
        photos = dict.fromkeys(photo for link in held for photo in (link.source, link.target) if photo != without)
        yield Joined(text, tuple(photos), tuple(dict.fromkeys(filter(None, map(_reason, held)))))


def _reason(link: Link) -> str:
    return ": ".join(filter(None, (RULES[link.rule] if link.rule else "", link.why)))


def _lit(joined: Iterable[Joined]) -> frozenset[str]:
    return frozenset(photo for one in joined for photo in one.photos)
