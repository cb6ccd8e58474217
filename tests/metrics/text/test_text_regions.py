"""Which part of a picture a sentence speaks of."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.metrics.text.regions import regions_in, without_boxes
from sightline.types import Box

LEFT, RIGHT = Box(0, 0, 0.5, 1), Box(0.5, 0, 1, 1)
UPPER, LOWER_LEFT = Box(0, 0, 1, 0.5), Box(0, 0.5, 0.5, 1)
MIDDLE = Box(0.25, 0.25, 0.75, 0.75)


@pytest.mark.parametrize(
    ("text", "boxes"),
    [
        ("A red car stands in the lower left.", (LOWER_LEFT,)),
        ("The bottom-left quadrant shows a bench.", (LOWER_LEFT,)),
        ("On the left side of the image, a dog waits.", (LEFT,)),
        ("On the right, two people walk.", (RIGHT,)),
        ("A cat on the left-hand side and a dog on the right.", (LEFT, RIGHT)),
        ("The sky fills the upper half.", (UPPER,)),
        ("In the centre of the picture there is a well.", (MIDDLE,)),
        ("A tree is in the middle.", (MIDDLE,)),
        ("The car at [0.1, 0.2, 0.5, 0.9] is red.", (Box(0.1, 0.2, 0.5, 0.9),)),
        ("The box (160, 120, 320, 240) holds a cat.", (Box(0.25, 0.25, 0.5, 0.5),)),
        ("It is in <100,200,900,800>.", (Box(0.1, 0.2, 0.9, 0.8),)),
    ],
)
def test_parts_that_are_named(text: str, boxes: tuple[Box, ...]) -> None:
    assert regions_in(text, (640, 480)) == boxes


@pytest.mark.parametrize(
    "text",
    [
        "A boat lies on the left of the harbour wall.",
        "The left side of the car is dented.",
        "He holds it in the left hand.",
        "In the middle of the road lies a cat.",
        "It was left behind, and that is right.",
        "A bird sits in the upper branches.",
        "The lower left leg is broken.",
        "Turn left and go.",
        "A house on the top of the hill.",
        "The box [0.5, 0.2, 0.1, 0.9] is none, nor is (1, 2, 3).",
        "",
    ],
)
def test_what_names_no_part(text: str) -> None:
    assert regions_in(text, (640, 480)) == ()


@given(st.text(max_size=200))
@settings(max_examples=100, deadline=None)
def test_no_text_breaks_it(text: str) -> None:
    for box in regions_in(text, (10, 10)):
        assert 0 <= box.left < box.right <= 1 and 0 <= box.top < box.bottom <= 1
    assert len(without_boxes(text)) <= len(text)
