"""The automatic checks of drafts: each that is refused keeps its reasons, and each figure is kept."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from sightline.english import listed
from sightline.mine.knowledge import Knowledge
from sightline.mine.logic import UNDECIDED, Meant, decide
from sightline.mine.nouns import Draft, Verdict
from sightline.mine.settings import Settings
from sightline.mine.shortcuts import best_cut, best_filter
from sightline.mine.wording import told
from sightline.models.protocols import Vectors

OTHER_SET, DOUBT = "the graph gives another set", "a picture is in doubt"
NOT_SEEN = "a target does not surely show what is wanted"
NOT_AMBIGUOUS, COPY = "nothing else looks like the targets", "a copy of a target is not in the set"
TOO_MANY, NOWHERE = "too many targets", "the target is nowhere to be seen"
WEAK_ANCHOR = "the anchor is hard to find"
RETRIEVAL, METADATA = "direct retrieval", "metadata alone"
_POOL, _POOL_OF_EVENTS = 12, 48
"""Pictures beside the targets that a person should look at: the nearest, and others of the events that are meant."""
_FOUND = 10
"""A search for an anchor has to find it among so many."""


class Ranker:
    """Pictures by the likeness of their vectors to that of a text."""

    def __init__(self, ids: Sequence[str], pictures: Vectors, texts: Mapping[str, Vectors]) -> None:
        self._ids, self._pictures, self._texts = list(ids), pictures, texts

    def ranked(self, text: str) -> list[tuple[str, float]]:
        """All pictures, the likest first."""
        scores = self._pictures @ self._texts[text]
        return [(self._ids[row], float(scores[row])) for row in np.argsort(-scores, kind="stable")]


def check(draft: Draft, known: Knowledge, ranker: Ranker, settings: Settings) -> Verdict:
    """All checks of one draft."""
    meant = decide(draft.logic, known)
    ranked = ranker.ranked(draft.query)
    reasons = [*told(draft, known), *_set(draft, meant, known, settings), *_anchor(draft, known, ranker)]
    events = known.events_of(draft.targets) if meant.problem else frozenset(meant.events)
    verdict = Verdict(
        draft,
        tuple(reasons),
        doubts=meant.doubts,
        anchored=known.in_order(known.sight(draft.logic.anchor).sure) if draft.logic.anchor else (),
        linked=known.in_order(known.sight((draft.logic.link,)).sure) if draft.logic.link is not None else (),
        events=tuple(sorted(events)),
        pool=tuple(_pool(draft, ranked, events, known)),
    )
    return verdict if not draft.targets else _measured(verdict, ranked, known, settings)


def _measured(verdict: Verdict, ranked: Sequence[tuple[str, float]], known: Knowledge, settings: Settings) -> Verdict:
    """The verdict with what is reached without reasoning."""
    draft = verdict.draft
    cut = best_cut([id_ for id_, _ in ranked], draft.targets)
    photos = sorted(known.photos.values(), key=lambda photo: (known.moment(photo.id), photo.id))
    by_metadata = best_filter(photos, draft.targets)
    easy = (RETRIEVAL,) * (cut.f1 >= settings.retrieval_bound) + (METADATA,) * (
        by_metadata.f1 >= settings.metadata_bound
    )
    return replace(
        verdict,
        reasons=(*verdict.reasons, *easy),
        retrieval=round(cut.f1, 4),
        retrieval_k=cut.size,
        metadata=round(by_metadata.f1, 4),
        metadata_filter=by_metadata.by,
    )


def _pool(
    draft: Draft, ranked: Sequence[tuple[str, float]], events: Container[str], known: Knowledge
) -> Iterator[tuple[str, float]]:
    """What is missing is most often in the events that are meant, and looks unlike the words of the request."""
    others = [(id_, round(score, 4)) for id_, score in ranked if id_ not in set(draft.targets)]
    there = [each for each in others if known.photos[each[0]].event in events][:_POOL_OF_EVENTS]
    yield from there
    yield from [each for each in others if each not in there][:_POOL]


def anchor_words(draft: Draft, known: Knowledge) -> str:
    """The anchor as somebody would search for it."""
    return f"a photo of {listed(known.clues[key].text for key in draft.logic.anchor if key in known.clues)}"


def _anchor(draft: Draft, known: Knowledge, ranker: Ranker) -> Iterator[str]:
    """An anchor is a strong clue: a search for it finds one of its photos soon. What was misread is seldom found."""
    shown = known.sight(draft.logic.anchor).sure
    first = [id_ for id_, _ in ranker.ranked(anchor_words(draft, known))[:_FOUND]]
    if draft.logic.anchor and not shown & set(first):
        yield WEAK_ANCHOR


def _set(draft: Draft, meant: Meant, known: Knowledge, settings: Settings) -> Iterator[str]:
    """Is it one set, as far as the graph knows? What the graph can't decide is left to people."""
    if meant.problem and meant.problem != UNDECIDED:
        yield meant.problem
    elif not meant.problem and set(meant.pictures) != set(draft.targets):
        yield OTHER_SET
    if meant.doubts:
        yield DOUBT
    if len(draft.targets) > settings.most_targets:
        yield TOO_MANY
    looks = known.sight(draft.logic.target)
    if not looks.sure:
        yield NOWHERE
    elif not looks.sure - set(draft.targets):
        yield NOT_AMBIGUOUS
    if meant.problem == UNDECIDED and not looks.sure >= set(draft.targets):
        yield NOT_SEEN
    if known.copies_outside(draft.targets):
        yield COPY
