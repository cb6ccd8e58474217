"""What keeps the questions of a life a test: no moment is asked about twice, and no answer is a good guess."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable

import orjson

from sightline_world.tasks.album import Album
from sightline_world.tasks.questions import Question

_SHARE = 3
"""One answer is at most the third part of a template's questions, rounded up."""


class Fairness:
    """Which questions may still be asked, after those that were."""

    def __init__(self, album: Album) -> None:
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
