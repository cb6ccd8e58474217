"""Requests from subgraphs: by templates over the graph, or by a model that is shown the subgraph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Protocol

from sightline.mine.graph import Edge, MemoryGraph, Node
from sightline.mine.knowledge import Knowledge
from sightline.mine.nouns import Draft, Logic
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
        proposed.targets,
        by,
        part.seed_photo,
        part.photos,
        part.clues,
        proposed.why,
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


def knowledge_of(graph: MemoryGraph, settings: Settings) -> list[Knowledge]:
    """What is known of each owner."""
    return [Knowledge(graph, owner, settings.sure) for owner in graph.owners]


def shares(total: int, parts: int) -> list[int]:
    """So many drafts for each of so many owners."""
    return [total * (part + 1) // parts - total * part // parts for part in range(parts)]


def tries_for(wanted: int) -> int:
    """Subgraphs that are drawn before a history is given up."""
    return max(50, _TRIES * wanted)
