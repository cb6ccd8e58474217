"""Requests by templates: what they ask for is decided by the graph, so that words and targets can't disagree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, islice, product
from random import Random

from sightline.english import article, listed
from sightline.mine.drafting import OVERSAMPLED, Distinct, Source, as_draft, knowledge_of, shares, subgraphs, tries_for
from sightline.mine.graph import MemoryGraph
from sightline.mine.knowledge import Knowledge
from sightline.mine.logic import decide
from sightline.mine.nouns import Draft, Logic, Relation
from sightline.mine.settings import Settings

NAME = "templates"
_FORMS: Mapping[Relation, tuple[str, ...]] = {
    "same-event": (
        "Find every photo with {target} from the occasion on which we came across {anchor}.",
        "There was an occasion on which we photographed {anchor}. Which of its photos show {target}?",
        "I want the pictures with {target}, but only those of the outing that also gave us a picture of {anchor}.",
    ),
    "other-events": (
        "On the occasion when we photographed {anchor}, there was also {link}. From all other occasions with one of "
        "exactly that look, find the photos with {target}.",
        "We saw {link} on the occasion that gave us a picture of {anchor}. One that looks the same turns up on other "
        "occasions: which photos of those show {target}?",
    ),
    "next-event": (
        "On the occasion when we photographed {anchor}, there was also {link}. From the next occasion after it with "
        "one of exactly that look, find the photos with {target}.",
    ),
    "previous-event": (
        "On the occasion when we photographed {anchor}, there was also {link}. From the last occasion before it with "
        "one of exactly that look, find the photos with {target}.",
    ),
    "same-place": (
        "Find the photos with {target} from all other occasions in the place where we photographed {anchor}.",
        "We have been more than once where we took the picture of {anchor}. Which photos of the other occasions there "
        "show {target}?",
    ),
}
_SAME_PERSON: Mapping[Relation, tuple[str, ...]] = {
    "other-events": (
        "On the occasion when we photographed {anchor}, one person whom we know was with us. From all other occasions "
        "with that same person, find the photos with {target}.",
    ),
    "next-event": (
        "On the occasion when we photographed {anchor}, one person whom we know was with us. From the next occasion "
        "after it with that same person, find the photos with {target}.",
    ),
    "previous-event": (
        "On the occasion when we photographed {anchor}, one person whom we know was with us. From the last occasion "
        "before it with that same person, find the photos with {target}.",
    ),
}
"""Where the link is somebody whom the metadata name: the name is not told, since pictures do not show it."""
_BETWEEN: tuple[Relation, ...] = ("other-events", "next-event", "previous-event", "same-place")
"""Half of the drafts stay within an event, and half lead to others."""
_NOTHING_SHARE = 0.12
_SEEN = 2
_DECISIONS = 120
"""Combinations of a subgraph that are looked at before the next is drawn."""


@dataclass(frozen=True, slots=True)
class _Made:
    query: str
    logic: Logic
    targets: tuple[str, ...]
    why: str = ""


def drafts_by_templates(graph: MemoryGraph, settings: Settings) -> Iterator[Draft]:
    """Drafts for all owners, several times as many as are to be kept."""
    around = graph.around()
    everyone = knowledge_of(graph, settings)
    wanted = shares(OVERSAMPLED * settings.queries, max(1, len(everyone)))
    for known, share in zip(everyone, wanted, strict=False):
        distinct, number, within = Distinct(), 0, 0
        for source in islice(subgraphs(known, around, settings), tries_for(share)):
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


def make(source: Source, settings: Settings, relation: Relation) -> _Made | None:
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
            return _Made(worded(logic, known, rng), logic, meant.pictures)
    return None


def worded(logic: Logic, known: Knowledge, rng: Random) -> str:
    """The request in words; of a link only the noun is told, since its look is what has to be found out."""
    link = None if logic.link is None else known.clues[logic.link]
    forms = _SAME_PERSON if link is not None and link.kind == "name" else _FORMS
    form, noun = rng.choice(forms[logic.relation]), "" if link is None else link.noun
    said = form.format(
        anchor=_together(logic.anchor, known),
        target=listed(known.clues[key].text for key in logic.target),
        link=f"{article(noun)} {noun}" if noun else "",
    )
    return said[0].upper() + said[1:]


def _logics(source: Source, relation: Relation) -> Iterator[Logic]:
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


def _anchors(source: Source) -> list[tuple[str, ...]]:
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


def _sure_keys(source: Source) -> list[str]:
    known = source.known
    keys = {known.graph.clues[id_].key: None for id_ in source.subgraph.clues}
    return [key for key in keys if known.sight((key,)).sure]


def _together(keys: tuple[str, ...], known: Knowledge) -> str:
    said = [known.clues[key].text for key in keys]
    return said[0] if len(said) == 1 else f"{said[0]} together with {said[1]}"
