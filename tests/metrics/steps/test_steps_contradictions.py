"""What counts as a contradiction between two steps, and what does not."""

from __future__ import annotations

import pytest

from sightline.metrics.steps.contradictions import find_contradictions

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
    ("The sky is cloudy.", "The sky is clear.", "opposite"),
    ("Both hands hold the ball.", "One hand holds the ball.", "number"),
    ("The dog is left of the cat.", "The cat is left of the dog.", "opposite"),
    ("The dog is larger than the cat.", "The cat is larger than the dog.", "opposite"),
    ("The red car is behind the blue car.", "The blue car is behind the red car.", "opposite"),
    ("A man holds a red umbrella.", "A woman holds a red umbrella.", "opposite"),
    ("The mug is on the table.", "The mug is under the table.", "opposite"),
    ("The duck is on the right side of the picture.", "On the left side, a duck is visible.", "opposite"),
    ("The mug on the table is red.", "The mug is blue.", "colour"),
    ("The hot-air balloon is purple.", "There is a white hot-air balloon.", "colour"),
    ("The stripes are red and white.", "The stripes are blue.", "colour"),
    ("The lamp is switched on.", "The lamp is switched off.", "opposite"),
    ("The mug is on the table.", "The mug is off the table.", "opposite"),
    ("The door is open.", "The door is shut.", "opposite"),
    ("A cat sits on the left side of the sofa.", "A cat sits on the right side of the sofa.", "opposite"),
    ("The man on the left is tall.", "The man on the left is short.", "opposite"),
    ("The man on the left wears a red hat.", "The man on the left wears a blue hat.", "colour"),
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
    ("The flag has red and white stripes.", "The flag has white and red stripes."),
    ("The stripes are red and white.", "The stripes are white and red."),
    ("The door is not open.", "The door is closed."),
    ("The dog is larger than the cat.", "The cat is smaller than the dog."),
    ("A dog sits on the left side of the picture.", "A cat sits on the right side of the picture."),
    ("A man rides a bike.", "A woman rides a horse."),
    ("The mug on the table is red.", "The table is brown."),
    ("There is no red car in the street.", "There is a blue car in the street."),
    ("On the left the dog looks at the cat.", "On the left the cat looks at the dog."),
    ("At least three people wait.", "Five people wait."),
    ("Five people wait.", "More than three people wait."),
    ("About 20 people wait.", "There are 22 people."),
    ("The man on the left wears a red hat.", "The man on the right wears a blue hat."),
    ("The man on the left wears a hat.", "The man on the right wears a hat."),
    ("The car on the left side of the road is parked.", "The car on the right side of the road is parked."),
    ("On the left there is a red car.", "On the right there is a blue car."),
    ("A man sits on the bench with his hat off.", "A man sits on the bench with a dog."),
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
    swapped = find_contradictions("The dog is left of the cat.", "The cat is left of the dog.")[0]
    assert (swapped.reference, swapped.predicted) == ("dog left of cat", "cat left of dog")


def test_other_sentences_may_contradict_beside_one_on_another_side() -> None:
    first = "The man on the left wears a hat. The car is red. The dog is on the left."
    second = "The man on the right wears a hat. The car is blue. The dog is on the right."
    assert {one.kind for one in find_contradictions(first, second)} == {"colour", "opposite"}


def test_sentences_are_held_against_each_other_one_by_one() -> None:
    first = "A man stands at the door. The dog sleeps. The lamp is on the left of the bed."
    second = "The lamp is on the right of the bed. A woman reads a book at the window. A cat sleeps."
    found = find_contradictions(first, second)
    assert [(one.kind, one.reference, one.predicted) for one in found] == [("opposite", "left", "right")]
