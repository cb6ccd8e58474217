"""What the graph knows of one owner's history: which photos surely show something, and which perhaps do.

From that, which photos a request means; and why it can't be decided, where it can't.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import reduce
from statistics import median

import numpy as np

from sightline.mining.graph import EventNode, MemoryGraph, Photo
from sightline.mining.records import SAME_THING, Clue, Logic
from sightline.retrieval.filters.evaluation import kilometres

NEAR_KM, FAR_KM = 10.0, 40.0
"""Events up to so far apart are at one place; from so far on they are not; between them it is in doubt."""
_RARE, _COMMON = 2, 3
"""A look in so few photos is rare; one in so many times as many is common beside it."""
_MISREAD = 2
_NAME = "name"
NO_ANCHOR, SEVERAL_ANCHORS = "the anchor is nowhere to be seen", "the anchor is seen at several events"
DOUBTFUL_ANCHOR = "the anchor is perhaps seen at other events, too"
UNSURE_ANCHOR = "the anchor was perhaps misread"
NO_LINK, SEVERAL_LOOKS = (
    "the link is not seen at the anchor's event",
    "the anchor's event shows several of the link's kind",
)
NO_EVENT, DOUBTFUL_EVENT = "there is no such other event", "it is in doubt which events are meant"
UNDECIDED = "the graph can't decide it"


@dataclass(frozen=True, slots=True)
class ClueSight:
    """Photos that surely show something, and others that perhaps do."""

    sure: frozenset[str] = frozenset()
    doubt: frozenset[str] = frozenset()

    @property
    def at_all(self) -> frozenset[str]:
        return self.sure | self.doubt

    def __and__(self, other: ClueSight) -> ClueSight:
        sure = self.sure & other.sure
        return ClueSight(sure, (self.at_all & other.at_all) - sure)


class Knowledge:
    """One owner's part of a graph.

    A clue below `sure` is a doubt, for every look of its noun: who is not sure of a thing is not sure of its colour.
    What one frame of a burst, or one copy, surely shows is in doubt in the others where it was not seen. An accepted
    association to the very same thing counts as seen; a refused one of a photo that shows an equal look is a doubt.
    A name that the metadata give is certain; in a photo with more people than names it is a doubt.
    A look that is seen once or twice and nearly equals a common one may be that one misread: both are in doubt there.
    """

    def __init__(self, graph: MemoryGraph, owner: str, sure: float, *, misread: bool = True) -> None:
        """`misread` False: the graph is made of the truth, in which a rare look is just rare."""
        self.graph, self.owner, self._least = graph, owner, sure
        self.photos = {id_: photo for id_, photo in graph.photos.items() if photo.owner == owner}
        events = (event for event in graph.events.values() if event.owner == owner)
        self.events = tuple(sorted(events, key=lambda event: (self.moment(event.photos[0]), event.id)))
        self._alike = _grouped(self.photos.values())
        self.clues: dict[str, Clue] = {}
        "By key: one clue that stands for all of equal look."
        self._sights = self._seen(misread)
        self._joined: dict[tuple[str, ...], ClueSight] = {}

    def moment(self, photo: str) -> datetime:
        """When a photo was taken, comparable with others."""
        taken = datetime.fromisoformat(self.photos[photo].taken_at)
        return taken.replace(tzinfo=UTC) if taken.tzinfo is None else taken

    def in_order(self, photos: Iterable[str]) -> tuple[str, ...]:
        """Photos in order of time."""
        return tuple(sorted(photos, key=lambda photo: (self.moment(photo), photo)))

    def sight(self, keys: Iterable[str]) -> ClueSight:
        """Photos that show all of these."""
        wanted = tuple(keys)
        if wanted not in self._joined:
            each = (self._sights.get(key, ClueSight()) for key in wanted)
            self._joined[wanted] = reduce(ClueSight.__and__, each, ClueSight(frozenset(self.photos)))
        return self._joined[wanted]

    def times(self, keys: Iterable[str]) -> int:
        """In how many photos all of these surely are; frames of a burst and copies count once."""
        return self._count(self.sight(keys).sure)

    def events_of(self, photos: Iterable[str]) -> frozenset[str]:
        """The events that photos belong to."""
        return frozenset(self.photos[photo].event for photo in photos)

    def looks(self, noun: str, event: str) -> frozenset[str]:
        """Keys of all clues of a noun that an event shows, surely or not."""
        return frozenset(
            key
            for key, clue in self.clues.items()
            if clue.noun == noun and event in self.events_of(self._sights[key].at_all)
        )

    def copies_outside(self, photos: Iterable[str]) -> tuple[str, ...]:
        """Copies, and frames of the same burst, of photos of a set that are not in it."""
        chosen = set(photos)
        groups = {self.photos[photo].alike for photo in chosen} - {None}
        return tuple(id_ for group in sorted(map(str, groups)) for id_ in self._alike[group] if id_ not in chosen)

    def distance(self, event: str, other: str) -> float | None:
        """Kilometres between two events; None where one of them tells no place."""
        a, b = self._centre(event), self._centre(other)
        if a is None or b is None:
            return None
        return float(kilometres(np.array([a[0]]), np.array([a[1]]), *b)[0])

    def _centre(self, event: str) -> tuple[float, float] | None:
        placed = [self.photos[photo] for photo in self.graph.events[event].photos]
        lats = [photo.lat for photo in placed if photo.lat is not None]
        lons = [photo.lon for photo in placed if photo.lon is not None]
        return (median(lats), median(lons)) if lats and lons else None

    # --- sights ------------------------------------------------------------------------------------------------

    def _seen(self, misread: bool) -> dict[str, ClueSight]:
        sure: dict[str, set[str]] = {}
        doubt: dict[str, set[str]] = {}
        unsure: dict[str, set[str]] = {}
        for clue in self.graph.clues.values():
            if clue.picture not in self.photos:
                continue
            self.clues.setdefault(clue.key, clue)
            found = sure if clue.confidence >= self._least else doubt
            found.setdefault(clue.key, set()).add(clue.picture)
            if found is doubt:
                unsure.setdefault(clue.noun, set()).add(clue.picture)
        self._add_associations(sure, doubt)
        unsure.setdefault(_NAME, set()).update(self._unnamed())
        if misread:
            self._doubt_rare_looks(sure, doubt)
        return {
            key: self._weighed(sure.get(key, set()), doubt.get(key, set()) | unsure.get(clue.noun, set()))
            for key, clue in self.clues.items()
        }

    def _add_associations(self, sure: dict[str, set[str]], doubt: dict[str, set[str]]) -> None:
        for edge in self.graph.edges:
            if edge.kind == "association" and edge.target.id in self.photos:
                same = edge.rule in SAME_THING and edge.confidence >= self._least
                key = self.graph.clues[edge.source.id].key
                (sure if same else doubt).setdefault(key, set()).add(edge.target.id)
        for clue, photo in self.graph.refused:
            key = self.graph.clues[clue].key
            if photo in sure.get(key, ()):
                sure[key].discard(photo)
                doubt.setdefault(key, set()).add(photo)

    def _doubt_rare_looks(self, sure: dict[str, set[str]], doubt: dict[str, set[str]]) -> None:
        counts = {key: self._count(photos) for key, photos in sure.items()}
        for key, clue in self.clues.items():
            if not 0 < counts.get(key, 0) <= _RARE:
                continue
            common = [
                other
                for other, count in counts.items()
                if count >= _COMMON * counts[key] and nearly_equal(clue, self.clues[other])
            ]
            for other in common:
                doubt.setdefault(other, set()).update(sure[key] - sure[other])
            if common:
                doubt.setdefault(key, set()).update(sure.pop(key))

    def _count(self, photos: Iterable[str]) -> int:
        return len({self.photos[photo].alike or photo for photo in photos})

    def _weighed(self, sure: set[str], doubt: set[str]) -> ClueSight:
        groups = {self.photos[photo].alike for photo in sure} - {None}
        alike = {photo for group in groups for photo in self._alike[str(group)]}
        return ClueSight(frozenset(sure), frozenset((doubt | alike) - sure))

    def _unnamed(self) -> set[str]:
        """Photos with more people than names."""
        seen, named = Counter[str](), Counter[str]()
        for clue in self.graph.clues.values():
            if clue.kind in ("person", _NAME):
                (named if clue.kind == _NAME else seen)[clue.picture] += 1
        return {photo for photo in self.photos if seen[photo] > named[photo]}


def nearly_equal(one: Clue, other: Clue) -> bool:
    """Looks of one noun that differ in a single word; words on signs that differ in up to two letters."""
    if one.key == other.key or one.kind != other.kind or one.noun != other.noun or one.kind == _NAME:
        return False
    if one.kind == "text":
        return _letters_apart(one.look, other.look) <= _MISREAD
    a, b = one.look.split(), other.look.split()
    return len(a) == len(b) and sum(x != y for x, y in zip(a, b, strict=True)) == 1


def _letters_apart(a: str, b: str) -> int:
    """The edit distance of two short texts."""
    if abs(len(a) - len(b)) > _MISREAD:
        return _MISREAD + 1
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (x != y))
    return row[-1]


def _grouped(photos: Iterable[Photo]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for photo in photos:
        if photo.alike is not None:
            found.setdefault(photo.alike, []).append(photo.id)
    return found


@dataclass(frozen=True, slots=True)
class MeantPhotos:
    """The photos that a request means, others that it perhaps means, and where it looks for them."""

    pictures: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class _Scope:
    """Events that are surely meant, and others that perhaps are."""

    sure: frozenset[str] = frozenset()
    doubt: frozenset[str] = frozenset()
    problem: str = ""


def decide(logic: Logic, known: Knowledge) -> MeantPhotos:
    """The photos that a request means, in order of time."""
    if logic.relation == "free":
        return MeantPhotos(problem=UNDECIDED)
    anchor = _anchor(logic, known)
    if anchor.problem:
        return MeantPhotos(problem=anchor.problem)
    (event,) = anchor.sure
    scope = _scope(logic, event, known)
    if scope.problem:
        return MeantPhotos(problem=scope.problem)
    wanted = known.sight(logic.target)
    sure = [photo for photo in wanted.sure if known.photos[photo].event in scope.sure]
    events = scope.sure | scope.doubt
    doubts = [photo for photo in wanted.at_all if known.photos[photo].event in events and photo not in set(sure)]
    return MeantPhotos(known.in_order(sure), known.in_order(doubts), tuple(sorted(scope.sure)))


def _anchor(logic: Logic, known: Knowledge) -> _Scope:
    """The one event that the anchor singles out."""
    seen = known.sight(logic.anchor)
    events = known.events_of(seen.sure)
    if not events:
        return _Scope(problem=UNSURE_ANCHOR if seen.doubt else NO_ANCHOR)
    if len(events) > 1:
        return _Scope(problem=SEVERAL_ANCHORS)
    if known.events_of(seen.doubt) - events:
        return _Scope(problem=DOUBTFUL_ANCHOR)
    return _Scope(events)


def _scope(logic: Logic, event: str, known: Knowledge) -> _Scope:
    match logic.relation:
        case "same-event":
            return _Scope(frozenset((event,)))
        case "same-place":
            return _same_place(event, known)
        case _:
            return _linked(logic, event, known)


def _same_place(event: str, known: Knowledge) -> _Scope:
    sure, doubt = set(), set()
    for other in known.events:
        if other.id == event:
            continue
        apart = known.distance(event, other.id)
        if apart is not None and apart <= NEAR_KM:
            sure.add(other.id)
        elif apart is None or apart < FAR_KM:
            doubt.add(other.id)
    return _Scope(frozenset(sure), frozenset(doubt), "" if sure else NO_EVENT)


def _linked(logic: Logic, event: str, known: Knowledge) -> _Scope:
    """Other events that show what looks like the link: all of them, or the next before or after."""
    assert logic.link is not None
    seen = known.sight((logic.link,))
    if event not in known.events_of(seen.sure):
        return _Scope(problem=NO_LINK)
    if known.looks(known.clues[logic.link].noun, event) != {logic.link}:
        return _Scope(problem=SEVERAL_LOOKS)
    sure = known.events_of(seen.sure) - {event}
    doubt = known.events_of(seen.doubt) - sure - {event}
    if logic.relation == "other-events":
        return _Scope(sure, doubt, "" if sure else NO_EVENT)
    return _nearest(logic.relation == "next-event", event, sure, doubt, known.events)


def _nearest(
    later: bool, event: str, sure: frozenset[str], doubt: frozenset[str], events: tuple[EventNode, ...]
) -> _Scope:
    order = [each.id for each in (events if later else events[::-1])]
    for id_ in order[order.index(event) + 1 :]:
        if id_ in sure:
            return _Scope(frozenset((id_,)))
        if id_ in doubt:
            return _Scope(problem=DOUBTFUL_EVENT)
    return _Scope(problem=NO_EVENT)
