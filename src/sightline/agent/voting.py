"""Several attempts at one task → one answer: by majority, by whole sets, or by a verifier that looks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence

from sightline.score.answers.normalise import normalise
from sightline.score.sets import majority_vote
from sightline.types import Choice, Failure, PictureSet, Prediction, Ranking, Text, Trace

_RANK_CONSTANT = 60.0


def by_majority(attempts: Sequence[Prediction]) -> Prediction:
    """Sets: each picture in more than half of those that answered. Rankings: by reciprocal ranks. Others: by plurality.

    Failures have no vote; where all failed, the first failure is the result. Ties go to what was said first.
    """
    said = answered(attempts)
    if not said:
        return _first_failure(attempts)
    if all(isinstance(each, PictureSet) for each in said):
        return majority_vote([each for each in said if isinstance(each, PictureSet)])
    if all(isinstance(each, Ranking) for each in said):
        return _fused([each for each in said if isinstance(each, Ranking)])
    return by_sets(attempts)


def by_sets(attempts: Sequence[Prediction]) -> Prediction:
    """The answer as a whole that was given most often; among equally frequent sets the one nearest to all others.

    Nearest is the highest mean F1 with the other attempts; then the first of equals.
    """
    said = answered(attempts)
    if not said:
        return _first_failure(attempts)
    keys = [answer_key(each) for each in said]
    votes = Counter(keys)
    likeness = [_mean_f1(number, said) for number in range(len(said))]
    return said[max(range(len(said)), key=lambda number: (votes[keys[number]], likeness[number], -number))]


def by_scores(attempts: Sequence[Prediction], score: Callable[[Prediction], float]) -> Prediction:
    """The answered attempt that a verifier scores highest, the first of equals."""
    said = answered(attempts)
    return max(said, key=score) if said else _first_failure(attempts)


def answered(attempts: Sequence[Prediction]) -> list[Prediction]:
    """Attempts that are no failures."""
    return [attempt for attempt in attempts if not isinstance(attempt, Failure)]


def answer_key(said: Prediction) -> Hashable:
    """What makes two answers the same."""
    match said:
        case PictureSet(pictures):
            return frozenset(pictures)
        case Ranking(pictures):
            return pictures
        case Text(text):
            return normalise(text)
        case Choice(option):
            return option
        case Trace(_, answer):
            return normalise(answer)
        case Failure(kind):
            return kind


def _mean_f1(number: int, said: Sequence[Prediction]) -> float:
    own = _pictures(said[number])
    others = [_pictures(each) for place, each in enumerate(said) if place != number]
    return sum(_f1(own, other) for other in others) / len(others) if others else 1.0


def _f1(first: frozenset[str], second: frozenset[str]) -> float:
    size = len(first) + len(second)
    return 2 * len(first & second) / size if size else 1.0


def _pictures(said: Prediction) -> frozenset[str]:
    return frozenset(said.pictures) if isinstance(said, PictureSet | Ranking) else frozenset()


def _fused(rankings: Sequence[Ranking]) -> Ranking:
    scores: Counter[str] = Counter()
    for ranking in rankings:
        for place, picture in enumerate(ranking.pictures, 1):
            scores[picture] += 1 / (_RANK_CONSTANT + place)  # type: ignore[assignment]
    best = scores.most_common()
    return Ranking(tuple(picture for picture, _ in best), tuple(float(score) for _, score in best))


def _first_failure(attempts: Sequence[Prediction]) -> Failure:
    failures = (attempt for attempt in attempts if isinstance(attempt, Failure))
    return next(failures, Failure("missing", "there is no attempt at this task"))
