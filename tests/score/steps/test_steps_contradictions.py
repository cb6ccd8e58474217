"""What counts as a contradiction between two steps, and what does not."""

from __future__ import annotations

import pytest

from sightline.score.steps import find_contradictions

FOUND = [
    ("There are two dogs in the picture.", "There are three dogs in the picture.", "number"),
    ("There are 2 dogs.", "I see three big dogs.", "number"),
    ("It is 5 km long.", "It is 6 km long.", "number"),
    ("图中有两只狗。", "图中有3只狗。", "number"),
    ("The red car is in front.", "The blue car is in front.", "colour"),
    ("The car is red.", "A green car stands there.", "colour"),
    ("The gray cat sleeps.", "The cat is black.", "colour"),
    ("红色的车在前面。", "蓝色的车在前面。", "colour"),
    ("The ball is left of the box.", "The ball is right of the box.", "opposite"),
    ("The speed increases over time.", "The speed decreases over time.", "opposite"),
    ("The first picture is larger.", "The first picture is smaller.", "opposite"),
    ("球在盒子的左边。", "球在盒子的右边。", "opposite"),
    ("The door is open.", "The door is not open.", "negation"),
    ("The man isn't wearing a hat.", "The man is wearing a hat.", "negation"),
    ("图中有一个人。", "图中没有人。", "negation"),
]
NOT_FOUND = [
    ("There are two dogs.", "There are two dogs."),
    ("There are two dogs.", "There are 2 dogs."),
    ("There are two dogs and three cats.", "There are three cats."),
    ("Picture 1 shows a dog.", "Picture 2 shows a dog."),
    ("The red car is near.", "The blue lorry is far."),
    ("The red car and the blue car are parked.", "The blue car is parked."),
    ("The gray cat sleeps.", "The grey cat sleeps."),
    ("The ball is left of the box.", "The box is right of the ball."),
    ("The ball is on the left and the box on the right.", "The box is on the right."),
    ("The door is open.", "The window is not broken."),
    ("The door is not open.", "The door is not open."),
    ("Turn left.", "The answer is right."),
    ("Two dogs bark.", "Three cats bark."),
    ("", "There are two dogs."),
    ("", ""),
]


@pytest.mark.parametrize(("reference", "predicted", "kind"), FOUND)
def test_found(reference: str, predicted: str, kind: str) -> None:
    assert [conflict.kind for conflict in find_contradictions(reference, predicted)] == [kind]
    assert [conflict.kind for conflict in find_contradictions(predicted, reference)] == [kind]


@pytest.mark.parametrize(("reference", "predicted"), NOT_FOUND)
def test_not_found(reference: str, predicted: str) -> None:
    assert find_contradictions(reference, predicted) == ()
    assert find_contradictions(predicted, reference) == ()


def test_the_words_are_named() -> None:
    conflict = find_contradictions("There are two red dogs.", "There are three red dogs.")[0]
    assert (conflict.reference, conflict.predicted) == ("2 dog", "3 dog")
