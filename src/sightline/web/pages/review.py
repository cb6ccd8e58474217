"""The queue for people: one label after the other, saved at once; and how far people agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from sightline.errors import UserError
from sightline.make.audit.reviews import standing
from sightline.make.audit.words import WordRanker
from sightline.search.index.manifest import DEFAULT
from sightline.types import Review
from sightline.web.corpus import Tile
from sightline.web.desk import Desk, go, number, person_of, remember_person
from sightline.web.finding import Wanted
from sightline.web.library import Shelf
from sightline.web.pages.bench import of, parts_of, pools_of
from sightline.web.reviewing import (
    GRADES,
    REWORD,
    SAMPLE,
    TARGET_IOU,
    Book,
    Pair,
    agreements,
    labels_of,
    quality,
    queue_for,
    sample_of,
    standing_of,
    votes_of,
)

_FOUND = 24
_LONGEST = 500
_DECISIONS = ("accept", "reject", *GRADES)
_BOOK = Book()


def choose(request: Request) -> Response:
    """Which benchmark to look at, and who looks."""
    desk = Desk.of(request)
    desk.library.refresh()
    rows = [
        (shelf, len(labels_of(shelf.benchmark)), len(standing(_BOOK.read(shelf.folder))))
        for shelf in desk.library.shelves()
    ]
    return desk.show(request, "review-choose.html", rows=rows)


def introduce(request: Request, fields: Mapping[str, str]) -> Response:
    """Who looks; kept for the next pages."""
    # Only addresses of the queue itself are gone back to.
    name = fields.get("back", "")
    back = f"/review/{name}" if name in Desk.of(request).library.places.benchmarks else "/review"
    return remember_person(go(back), fields.get("person", ""))


def queue(request: Request) -> Response:
    """The next label, or the one that the address names."""
    desk, shelf = of(request)
    person, query = person_of(request), request.query_params
    reviews = standing(_BOOK.read(shelf.folder))
    labels = labels_of(shelf.benchmark)
    votes = votes_of(reviews, labels)
    sample = sample_of(shelf, number(request, "sample", SAMPLE) or SAMPLE)
    waiting = queue_for(person, sample, votes)
    skip = number(request, "skip")
    pair = _pair(query, labels) or next(iter(waiting[skip:]), None)
    mine = [review for review in reviews if review.person == person]
    return desk.show(
        request,
        "review.html",
        shelf=shelf,
        pair=pair,
        task=None if pair is None else shelf.benchmark.tasks[pair[0]],
        prompt=[] if pair is None else parts_of(desk, shelf, shelf.benchmark.tasks[pair[0]]),
        judged=None if pair is None else _judged(desk, shelf, pair, reviews),
        grade=None if pair is None else labels.get(pair),
        votes={} if pair is None else votes.get(pair, {}),
        stand=standing_of(person, sample, votes),
        left=max(0, len(waiting) - skip),
        skip=skip,
        last=mine[-1] if mine else None,
        found=_found(desk, shelf, pair, query.get("find", "")),
        find=query.get("find", ""),
        wording=_wording(reviews, pair),
        quality=quality(shelf, reviews),
        query=query,
    )


def decide(request: Request, fields: Mapping[str, str]) -> Response:
    """Save one decision, and on to the next."""
    _, shelf = of(request)
    person = person_of(request)
    if not person:
        raise HTTPException(400, "Say who you are first: every decision has a name.")
    task, picture, decision = fields.get("task", ""), fields.get("picture") or None, fields.get("decision", "")
    if task not in shelf.benchmark.tasks or (picture is not None and picture not in shelf.benchmark.corpus.pictures):
        raise HTTPException(400, "That is no task and picture of this benchmark.")
    if decision == "reword":
        words = " ".join(fields.get("words", "").split())[:_LONGEST]
        if not words:
            raise HTTPException(400, "Say how the query should read.")
        picture, decision = None, f"{REWORD}{words}"
    elif decision not in _DECISIONS:
        raise HTTPException(400, "That is no decision: accept, reject, or a grade from 0 to 3.")
    _BOOK.decide(shelf, person, task, picture, decision)
    stays = fields.get("stay") == "1"
    return go(
        f"/review/{shelf.name}",
        task=task if stays else None,
        picture=fields.get("at") if stays else None,
        find=fields.get("find") if stays else None,
        skip=fields.get("skip"),
    )


def undo(request: Request, fields: Mapping[str, str]) -> Response:
    """Take back the last decision of this person, and show that label again."""
    _, shelf = of(request)
    taken = _BOOK.undo(shelf, person_of(request))
    if taken is None or taken.picture is None:
        return go(f"/review/{shelf.name}", task=None if taken is None else taken.task)
    return go(f"/review/{shelf.name}", task=taken.task, picture=taken.picture)


def people(request: Request) -> Response:
    """Who looked at how much, how far they agree, and where a third one is needed."""
    desk, shelf = of(request)
    reviews = _BOOK.read(shelf.folder)
    kept = standing(reviews)
    votes = votes_of(kept, labels_of(shelf.benchmark))
    counts: dict[str, int] = {}
    for review in kept:
        counts[review.person] = counts.get(review.person, 0) + 1
    return desk.show(
        request,
        "people.html",
        shelf=shelf,
        counts=counts,
        pairs=agreements(votes),
        target=TARGET_IOU,
        stand=standing_of(person_of(request), sample_of(shelf), votes),
        votes=votes,
        keys=shelf.keys,
        quality=quality(shelf, kept),
        log=reviews[::-1][:100],
    )


def _pair(query: Mapping[str, str], labels: Mapping[Pair, int]) -> Pair | None:
    """The label that an address names; with a task alone, the first of its labels."""
    task, picture = query.get("task", ""), query.get("picture", "")
    if (task, picture) in labels:
        return task, picture
    return next((pair for pair in labels if pair[0] == task), None) if task and not picture else None


def _judged(desk: Desk, shelf: Shelf, pair: Pair, reviews: Sequence[Review]) -> object:
    """The pair as the task's page shows it."""
    of_task = [review for review in reviews if review.task == pair[0]]
    pools = pools_of(desk, shelf, pair[0], of_task)
    found = (one for _, held in pools for one in held if one.tile.id == pair[1])
    return next(found, None)


def _wording(reviews: Sequence[Review], pair: Pair | None) -> str | None:
    """How somebody would word the query, if anybody said."""
    if pair is None:
        return None
    said = [one.decision for one in reviews if one.task == pair[0] and one.decision.startswith(REWORD)]
    return said[-1].removeprefix(REWORD) if said else None


def _found(desk: Desk, shelf: Shelf, pair: Pair | None, words: str) -> list[Tile]:
    """Pictures for these words that nobody judged for the task: by the index, else by what was said of them."""
    if pair is None or not words.strip():
        return []
    judged = {picture for task, picture in labels_of(shelf.benchmark) if task == pair[0]}
    ids = [id_ for id_ in _searched(desk, shelf, words) if id_ in shelf.keys and id_ not in judged]
    return [Tile(shelf.keys[id_], id_) for id_ in ids[:_FOUND]]


def _searched(desk: Desk, shelf: Shelf, words: str) -> Sequence[str]:
    index = desk.finder.index_of(shelf.folder) or (DEFAULT if desk.finder.names() else None)
    if index is not None:
        try:
            return desk.finder.search(replace(Wanted(text=words), k=500), index).ids
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
    return WordRanker(said, {"asked": words})("asked", None, 500)
