"""Several attempts, one answer."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.agent.system_vote import by_majority, by_scores, by_sets
from sightline.types import Choice, Failure, PictureSet, Prediction, Ranking, Text

A, B, C = PictureSet(("a",)), PictureSet(("a", "b")), PictureSet(("b", "c"))
LOST = Failure("timeout", "late")


def test_majority_is_by_picture_and_sets_are_whole() -> None:
    attempts: list[Prediction] = [B, A, C, PictureSet(("b",)), LOST]
    assert by_majority(attempts) == PictureSet(("b",))  # a: 2 of 4 is no majority; b: 3 of 4 is.
    assert by_sets([A, C, A, B]) == A
    assert by_sets([PictureSet(("x",)), A, B]) == A  # All differ: A and B agree most, and A was first.


def test_answers_are_the_same_when_they_say_the_same() -> None:
    assert by_majority([Text("Paris"), Text("Rome"), Text("The answer is paris.")]) == Text("Paris")
    assert by_majority([Choice("B"), Choice("A"), Choice("B", "parsed"), LOST]).option == "B"  # type: ignore[union-attr]


def test_rankings_are_fused() -> None:
    fused = by_majority([Ranking(("a", "b", "c")), Ranking(("b", "a", "d")), Ranking(("b", "c", "a"))])
    assert isinstance(fused, Ranking) and fused.pictures[:2] == ("b", "a")
    assert fused.scores is not None and list(fused.scores) == sorted(fused.scores, reverse=True)


def test_failures_have_no_vote() -> None:
    assert by_majority([LOST, LOST]) == by_sets([LOST]) == by_scores([LOST], lambda _: 1.0) == LOST
    assert by_majority([]).kind == "missing"  # type: ignore[union-attr]
    assert by_sets([LOST, A]) == A


def test_a_verifier_chooses_the_first_of_the_best() -> None:
    assert by_scores([A, B, C], lambda said: 2.0 if said in (B, C) else 1.0) == B


@settings(max_examples=100, deadline=None)
@given(st.lists(st.frozensets(st.sampled_from("abcde")), min_size=1, max_size=7))
def test_votes_are_made_of_what_was_said(sets: list[frozenset[str]]) -> None:
    attempts: list[Prediction] = [PictureSet(tuple(sorted(each))) for each in sets]
    whole, majority = by_sets(attempts), by_majority(attempts)
    assert whole in attempts and isinstance(majority, PictureSet)
    for picture in "abcde":
        votes = sum(picture in each for each in sets)
        assert (picture in majority.pictures) == (votes > len(sets) / 2)
