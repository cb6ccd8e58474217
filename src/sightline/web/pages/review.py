"""The queue for reviewers: one decision after the other, saved at once; and how far people agree.

The pages come first, then what a reviewer is shown, and pictures that a task's pool may have missed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from urllib.parse import parse_qsl, urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from sightline.authoring.review import review_command
from sightline.benchmark.grade import grade_of
from sightline.benchmark.review_decisions import (
    ANSWER,
    OPTION,
    REJECT,
    RESOLVED,
    REWORD,
    WHOLE,
    Pair,
    Votes,
    is_conflict,
    is_note,
    standing,
    votes_of,
)
from sightline.benchmark.review_sample import SAMPLE, STEP, sample_of
from sightline.errors import UserError
from sightline.io.files import path_in_command
from sightline.metrics.scope import Scopes
from sightline.retrieval.index.manifest import DEFAULT_INDEX
from sightline.runs.word_ranker import WordRanker
from sightline.types import Answer, PictureSet, Review, Task, Traces
from sightline.web.app_state import AppState, go, number, person_of, remember_person
from sightline.web.cache import StampedCache
from sightline.web.contradictions import TraceComparison, side_by_side
from sightline.web.corpus_view import Tile
from sightline.web.index_search import SearchForm
from sightline.web.library import BrokenBenchmark, LoadedBenchmark
from sightline.web.pages.bench import JudgedPicture, PromptPart, of, option_parts, parts_of, pools_of
from sightline.web.request_origin import OriginEvent, RequestOrigin, origin_of, setting_of
from sightline.web.reviews import (
    TARGET_IOU,
    agreements,
    figures_of,
    is_graded,
    last_of,
    mark_of,
    queue_for,
    standing_of,
)

_FOUND = 24
_DEEP = 2000
_LONGEST = 500
_GRADES = {"0": "no", "1": "partly", "2": "mostly", "3": "fully"}
_OF_PICTURES = ("accept", "reject", "relevant", "not relevant", *_GRADES)
_SAMPLES: StampedCache[dict[int, list[Pair]]] = StampedCache()
_COMMANDS: StampedCache[str | None] = StampedCache()
_BEGUN = 5
"""So many decisions on the next part of the draw, and it belongs to the queue."""
_KEYS = frozenset("suwx/")
"""Keys that mean something else, so that no option can have them."""


@dataclass(frozen=True, slots=True)
class PoolPicture:
    """A picture of a request's pool, and what this person said of it."""

    tile: Tile
    yes: bool | None


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """One thing to decide: a picture for a task, or a whole task with its answer.

    `options` are key, content, and whether the key can be pressed. Of a mined request, `origin` is what it was made
    from, and `setting` the occasion of the picture: without these nobody can say whether it is the one that is meant.
    """

    task: Task
    prompt: list[PromptPart]
    judged: JudgedPicture | None
    grade: int | None
    tile: Tile | None
    pool: tuple[PoolPicture, ...]
    options: tuple[tuple[str, list[PromptPart], bool], ...]
    truth: Answer | None
    traces: TraceComparison | None
    wording: str | None
    origin: RequestOrigin | None = None
    setting: OriginEvent | None = None

    @property
    def whole(self) -> bool:
        return self.tile is None


def choose(request: Request) -> Response:
    """Which benchmark to look at, and who looks."""
    state = AppState.of(request)
    state.library.refresh()
    rows, broken = [], state.library.broken()
    for loaded in state.library.benchmarks():
        try:
            rows.append((loaded, len(loaded.labels.now), len(standing(state.reviews.read(loaded.folder)))))
        except UserError as error:
            broken.append(BrokenBenchmark(loaded.name, loaded.folder, str(error)))
    return state.show(request, "review-choose.html", rows=rows, broken=broken)


def introduce(request: Request, fields: Mapping[str, str]) -> Response:
    """Who looks; kept for the next pages."""
    # Only addresses of the queue itself are gone back to.
    name = fields.get("back", "")
    if name not in AppState.of(request).library.places.benchmarks:
        back = go("/review")
    elif "judge" in fields:
        back = go(f"/judge/{name}?{urlencode(parse_qsl(fields['judge']))}")
    else:
        back = go(f"/review/{name}")
    return remember_person(back, fields.get("person", ""))


def queue(request: Request) -> Response:
    """What is decided next, or what the address names; without the label, unless it is asked to be shown."""
    state, loaded = of(request)
    person, query = person_of(request), request.query_params
    lines = state.reviews.read(loaded.folder)
    reviews = standing(lines)
    votes = votes_of(reviews, loaded.benchmark, loaded.labels.now)
    asked, sample = number(request, "sample"), _sample(loaded, votes)
    sample = _draw(loaded, asked) if asked > len(sample) else sample
    waiting = queue_for(person, sample, votes)
    skip = number(request, "skip")
    pair = _named(query, loaded) or next(iter(waiting[skip:]), None)
    last = last_of(reviews, person)
    told = None if last is None or last.picture is None else (last.task, last.picture)
    return state.show(
        request,
        "review.html",
        loaded=loaded,
        pair=pair,
        item=None if pair is None else item_of(state, loaded, pair, reviews, person),
        in_sight=query.get("show") == "1",
        graded=_GRADES if is_graded(loaded.benchmark) else {},
        disputed=pair is not None and is_conflict(votes.get(pair, {})),
        given=votes.get(pair, {}) if pair is not None else {},
        asked=asked,
        grade=grade_of(replace(loaded.benchmark, reviews=lines), labels=loaded.labels) if pair is None else None,
        apply=_applied_by(loaded, lines) if pair is None else None,
        more=min(len(sample) + STEP, len(loaded.labels.now)) if len(sample) < len(loaded.labels.now) else 0,
        stand=standing_of(person, sample, votes),
        left=max(0, len(waiting) - skip),
        skip=skip,
        last=last,
        mark=None if last is None else mark_of(last),
        notice=_notice(state, loaded, query),
        told=None if told is None else judged_of(state, loaded, told, reviews),
        found=missed_of(state, loaded, pair, query.get("find", ""), reviews),
        find=query.get("find", ""),
        figures=figures_of(loaded, lines),
        query=query,
    )


def decide(request: Request, fields: Mapping[str, str]) -> Response:
    """Save one decision, and on to the next."""
    state, loaded = addressed(request, fields)
    person = person_of(request)
    if not person:
        raise HTTPException(400, "Enter your name first: every decision is recorded under one.")
    task, picture = fields.get("task", ""), fields.get("picture") or None
    if task not in loaded.benchmark.tasks or (picture is not None and picture not in loaded.benchmark.corpus.pictures):
        raise HTTPException(400, "That is not a task and picture of this benchmark.")
    decision = _decision(loaded.benchmark.tasks[task], picture, fields)
    if picture is not None and _resolves(state, loaded, person, (task, picture)):
        decision = f"{decision}: {RESOLVED}"
    state.reviews.decide(loaded, person, task, None if is_note(decision) else picture, decision)
    stays = fields.get("stay") == "1"
    return go(
        f"/review/{loaded.name}",
        task=task if stays else None,
        picture=fields.get("at") or None if stays else None,
        whole="1" if stays and not fields.get("at") else None,
        find=fields.get("find") if stays else None,
        skip=fields.get("skip"),
        show=fields.get("show"),
        sample=fields.get("sample"),
    )


def _resolves(state: AppState, loaded: LoadedBenchmark, person: str, pair: Pair) -> bool:
    """Does somebody decide again on what they and others contradict each other about? The page says so."""
    reviews = standing(state.reviews.read(loaded.folder))
    given = votes_of(reviews, loaded.benchmark, loaded.labels.now).get(pair, {})
    return person in given and is_conflict(given)


def _decision(task: Task, picture: str | None, fields: Mapping[str, str]) -> str:
    """What is written down; anything that says nothing here is refused."""
    said, words = fields.get("decision", ""), " ".join(fields.get("words", "").split())[:_LONGEST]
    if said == "reword":
        if not words:
            raise HTTPException(400, "Say how the query should read.")
        return f"{REWORD}{words}"
    if picture is not None:
        if said not in _OF_PICTURES:
            raise HTTPException(400, "That is not a decision: relevant, not relevant, or a grade from 0 to 3.")
        return said
    if said == "answer" and words and task.kind == "answer":
        return f"{ANSWER}{words}"
    if said.startswith(OPTION) and said.removeprefix(OPTION) in {option.key for option in task.options}:
        return said
    if said not in ("accept", "reject"):
        raise HTTPException(400, "That is not a decision: accept, reject, or give the answer.")
    return f"{REJECT}{words}" if said == "reject" and words else said


def undo(request: Request, fields: Mapping[str, str]) -> Response:
    """Take back the decision that the page named, and show what it was about again; another one stays."""
    state, loaded = addressed(request, fields)
    show = fields.get("show")
    taken = state.reviews.undo(loaded, person_of(request), fields.get("taken", ""))
    if taken is None:
        return go(f"/review/{loaded.name}", show=show, late="1")
    whole = "1" if taken.picture is None and not is_note(taken.decision) else None
    return go(f"/review/{loaded.name}", task=taken.task, picture=taken.picture, whole=whole, show=show)


def people(request: Request) -> Response:
    """Who looked at how much, how far they agree, what that says of the judges, and where a third one is needed."""
    state, loaded = of(request)
    reviews = state.reviews.read(loaded.folder)
    kept = standing(reviews)
    votes = votes_of(kept, loaded.benchmark, loaded.labels.now)
    return state.show(
        request,
        "people.html",
        loaded=loaded,
        counts=Counter(review.person for review in kept),
        apply=_applied_by(loaded, reviews),
        pairs=agreements(votes_of(kept, loaded.benchmark, loaded.labels.now, resolved=False)),
        target=TARGET_IOU,
        stand=standing_of(person_of(request), _sample(loaded, votes), votes),
        votes=votes,
        keys=loaded.keys,
        figures=figures_of(loaded, reviews),
        log=reviews[::-1][:100],
    )


def _applied_by(loaded: LoadedBenchmark, reviews: tuple[Review, ...]) -> str | None:
    place = path_in_command(loaded.folder)

    def made() -> str | None:
        return review_command(replace(loaded.benchmark, reviews=reviews), place)

    return _COMMANDS.get(loaded.folder, (loaded.mark, reviews, place), made) if reviews else None


def addressed(request: Request, fields: Mapping[str, str]) -> tuple[AppState, LoadedBenchmark]:
    """The benchmark that a form is about: the one that its page showed, or none."""
    state, loaded = of(request)
    if fields.get("of", loaded.mark) != loaded.mark:
        raise HTTPException(
            409, "The benchmark has changed since this page was made. Nothing was saved: reload the page."
        )
    return state, loaded


def _notice(state: AppState, loaded: LoadedBenchmark, query: Mapping[str, str]) -> str | None:
    if query.get("late"):
        return "Nothing was undone: that is no longer your last decision. This page shows the current state."
    late = state.reviews.late(loaded.folder)
    return late and f"Decisions are saved, but the card could not be brought up to date. {late}"


def _sample(loaded: LoadedBenchmark, votes: Votes) -> list[Pair]:
    """The draw that people have come to: the first, and each further part of which they have decided on some."""
    size, found = SAMPLE, _draw(loaded, SAMPLE)
    while len(beyond := votes.keys() - set(found)) >= _BEGUN:
        size += STEP
        larger = _draw(loaded, size)
        if len(beyond.intersection(larger)) < _BEGUN:
            break
        found = larger
    return found


def _draw(loaded: LoadedBenchmark, most: int) -> list[Pair]:
    drawn = _SAMPLES.get(loaded.folder, loaded.mark, dict)
    if most not in drawn:
        drawn[most] = sample_of(loaded.benchmark, loaded.labels, most)
    return drawn[most]


def _named(query: Mapping[str, str], loaded: LoadedBenchmark) -> Pair | None:
    """What an address names; with a task alone, the first of its labels."""
    task, picture = query.get("task", ""), query.get("picture", "")
    if task not in loaded.benchmark.tasks or (picture and picture not in loaded.benchmark.corpus.pictures):
        return None
    if picture or query.get("whole") == "1":
        return task, picture
    return next((pair for pair in loaded.labels.now if pair[0] == task), None)


def item_of(state: AppState, loaded: LoadedBenchmark, pair: Pair, reviews: Sequence[Review], person: str) -> ReviewItem:
    """All that a page shows of it to this person."""
    task, truth = loaded.benchmark.tasks[pair[0]], loaded.benchmark.truth.get(pair[0])
    is_whole = pair[1] == WHOLE
    origin = origin_of(state, loaded, task)
    return ReviewItem(
        task,
        parts_of(state, loaded, task),
        None if is_whole else judged_of(state, loaded, pair, reviews),
        loaded.labels.now.get(pair),
        None if is_whole else state.library.tiles([pair[1]], loaded)[0],
        _pool(state, loaded, pair[0], reviews, person) if isinstance(truth, PictureSet) or is_whole else (),
        tuple((key, parts, key.lower() not in _KEYS) for key, parts in option_parts(state, loaded, task)),
        truth if isinstance(truth, Answer) else None,
        side_by_side(truth.references) if isinstance(truth, Traces) else None,
        _wording(reviews, pair[0]),
        origin,
        None if is_whole or origin is None else setting_of(state, loaded, pair[1]),
    )


def _pool(
    state: AppState, loaded: LoadedBenchmark, task: str, reviews: Sequence[Review], person: str
) -> tuple[PoolPicture, ...]:
    """All pictures that were put to people for a task, in the order of their ids, and what this person said."""
    own = [review for review in reviews if review.person == person and review.task == task]
    votes = votes_of(own, loaded.benchmark, loaded.labels.now)
    ids = {pair[1] for pair in (*loaded.labels.now, *votes) if pair[0] == task and pair[1] != WHOLE}
    tiles = state.library.tiles(sorted(ids), loaded)
    return tuple(PoolPicture(tile, votes.get((task, tile.id), {}).get(person)) for tile in tiles)


def judged_of(state: AppState, loaded: LoadedBenchmark, pair: Pair, reviews: Sequence[Review]) -> JudgedPicture | None:
    """The pair as the task's page shows it."""
    of_task = [review for review in reviews if review.task == pair[0]]
    pools = pools_of(state, loaded, pair[0], of_task)
    found = (one for _, held in pools for one in held if one.tile.id == pair[1])
    return next(found, None)


def _wording(reviews: Sequence[Review], task: str) -> str | None:
    """How somebody would word the query, if anybody said."""
    said = [one.decision for one in reviews if one.task == task and one.decision.startswith(REWORD)]
    return said[-1].removeprefix(REWORD) if said else None


def missed_of(
    state: AppState, loaded: LoadedBenchmark, pair: Pair | None, words: str, reviews: Sequence[Review]
) -> list[Tile]:
    """Pictures for these words that nobody judged for the task, of those that it may be answered with."""
    if pair is None or not words.strip():
        return []
    known = {picture for task, picture in loaded.labels.now if task == pair[0]}
    known |= {review.picture for review in reviews if review.task == pair[0] and review.picture is not None}
    allowed = Scopes(loaded.benchmark.corpus).pictures(loaded.benchmark.tasks[pair[0]].scope)
    for deep in (_FOUND + len(known), _DEEP):  # Mostly the first will do, and is a tenth of the work.
        found = (id_ for id_ in _searched(state, loaded, words, deep) if id_ in loaded.keys and id_ not in known)
        ids = [id_ for id_ in found if allowed is None or id_ in allowed]
        if len(ids) >= _FOUND:
            break
    return [Tile(loaded.keys[id_], id_) for id_ in ids[:_FOUND]]


def _searched(state: AppState, loaded: LoadedBenchmark, words: str, deep: int) -> Sequence[str]:
    index = state.finder.index_of(loaded.folder) or (DEFAULT_INDEX if state.finder.names() else None)
    if index is not None:
        with suppress(UserError):  # An embedder that is not installed, for one; words still find something.
            return state.finder.search(SearchForm(text=words, k=deep), index).ids
    said = [(id_, _said_of(loaded, id_)) for id_ in loaded.keys]
    return [id_ for id_, _ in WordRanker(said, {"asked": words})("asked", None, deep)]


def _said_of(loaded: LoadedBenchmark, id_: str) -> str:
    notes = (f"{note.summary or ''} {' '.join(note.tags)}" for note in loaded.annotations.get(id_, ()))
    return " ".join((id_, *notes))
