"""What a system said, looked at before it is kept: that it is a prediction, and in an order that scoring keeps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sightline.class_names import name_of
from sightline.run.systems.base import Outcome
from sightline.types import Choice, Failure, PictureSet, Prediction, Ranking, Text, Trace

_LONGEST = 300


def checked(said: object) -> Outcome:
    """What was said; a failure `bad-prediction` where it is no prediction, or one that can't be kept (NaN, no text)."""
    outcome = said if isinstance(said, Outcome) else Outcome(said)  # type: ignore[arg-type]
    wrong = _wrong(outcome.prediction)
    return outcome if wrong is None else replace(outcome, prediction=Failure("bad-prediction", wrong[:_LONGEST]))


def ordered(prediction: Prediction) -> Prediction:
    """The same with scores that fall strictly, so that nothing reads another order out of them than that of the list.

    Equal neighbours (in single precision, in which scores are compared) are moved apart by the least that can be told.
    Scores that rise somewhere, such as distances or those of before a re-ranking, say nothing about the order: they
    are left out.
    """
    if not isinstance(prediction, Ranking) or prediction.scores is None:
        return prediction
    return replace(prediction, scores=_falling(prediction.scores))


def _falling(scores: Sequence[float]) -> tuple[float, ...] | None:
    narrow = np.array(scores, np.float32)
    if not np.isfinite(narrow).all() or (narrow[1:] > narrow[:-1]).any():
        return None
    if (narrow[1:] < narrow[:-1]).all():
        return tuple(scores)
    low = np.float32(-np.inf)
    for at in range(1, len(narrow)):
        narrow[at] = min(narrow[at], np.nextafter(narrow[at - 1], low))
    return tuple(narrow.tolist()) if np.isfinite(narrow).all() else None


def _wrong(said: object) -> str | None:
    match said:
        case Ranking() | PictureSet():
            return _wrong_pictures(said)
        case Text(text):
            return _wrong_words(said, text)
        case Trace(thinking, answer):
            return _wrong_words(said, thinking, answer)
        case Choice(option):
            return None if option is None else _wrong_words(said, option)
        case Failure(kind, message):
            return _wrong_words(said, kind, message)
        case _:
            return f"the system said {name_of(type(said))}, which is no prediction"


def _wrong_pictures(said: Ranking | PictureSet) -> str | None:
    pictures: object = said.pictures
    if not isinstance(pictures, tuple | list) or not all(isinstance(id_, str) and id_ for id_ in pictures):
        return "the pictures are not a tuple of ids"
    scores: object = said.scores if isinstance(said, Ranking) else None
    if scores is None:
        return None
    if not isinstance(scores, tuple | list) or len(scores) != len(pictures):
        return f"{len(pictures)} pictures need as many scores, or none"
    return None if all(map(_is_number, scores)) else "a score is not a finite number"


def _wrong_words(said: Prediction, *words: object) -> str | None:
    return None if all(isinstance(word, str) for word in words) else f"the text of a {name_of(type(said))} is none"


def _is_number(score: object) -> bool:
    return isinstance(score, int | float | np.number) and not isinstance(score, bool) and math.isfinite(score)
