"""The queue for people: one decision after the other, saved at once; and how far people agree."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from sightline.errors import UserError
from sightline.make.audit.decisions import (
    ANSWER,
    OPTION,
    REJECT,
    REWORD,
    Labels,
    Pair,
    is_note,
    standing,
    votes_of,
)
from sightline.types import Task
from sightline.web.book import figures_of, last_of, mark_of
from sightline.web.desk import Desk, go, number, person_of, remember_person
from sightline.web.library import Broken, Fresh, Shelf
from sightline.web.missed import missed_of
from sightline.web.pages.bench import BOOK, of
from sightline.web.pages.review_items import item_of, judged_of
from sightline.web.reviewing import (
    SAMPLE,
    TARGET_IOU,
    agreements,
    is_graded,
    queue_for,
    sample_of,
    standing_of,
)

_LONGEST = 500
_GRADES = {"0": "no", "1": "partly", "2": "mostly", "3": "fully"}
_OF_PICTURES = ("accept", "reject", "relevant", "not relevant", *_GRADES)
_SAMPLES: Fresh[list[Pair]] = Fresh()


def choose(request: Request) -> Response:
    """Which benchmark to look at, and who looks."""
    desk = Desk.of(request)
    desk.library.refresh()
    rows, broken = [], desk.library.broken()
    for shelf in desk.library.shelves():
        try:
            rows.append((shelf, len(shelf.labels.now), len(standing(BOOK.read(shelf.folder)))))
        except UserError as error:
            broken.append(Broken(shelf.name, shelf.folder, str(error)))
    return desk.show(request, "review-choose.html", rows=rows, broken=broken)


def introduce(request: Request, fields: Mapping[str, str]) -> Response:
    """Who looks; kept for the next pages."""
    # Only addresses of the queue itself are gone back to.
    name = fields.get("back", "")
    back = f"/review/{name}" if name in Desk.of(request).library.places.benchmarks else "/review"
    return remember_person(go(back), fields.get("person", ""))


def queue(request: Request) -> Response:
    """What is decided next, or what the address names; without the label, unless it is asked to be shown."""
    desk, shelf = of(request)
    person, query = person_of(request), request.query_params
    lines, labels = BOOK.read(shelf.folder), shelf.labels
    reviews = standing(lines)
    votes = votes_of(reviews, shelf.benchmark, labels.now)
    sample = _sample(shelf, number(request, "sample", SAMPLE) or SAMPLE)
    waiting = queue_for(person, sample, votes)
    skip = number(request, "skip")
    pair = _named(query, shelf, labels) or next(iter(waiting[skip:]), None)
    last = last_of(reviews, person)
    told = None if last is None or last.picture is None else (last.task, last.picture)
    return desk.show(
        request,
        "review.html",
        shelf=shelf,
        pair=pair,
        item=None if pair is None else item_of(desk, shelf, pair, labels, reviews, person),
        in_sight=query.get("show") == "1",
        graded=_GRADES if is_graded(shelf.benchmark) else {},
        disputed=pair is not None and len(votes.get(pair, {})) > 1,
        stand=standing_of(person, sample, votes),
        left=max(0, len(waiting) - skip),
        skip=skip,
        last=last,
        mark=None if last is None else mark_of(last),
        notice=_notice(shelf, query),
        told=None if told is None else judged_of(desk, shelf, told, reviews),
        found=missed_of(desk, shelf, pair, query.get("find", ""), labels, reviews),
        find=query.get("find", ""),
        figures=figures_of(shelf, lines),
        query=query,
    )


def decide(request: Request, fields: Mapping[str, str]) -> Response:
    """Save one decision, and on to the next."""
    shelf, person = _addressed(request, fields), person_of(request)
    if not person:
        raise HTTPException(400, "Say who you are first: every decision has a name.")
    task, picture = fields.get("task", ""), fields.get("picture") or None
    if task not in shelf.benchmark.tasks or (picture is not None and picture not in shelf.benchmark.corpus.pictures):
        raise HTTPException(400, "That is no task and picture of this benchmark.")
    decision = _decision(shelf.benchmark.tasks[task], picture, fields)
    BOOK.decide(shelf, person, task, None if is_note(decision) else picture, decision)
    stays = fields.get("stay") == "1"
    return go(
        f"/review/{shelf.name}",
        task=task if stays else None,
        picture=fields.get("at") or None if stays else None,
        whole="1" if stays and not fields.get("at") else None,
        find=fields.get("find") if stays else None,
        skip=fields.get("skip"),
        show=fields.get("show"),
    )


def _decision(task: Task, picture: str | None, fields: Mapping[str, str]) -> str:
    """What is written down; anything that says nothing here is refused."""
    said, words = fields.get("decision", ""), " ".join(fields.get("words", "").split())[:_LONGEST]
    if said == "reword":
        if not words:
            raise HTTPException(400, "Say how the query should read.")
        return f"{REWORD}{words}"
    if picture is not None:
        if said not in _OF_PICTURES:
            raise HTTPException(400, "That is no decision: relevant, not relevant, or a grade from 0 to 3.")
        return said
    if said == "answer" and words and task.kind == "answer":
        return f"{ANSWER}{words}"
    if said.startswith(OPTION) and said.removeprefix(OPTION) in {option.key for option in task.options}:
        return said
    if said not in ("accept", "reject"):
        raise HTTPException(400, "That is no decision: accept, reject, or give the answer.")
    return f"{REJECT}{words}" if said == "reject" and words else said


def undo(request: Request, fields: Mapping[str, str]) -> Response:
    """Take back the decision that the page named, and show what it was about again; another one stays."""
    shelf, show = _addressed(request, fields), fields.get("show")
    taken = BOOK.undo(shelf, person_of(request), fields.get("taken", ""))
    if taken is None:
        return go(f"/review/{shelf.name}", show=show, late="1")
    whole = "1" if taken.picture is None and not is_note(taken.decision) else None
    return go(f"/review/{shelf.name}", task=taken.task, picture=taken.picture, whole=whole, show=show)


def people(request: Request) -> Response:
    """Who looked at how much, how far they agree, what that says of the judges, and where a third one is needed."""
    desk, shelf = of(request)
    reviews, labels = BOOK.read(shelf.folder), shelf.labels
    kept = standing(reviews)
    votes = votes_of(kept, shelf.benchmark, labels.now)
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
        stand=standing_of(person_of(request), _sample(shelf, SAMPLE), votes),
        votes=votes,
        keys=shelf.keys,
        figures=figures_of(shelf, reviews),
        log=reviews[::-1][:100],
    )


def _addressed(request: Request, fields: Mapping[str, str]) -> Shelf:
    """The benchmark that a form is about: the one that its page showed, or none."""
    _, shelf = of(request)
    if fields.get("of", shelf.mark) != shelf.mark:
        raise HTTPException(409, "The benchmark has changed since this page was made. Nothing was saved: load it anew.")
    return shelf


def _notice(shelf: Shelf, query: Mapping[str, str]) -> str | None:
    if query.get("late"):
        return "Nothing was taken back: that was not your last decision any more. This is how it stands."
    late = BOOK.late(shelf.folder)
    return late and f"Decisions are saved, but the card could not be brought up to date. {late}"


def _sample(shelf: Shelf, most: int) -> list[Pair]:
    return _SAMPLES.get(shelf.folder, (shelf.mark, most), lambda: sample_of(shelf.benchmark, shelf.labels, most))


def _named(query: Mapping[str, str], shelf: Shelf, labels: Labels) -> Pair | None:
    """What an address names; with a task alone, the first of its labels."""
    task, picture = query.get("task", ""), query.get("picture", "")
    if task not in shelf.benchmark.tasks or (picture and picture not in shelf.benchmark.corpus.pictures):
        return None
    if picture or query.get("whole") == "1":
        return task, picture
    return next((pair for pair in labels.now if pair[0] == task), None)
