"""Which photos a request means, as far as the graph knows; and why it can't be decided, where it can't."""

from __future__ import annotations

from dataclasses import dataclass

from sightline.mine.graph import EventNode
from sightline.mine.knowledge import FAR_KM, NEAR_KM, Knowledge
from sightline.mine.nouns import Logic

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
class Meant:
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


def decide(logic: Logic, known: Knowledge) -> Meant:
    """The photos that a request means, in order of time."""
    if logic.relation == "free":
        return Meant(problem=UNDECIDED)
    anchor = _anchor(logic, known)
    if anchor.problem:
        return Meant(problem=anchor.problem)
    (event,) = anchor.sure
    scope = _scope(logic, event, known)
    if scope.problem:
        return Meant(problem=scope.problem)
    wanted = known.sight(logic.target)
    sure = [photo for photo in wanted.sure if known.photos[photo].event in scope.sure]
    events = scope.sure | scope.doubt
    doubts = [photo for photo in wanted.at_all if known.photos[photo].event in events and photo not in set(sure)]
    return Meant(known.in_order(sure), known.in_order(doubts), tuple(sorted(scope.sure)))


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
