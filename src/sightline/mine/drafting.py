"""Requests from subgraphs: by templates over the graph, or by a model that is shown the subgraph."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Protocol

from sightline.mine.graph import Edge, MemoryGraph, Node
from sightline.mine.knowledge import Knowledge
from sightline.mine.nouns import Draft, EventType, Logic
from sightline.mine.sampling import Subgraph, sample
from sightline.mine.settings import Settings

OVERSAMPLED = 3
"""Drafts for each request that is to be kept: checks refuse many."""
_TRIES = 20
"""Subgraphs for each wanted draft before a history is given up."""


@dataclass(frozen=True, slots=True)
class Source:
    """A subgraph, what is known of the whole history, and the lot for it."""

    subgraph: Subgraph
    known: Knowledge
    rng: Random


class Proposed(Protocol):
    """Words and logic, before they have an id."""

    @property
    def query(self) -> str: ...
    @property
    def logic(self) -> Logic: ...
    @property
    def targets(self) -> tuple[str, ...]: ...
    @property
    def why(self) -> str: ...


def subgraphs(known: Knowledge, around: Mapping[Node, Sequence[Edge]], settings: Settings) -> Iterator[Source]:
    """One subgraph after the other, from photos that have a clue, each photo before any comes again."""
    photos = sorted({clue.picture for clue in known.graph.clues.values() if clue.picture in known.photos})
    number = 0
    while photos:
        order = Random(f"{settings.seed} {known.owner} {number}").sample(photos, len(photos))
        for photo in order:
            rng = Random(f"{settings.seed} {known.owner} {number}")
            yield Source(sample(known.graph, around, photo, rng, settings.edges), known, rng)
            number += 1


def as_draft(source: Source, proposed: Proposed, number: int, by: str) -> Draft:
    """A draft with its provenance."""
    part, owner = source.subgraph, source.known.owner
    return Draft(
        f"{owner}-{number:04}",
        owner,
        proposed.query,
        proposed.logic,
        event_type(proposed.logic, proposed.targets, source.known),
        proposed.targets,
        by,
        part.seed_photo,
        part.photos,
        part.clues,
        proposed.why,
    )


def event_type(logic: Logic, targets: Iterable[str], known: Knowledge) -> EventType:
    """Whether the anchor's event is the targets' only one; a free request is told by where its targets are."""
    if logic.relation != "free":
        return "intra-event" if logic.relation == "same-event" else "inter-event"
    events = known.events_of(targets)
    return (
        "intra-event"
        if len(events) == 1 and events <= known.events_of(known.sight(logic.anchor).at_all)
        else "inter-event"
    )


class Distinct:
    """Lets through what was not asked yet: an anchor leads to one request, and a set is asked for once."""

    def __init__(self) -> None:
        self._seen: set[object] = set()

    def is_new(self, draft: Draft) -> bool:
        logic = draft.logic
        keys: list[object] = [draft.query.casefold()]
        if logic.relation != "free":
            keys.append((draft.owner, logic.anchor))
        if draft.targets:
            keys.append((draft.owner, frozenset(draft.targets)))
        if any(key in self._seen for key in keys):
            return False
        self._seen.update(keys)
        return True


def what_is_strange(drafts: Iterable[Draft], known: Mapping[str, Knowledge], pictures: Container[str]) -> str:
    """The first thing that drafts speak of and that the graph, or the corpus, does not know; else nothing."""
    for draft in drafts:
        own = known.get(draft.owner)
        if own is None:
            return f"{draft.owner}, whom"
        for photo in (*draft.targets, *draft.photos):
            if photo not in own.photos or photo not in pictures:
                return f"{photo}, which"
        for clue in draft.clues:
            if clue not in own.graph.clues:
                return f"{clue}, which"
        for key in (*draft.logic.anchor, *draft.logic.target, *(link for link in (draft.logic.link,) if link)):
            if key not in own.clues:
                return f"{key}, which"
    return ""


def knowledge_of(graph: MemoryGraph, settings: Settings) -> list[Knowledge]:
    """What is known of each owner."""
    return [Knowledge(graph, owner, settings.sure) for owner in graph.owners]


def shares(total: int, parts: int) -> list[int]:
    """So many drafts for each of so many owners."""
    return [total * (part + 1) // parts - total * part // parts for part in range(parts)]


def tries_for(wanted: int) -> int:
    """Subgraphs that are drawn before a history is given up."""
    return max(50, _TRIES * wanted)
