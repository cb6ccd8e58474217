"""Best@k, votes, a verifier's choice, and abstentions."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.errors import UserError
from sightline.metrics.sets import abstention
from sightline.metrics.statistics.repeats import best_at_k, majority_vote, verifier_choice
from sightline.types import Failure, PictureSet, Ranking, Relevance

FAILED = Failure("timeout", "first")
OTHER = Failure("refused", "second")


def pictures(ids: str) -> PictureSet:
    return PictureSet(tuple(ids))


@settings(deadline=None, max_examples=80)
@given(
    rows=st.integers(1, 7).flatmap(
        lambda n: st.lists(st.lists(st.floats(0, 1), min_size=n, max_size=n), min_size=1, max_size=4)
    ),
    data=st.data(),
)
def test_best_at_k_is_the_mean_over_all_draws(rows: list[list[float]], data: st.DataObject) -> None:
    k = data.draw(st.integers(1, len(rows[0])))
    expected = [np.mean([max(draw) for draw in combinations(row, k)]) for row in rows]
    assert best_at_k(rows, k) == pytest.approx(expected, abs=1e-9)
    assert best_at_k(rows, k, unbiased=False).tolist() == [max(row[:k]) for row in rows]


@settings(deadline=None, max_examples=50)
@given(row=st.lists(st.floats(0, 1), min_size=2, max_size=8))
def test_best_at_k_grows_with_k(row: list[float]) -> None:
    best = [float(best_at_k([row], k)[0]) for k in range(1, len(row) + 1)]
    assert all(a <= b + 1e-12 for a, b in pairwise(best))
    assert best[0] == pytest.approx(np.mean(row))
    assert best[-1] == pytest.approx(max(row))


def test_best_at_k_refuses() -> None:
    with pytest.raises(UserError, match="there are 2"):
        best_at_k([[0.0, 1.0]], 3)
    with pytest.raises(UserError, match="best@0"):
        best_at_k([[0.0, 1.0]], 0)
    with pytest.raises(UserError, match="a row for each task"):
        best_at_k([0.0, 1.0], 1)
    with pytest.raises(UserError, match="missing value"):
        best_at_k([[0.0, float("nan")]], 1)


def test_majority_vote() -> None:
    assert majority_vote([pictures("ab"), pictures("bc"), pictures("cb")]) == pictures("bc")
    assert majority_vote([pictures("ab"), pictures("ac")]) == pictures("a"), "half is not a majority"
    assert majority_vote([pictures("aab"), pictures("b"), pictures("b")]) == pictures("b"), "one vote for each attempt"
    assert majority_vote([pictures("a"), pictures("b"), pictures("c")]) == pictures("")
    assert majority_vote([pictures("ab"), FAILED]) == pictures("ab"), "a failure has no vote"
    assert majority_vote([FAILED, OTHER]) == FAILED
    assert isinstance(majority_vote([]), Failure)
    votes = [pictures("a")] * 7 + [pictures("b")] * 3
    assert majority_vote(votes, threshold=0.7) == pictures("")
    assert majority_vote(votes, threshold=0.69) == pictures("a")
    assert majority_vote(votes, threshold=0.0) == pictures("ab")


@settings(deadline=None, max_examples=50)
@given(attempts=st.lists(st.text("abcd", max_size=4), min_size=1, max_size=7))
def test_majority_vote_does_not_depend_on_order(attempts: list[str]) -> None:
    one, other = majority_vote([*map(pictures, attempts)]), majority_vote([*map(pictures, reversed(attempts))])
    assert isinstance(one, PictureSet) and isinstance(other, PictureSet)
    assert set(one.pictures) == set(other.pictures)


def test_verifier_choice() -> None:
    attempts: list[PictureSet | Failure] = [pictures("a"), FAILED, pictures("b"), pictures("c")]
    assert verifier_choice(attempts, [0.1, 0.9, 0.5, 0.5]) == pictures("b"), (
        "failures can't win, the earliest of equals does"
    )
    assert verifier_choice([FAILED, OTHER], [0.0, 1.0]) == FAILED
    assert isinstance(verifier_choice([], []), Failure)
    with pytest.raises(UserError, match="4 attempts, but 1"):
        verifier_choice(attempts, [1.0])
    with pytest.raises(UserError, match="not a number"):
        verifier_choice(attempts, [float("nan"), 0.0, 1.0, 1.0])


def test_abstention() -> None:
    nothing = pictures("")
    got = abstention(
        [
            (nothing, nothing),
            (nothing, pictures("a")),
            (nothing, FAILED),
            (Relevance({"a": 0}), Ranking(())),
            (pictures("a"), nothing),
            (pictures("a"), pictures("a")),
            (pictures("a"), FAILED),
        ]
    )
    assert (got.tasks, got.empty, got.abstained, got.right, got.false_answers, got.failures) == (7, 4, 3, 2, 1, 2)
    assert got.precision == pytest.approx(2 / 3)
    assert got.recall == 0.5
    assert got.f1 == pytest.approx(4 / 7)
    assert got.false_answer_rate == 0.25


def test_abstention_with_nothing_to_measure() -> None:
    got = abstention([(pictures("a"), pictures("a"))])
    assert (got.precision, got.recall, got.f1, got.false_answer_rate) == (None, None, None, None)
    assert abstention([]).tasks == 0
