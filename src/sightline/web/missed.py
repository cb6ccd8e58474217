"""Pictures that a task's pool may have missed: by the index, else by what was said of the pictures."""

from __future__ import annotations

from collections.abc import Sequence

from sightline.errors import UserError
from sightline.make.audit.decisions import Labels, Pair
from sightline.make.audit.words import WordRanker
from sightline.score.scope import Scopes
from sightline.search.index.manifest import DEFAULT
from sightline.types import Review
from sightline.web.corpus import Tile
from sightline.web.desk import Desk
from sightline.web.finding import Wanted
from sightline.web.library import Shelf

_FOUND = 24
_DEEP = 2000


def missed_of(
    desk: Desk, shelf: Shelf, pair: Pair | None, words: str, labels: Labels, reviews: Sequence[Review]
) -> list[Tile]:
    """Pictures for these words that nobody judged for the task, of those that it may be answered with."""
    if pair is None or not words.strip():
        return []
    known = {picture for task, picture in labels.now if task == pair[0]}
    known |= {review.picture for review in reviews if review.task == pair[0] and review.picture is not None}
    allowed = Scopes(shelf.benchmark.corpus).pictures(shelf.benchmark.tasks[pair[0]].scope)
    ids = [
        id_
        for id_ in _searched(desk, shelf, words)
        if id_ in shelf.keys and id_ not in known and (allowed is None or id_ in allowed)
    ]
    return [Tile(shelf.keys[id_], id_) for id_ in ids[:_FOUND]]


def _searched(desk: Desk, shelf: Shelf, words: str) -> Sequence[str]:
    index = desk.finder.index_of(shelf.folder) or (DEFAULT if desk.finder.names() else None)
    if index is not None:
        try:
            return desk.finder.search(Wanted(text=words, k=_DEEP), index).ids
        except UserError:  # An embedder that is not installed, for one; words still find something.
            return _by_words(shelf, words)
    return _by_words(shelf, words)


def _by_words(shelf: Shelf, words: str) -> Sequence[str]:
    said = [
        (
            id_,
            " ".join(
                (id_, *(f"{note.summary or ''} {' '.join(note.tags)}" for note in shelf.annotations.get(id_, ())))
            ),
        )
        for id_ in shelf.keys
    ]
    return WordRanker(said, {"asked": words})("asked", None, _DEEP)
