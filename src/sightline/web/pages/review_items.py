"""What a reviewer is shown: one picture for a task, or a whole task with its answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sightline.make.audit.decisions import REWORD, WHOLE, Labels, Pair, votes_of
from sightline.types import Answer, PictureSet, Review, Task, Traces
from sightline.web.contradicting import Beside as Traced
from sightline.web.contradicting import side_by_side
from sightline.web.corpus import Tile
from sightline.web.desk import Desk
from sightline.web.library import Shelf
from sightline.web.origin import Occasion, Origin, origin_of, setting_of
from sightline.web.pages.bench import Judged, PromptPart, option_parts, parts_of, pools_of

_KEYS = frozenset("suwx/")
"""Keys that mean something else, so that no option can have them."""


@dataclass(frozen=True, slots=True)
class Beside:
    """A picture of a request's pool, and what this person said of it."""

    tile: Tile
    yes: bool | None


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to decide: a picture for a task, or a whole task with its answer.

    `options` are key, content, and whether the key can be pressed. Of a mined request, `origin` is what it was made
    from, and `setting` the occasion of the picture: without these nobody can say whether it is the one that is meant.
    """

    task: Task
    prompt: list[PromptPart]
    judged: Judged | None
    grade: int | None
    tile: Tile | None
    pool: tuple[Beside, ...]
    options: tuple[tuple[str, list[PromptPart], bool], ...]
    truth: Answer | None
    traces: Traced | None
    wording: str | None
    origin: Origin | None = None
    setting: Occasion | None = None

    @property
    def whole(self) -> bool:
        return self.tile is None


def item_of(desk: Desk, shelf: Shelf, pair: Pair, labels: Labels, reviews: Sequence[Review], person: str) -> Item:
    """All that a page shows of it to this person."""
    task, truth = shelf.benchmark.tasks[pair[0]], shelf.benchmark.truth.get(pair[0])
    is_whole = pair[1] == WHOLE
    origin = origin_of(desk, shelf, task)
    return Item(
        task,
        parts_of(desk, shelf, task),
        None if is_whole else judged_of(desk, shelf, pair, reviews),
        labels.now.get(pair),
        None if is_whole else Tile(desk.library.key(pair[1], shelf) or "", pair[1]),
        _pool(desk, shelf, pair[0], labels, reviews, person) if isinstance(truth, PictureSet) or is_whole else (),
        tuple((key, parts, key.lower() not in _KEYS) for key, parts in option_parts(desk, shelf, task)),
        truth if isinstance(truth, Answer) else None,
        side_by_side(truth.references) if isinstance(truth, Traces) else None,
        _wording(reviews, pair[0]),
        origin,
        None if is_whole or origin is None else setting_of(desk, shelf, pair[1]),
    )


def _pool(
    desk: Desk, shelf: Shelf, task: str, labels: Labels, reviews: Sequence[Review], person: str
) -> tuple[Beside, ...]:
    """All pictures that were put to people for a task, in the order of their ids, and what this person said."""
    own = [review for review in reviews if review.person == person and review.task == task]
    votes = votes_of(own, shelf.benchmark, labels.now)
    ids = {pair[1] for pair in (*labels.now, *votes) if pair[0] == task and pair[1] != WHOLE}
    return tuple(
        Beside(Tile(desk.library.key(id_, shelf) or "", id_), votes.get((task, id_), {}).get(person))
        for id_ in sorted(ids)
    )


def judged_of(desk: Desk, shelf: Shelf, pair: Pair, reviews: Sequence[Review]) -> Judged | None:
    """The pair as the task's page shows it."""
    of_task = [review for review in reviews if review.task == pair[0]]
    pools = pools_of(desk, shelf, pair[0], of_task)
    found = (one for _, held in pools for one in held if one.tile.id == pair[1])
    return next(found, None)


def _wording(reviews: Sequence[Review], task: str) -> str | None:
    """How somebody would word the query, if anybody said."""
    said = [one.decision for one in reviews if one.task == task and one.decision.startswith(REWORD)]
    return said[-1].removeprefix(REWORD) if said else None
