"""Requests from subgraphs around one photo (DISBench's Algorithm 1), and requests by templates.

What a template asks for is decided by the graph, so that words and targets can't disagree.
"""

from __future__ import annotations

import tomllib
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, islice, product
from pathlib import Path
from random import Random

from sightline.english import article, listed
from sightline.mining.graph import Edge, EdgeKind, MemoryGraph, Node
from sightline.mining.knowledge import Knowledge, decide
from sightline.mining.project import MiningSettings
from sightline.mining.records import Draft, EventType, Logic, Relation

OVERSAMPLED = 3
"""Drafts for each request that is to be kept: checks refuse many."""
_TRIES = 20
"""Subgraphs for each wanted draft before a history is given up."""
NAME = "templates"
_BETWEEN: tuple[Relation, ...] = ("other-events", "next-event", "previous-event", "same-place")
"""Half of the drafts stay within an event, and half lead to others."""
_NOTHING_SHARE = 0.12
_SEEN = 2
_DECISIONS = 120
"""Combinations of a subgraph that are looked at before the next is drawn."""


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


@dataclass(frozen=True, slots=True)
class DraftSource:
    """A subgraph, what is known of the whole history, and the lot for it."""

    subgraph: Subgraph
    known: Knowledge
    rng: Random


@dataclass(frozen=True, slots=True)
class ProposedDraft:
    """Words and logic, before they have an id."""

    query: str
    logic: Logic
    targets: tuple[str, ...]
    why: str = ""


def subgraphs(
    known: Knowledge, around: Mapping[Node, Sequence[Edge]], settings: MiningSettings
) -> Iterator[DraftSource]:
    """One subgraph after the other, from photos that have a clue, each photo before any comes again."""
    photos = sorted({clue.picture for clue in known.graph.clues.values() if clue.picture in known.photos})
    number = 0
    while photos:
        order = Random(f"{settings.seed} {known.owner} {number}").sample(photos, len(photos))
        for photo in order:
            rng = Random(f"{settings.seed} {known.owner} {number}")
            yield DraftSource(sample(known.graph, around, photo, rng, settings.edges), known, rng)
            number += 1


def as_draft(source: DraftSource, proposed: ProposedDraft, number: int, by: str) -> Draft:
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


class DistinctDrafts:
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


def knowledge_of(graph: MemoryGraph, settings: MiningSettings) -> list[Knowledge]:
    """What is known of each owner."""
    return [Knowledge(graph, owner, settings.sure) for owner in graph.owners]


def shares(total: int, parts: int) -> list[int]:
    """So many drafts for each of so many owners."""
    return [total * (part + 1) // parts - total * part // parts for part in range(parts)]


def drafts_by_templates(graph: MemoryGraph, settings: MiningSettings) -> Iterator[Draft]:
    """Drafts for all owners, several times as many as are to be kept."""
    around = graph.around()
    everyone = knowledge_of(graph, settings)
    wanted = shares(OVERSAMPLED * settings.queries, max(1, len(everyone)))
    for known, share in zip(everyone, wanted, strict=False):
        distinct, number, within = DistinctDrafts(), 0, 0
        for source in islice(subgraphs(known, around, settings), max(50, _TRIES * share)):
            if number >= share:
                break
            made = make(source, settings, "same-event" if within * 2 <= number else source.rng.choice(_BETWEEN))
            if made is None:
                continue
            draft = as_draft(source, made, number, NAME)
            if distinct.is_new(draft):
                number += 1
                within += draft.event_type == "intra-event"
                yield draft


@cache
def _forms() -> Mapping[str, Mapping[Relation, Sequence[str]]]:
    return tomllib.loads(Path(__file__).with_name("request_templates.toml").read_text("utf-8"))


def make(source: DraftSource, settings: MiningSettings, relation: Relation) -> ProposedDraft | None:
    """A request of this subgraph that the graph decides without a doubt, or None where there is none."""
    rng, known = source.rng, source.known
    nothing = rng.random() < _NOTHING_SHARE
    for logic in islice(_logics(source, relation), _DECISIONS):
        meant = decide(logic, known)
        if meant.problem or meant.doubts or len(meant.pictures) > settings.most_targets:
            continue
        if bool(meant.pictures) == nothing:
            continue
        if known.sight(logic.target).sure - set(meant.pictures):  # Looks alone must not tell the targets.
            return ProposedDraft(worded(logic, known, rng), logic, meant.pictures)
    return None


def worded(logic: Logic, known: Knowledge, rng: Random) -> str:
    """The request in words; of a link only the noun is told, since its look is what has to be found out."""
    link = None if logic.link is None else known.clues[logic.link]
    forms = _forms()["same-person" if link is not None and link.kind == "name" else "usual"]
    form, noun = rng.choice(forms[logic.relation]), "" if link is None else link.noun
    said = form.format(
        anchor=_together(logic.anchor, known),
        target=listed(known.clues[key].text for key in logic.target),
        link=f"{article(noun)} {noun}" if noun else "",
    )
    return said[0].upper() + said[1:]


def _logics(source: DraftSource, relation: Relation) -> Iterator[Logic]:
    """Combinations of what the subgraph shows, in random order."""
    rng, known = source.rng, source.known
    anchors = [keys for keys in _anchors(source) if len(known.events_of(known.sight(keys).sure)) == 1]
    # What is seen only once is what a model misreads most: rare things that are not there make perfect anchors.
    anchors = [keys for keys in anchors if min(known.times((key,)) for key in keys) >= _SEEN]
    keys = _sure_keys(source)
    links = [key for key in keys if known.clues[key].kind in ("object", "person", "name")]
    seen = [key for key in keys if known.clues[key].kind != "name"]
    targets = [(key,) for key in seen] + list(combinations(seen, 2))
    for each in (anchors, links, targets):
        rng.shuffle(each)
    needs_link = relation not in ("same-event", "same-place")
    for target, anchor, link in product(targets, anchors[:6], links[:6] if needs_link else [None]):
        told = {known.clues[key].noun for key in (*anchor, *target)}
        if not set(target) & set(anchor) and (link is None or known.clues[link].noun not in told):
            yield Logic(relation, anchor, target, link)


def _anchors(source: DraftSource) -> list[tuple[str, ...]]:
    """Single clues, and pairs of clues of one photo."""
    known = source.known
    by_photo: dict[str, list[str]] = {}
    for id_ in source.subgraph.clues:
        clue = known.graph.clues[id_]
        if clue.kind != "name" and clue.picture in known.sight((clue.key,)).sure:
            by_photo.setdefault(clue.picture, []).append(clue.key)
    singles = {(key,): None for keys in by_photo.values() for key in keys}
    pairs = {pair: None for keys in by_photo.values() for pair in combinations(sorted(set(keys)), 2)}
    return [*singles, *pairs]


def _sure_keys(source: DraftSource) -> list[str]:
    known = source.known
    keys = {known.graph.clues[id_].key: None for id_ in source.subgraph.clues}
    return [key for key in keys if known.sight((key,)).sure]


def _together(keys: tuple[str, ...], known: Knowledge) -> str:
    said = [known.clues[key].text for key in keys]
    return said[0] if len(said) == 1 else f"{said[0]} together with {said[1]}"
