"""`answer`: questions with one short answer that need a closer look, other pictures of the history, or the offline web.

No moment is asked about twice, and no answer is a good guess.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable
from random import Random
from typing import TYPE_CHECKING, TypeAlias

import orjson

from sightline.types import Answer, PictureRef, Task
from sightline_world.tasks.album import TaskAlbum
from sightline_world.tasks.details import Question, count, headgear, in_the_hand, read_sign
from sightline_world.tasks.multi_hop import a_sign_nearby, another_coat, first_time, on_the_same_occasion
from sightline_world.tasks.phrases import Family, family_of
from sightline_world.tasks.task import Lot, MadeTask, labels

if TYPE_CHECKING:
    from sightline_world.web.facts import FactBase

_SHARE = 3
"""One answer is at most the third part of a template's questions, rounded up."""
Maker: TypeAlias = Callable[[Lot, int], Question | None]
_DETAILS: tuple[Maker, ...] = (read_sign, count, headgear, in_the_hand)
_JOURNEYS: tuple[Maker, ...] = (on_the_same_occasion, another_coat, first_time, a_sign_nearby)
_CHANCES, _DRAFTS = 60, 600


class Fairness:
    """Which questions may still be asked, after those that were."""

    def __init__(self, album: TaskAlbum) -> None:
        self._album = album
        self._moments: set[Hashable] = set()
        self._answers: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def allows(self, question: Question) -> bool:
        """Whether neither its moment nor its answer had its turn already."""
        answers = self._answers[question.template]
        most = -(-(answers.total() + 1) // _SHARE)
        return self._moment(question) not in self._moments and answers[question.answer] < most

    def take(self, question: Question) -> None:
        """It is asked."""
        self._moments.add(self._moment(question))
        self._answers[question.template][question.answer] += 1

    def _moment(self, question: Question) -> Hashable:
        """A burst as a whole; of a single picture and its copies, what is asked about them."""
        shot = self._album.shots[question.picture]
        if shot.duplicate_of is not None:
            shot = self._album.shots[self._album.number[shot.duplicate_of]]
        if shot.burst:
            return shot.burst
        return shot.id, question.template, orjson.dumps(dict(question.about), option=orjson.OPT_SORT_KEYS)


class AnswerMaker:
    """Makes tasks from one album, each fair beside those before it; without a fact base, none that need the web."""

    def __init__(self, album: TaskAlbum, base: FactBase | None = None) -> None:
        self._album = album
        self._fairness = Fairness(album)
        self._researches = () if base is None else _researches(base)

    def make(self, name: str, rng: Random, difficulty: float, family: Family | None = None) -> MadeTask | None:
        """A question by lot; the harder, the more hops."""
        make = self._by_lot(rng, difficulty)
        for number in range(_DRAFTS):
            lot = Lot(self._album, rng, family_of(rng, family), difficulty)
            if number and number % _CHANCES == 0:
                make = self._by_lot(rng, difficulty)
            question = make(lot, rng.randrange(len(self._album.shots)))
            if question is not None and not _says_it(question) and self._fairness.allows(question):
                self._fairness.take(question)
                return _task(name, lot, question)
        return None

    def _by_lot(self, rng: Random, difficulty: float) -> Maker:
        web = 0.4 + 0.6 * difficulty if self._researches else 0.0
        weights = (1.2 - 0.6 * difficulty, 0.6 + 0.2 * difficulty, web)
        return rng.choice(rng.choices((_DETAILS, _JOURNEYS, self._researches), weights)[0])


def _says_it(question: Question) -> bool:
    """Whether the answer is one of the question's own words, as where hat and coat have the same colour."""
    return question.answer.lower() in re.findall(r"\w+", question.text.lower())


def _researches(base: FactBase) -> tuple[Maker, ...]:
    # The web is imported only where one is given: it needs more than drawing does.
    from sightline_world.tasks.multi_hop import from_sign, from_sign_elsewhere

    return (
        lambda lot, number: from_sign(lot, number, base),
        lambda lot, number: from_sign_elsewhere(lot, number, base),
    )


def _task(name: str, lot: Lot, question: Question) -> MadeTask:
    task = Task(
        id=name,
        kind="answer",
        prompt=(PictureRef(lot.album.shots[question.picture].id), question.text),
        scope=lot.scope(),
        labels=labels(
            lot.difficulty,
            template=question.template,
            hops=question.hops,
            phrasing=lot.family,
            needs_picture=True,
            needs_zoom=question.zoom,
            needs_search=question.search or question.web,
            needs_web=question.web,
        ),
        extra={"about": dict(question.about), "chance": round(question.chance, 4)},
    )
    return MadeTask(task, Answer(question.answer, question.aliases, steps=question.steps))
