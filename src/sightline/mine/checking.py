"""The automatic checks of drafts: each that is refused keeps its reasons, and each figure is kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

import numpy as np

from sightline.mine.knowledge import Knowledge
from sightline.mine.logic import UNDECIDED, Meant, decide
from sightline.mine.nouns import Draft, Verdict
from sightline.mine.settings import Settings
from sightline.mine.shortcuts import best_cut, best_filter
from sightline.models.protocols import Vectors
from sightline.types.words import listed

LEAK = "names a picture"
OTHER_SET, DOUBT = "the graph gives another set", "a picture is in doubt"
NOT_AMBIGUOUS, COPY = "nothing else looks like the targets", "a copy of a target is not in the set"
TOO_MANY, NOWHERE = "too many targets", "the target is nowhere to be seen"
WEAK_ANCHOR = "the anchor is hard to find"
RETRIEVAL, METADATA = "direct retrieval", "metadata alone"
_POOL = 12
"""Pictures beside the targets that a person should look at."""
_FOUND = 10
"""A search for an anchor has to find it among so many."""
_SHORTEST = 5
"""File names of fewer letters are words by chance."""


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
    reasons = [*_wording(draft, known), *_set(draft, meant, known, settings), *_anchor(draft, known, ranker)]
    pool = [(id_, round(score, 4)) for id_, score in ranked if id_ not in set(draft.targets)]
    near = tuple(pool[:_POOL])
    if not draft.targets:
        return Verdict(draft, tuple(reasons), doubts=meant.doubts, pool=near)
    cut = best_cut([id_ for id_, _ in ranked], draft.targets)
    photos = sorted(known.photos.values(), key=lambda photo: (known.moment(photo.id), photo.id))
    by_metadata = best_filter(photos, draft.targets)
    reasons += [RETRIEVAL] * (cut.f1 >= settings.retrieval_bound)
    reasons += [METADATA] * (by_metadata.f1 >= settings.metadata_bound)
    return Verdict(
        draft,
        tuple(reasons),
        round(cut.f1, 4),
        cut.size,
        round(by_metadata.f1, 4),
        by_metadata.by,
        meant.doubts,
        near,
    )


def _wording(draft: Draft, known: Knowledge) -> Iterator[str]:
    """No id of a picture or an event, and no file name, may be told."""
    said = draft.query.casefold()
    names = {*known.photos, *(event.id for event in known.events)}
    names |= {PurePosixPath(id_).stem for id_ in known.photos}
    if any(len(name) >= _SHORTEST and name.casefold() in said for name in names):
        yield LEAK


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
    if known.copies_outside(draft.targets):
        yield COPY
