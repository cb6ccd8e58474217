from __future__ import annotations

import numpy as np
import pytest

from sightline_world.draw import COLOURS, LIGHTS, PLACES, PersonWish, ScenePlan, ThingWish, draw


@pytest.mark.parametrize("place", sorted(PLACES))
@pytest.mark.parametrize("light", sorted(LIGHTS))
def test_every_place_can_be_drawn_in_every_light_both_ways_up(place: str, light: str) -> None:
    for size in ((160, 120), (120, 160)):
        image = draw(ScenePlan(place, light, size=size, score=(1, 0) if place == "stadium" else None)).image
        assert image.size == size
        assert image.mode == "RGB"
        assert np.asarray(image.convert("L")).std() > 8, "flat: nothing was drawn"


def test_the_lights_differ_as_they_should() -> None:
    mean = {light: np.asarray(draw(ScenePlan("beach", light)).image).mean(axis=(0, 1)) for light in LIGHTS}
    assert mean["night"].sum() < 0.6 * mean["day"].sum()
    assert mean["sunset"][0] > mean["sunset"][2]
    assert mean["fog"].std() < mean["day"].std()


@pytest.mark.parametrize("colour", sorted(COLOURS))
def test_a_coat_has_the_colour_that_the_truth_names(colour: str) -> None:
    drawing = draw(ScenePlan("snow", "day", people=(PersonWish(colour),), seed="test"))
    box = drawing.graph.figures[0].box
    high, wide = (box.bottom - box.top) * 240, (box.right - box.left) * 320
    x, y = (box.left + box.right) / 2 * 320, box.top * 240 + high * 0.40
    coat = np.asarray(drawing.image)[
        round(y - high * 0.06) : round(y + high * 0.06), round(x - wide * 0.1) : round(x + wide * 0.1)
    ]
    found = np.median(coat.reshape(-1, 3), axis=0)
    nearest = min(COLOURS, key=lambda name: float(np.abs(found - np.array(COLOURS[name])).sum()))
    assert nearest == colour


def test_in_a_burst_only_the_moving_thing_goes_on() -> None:
    plans = [
        ScenePlan(
            "snow",
            "day",
            things=(ThingWish("ball", "red"),),
            people=(PersonWish("blue"),),
            seed="burst",
            moment=moment,
            moving="ball",
            step=0.06,
        )
        for moment in range(3)
    ]
    graphs = [draw(plan).graph for plan in plans]
    balls = [(graph.things[0].box.left + graph.things[0].box.right) / 2 for graph in graphs]
    people = [(graph.figures[0].box.left + graph.figures[0].box.right) / 2 for graph in graphs]
    assert balls[2] - balls[0] > 0.05
    assert abs(people[2] - people[0]) < 0.03


def test_what_belongs_to_the_place_is_scenery_and_not_in_the_truth() -> None:
    drawing = draw(ScenePlan("forest", "day"))
    assert not drawing.graph.things
    assert "tree" in {note.kind for note in drawing.scenery}
