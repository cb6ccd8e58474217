from __future__ import annotations

import numpy as np
import pytest
from PIL import ImageChops

from sightline.world.draw import COLOURS, KINDS, LIGHTS, PLACES, Plan, Wish, draw

HOMES = {"ground": "snow", "water": "lake", "sky": "beach", "table": "kitchen", "far": "garden"}


def plan(place: str, *wishes: Wish, light: str = "day", moment: int = 0) -> Plan:
    return Plan(place, light, wishes, (320, 240), "test", moment=moment, moving="ball", step=0.06)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_the_box_of_a_thing_holds_what_was_drawn_and_no_more(kind: str) -> None:
    place = HOMES[KINDS[kind].habitat]
    empty = draw(plan(place)).image
    drawing = draw(plan(place, Wish(kind, KINDS[kind].colours[0])))
    changed = ImageChops.difference(empty, drawing.image).convert("L").point(lambda value: 255 * (value > 12))
    left, top, right, _ = changed.getbbox() or (0, 0, 0, 0)
    box = next(note.box for note in drawing.notes if note.kind == kind and note.colour == KINDS[kind].colours[0])
    # Below the foot there may be a shadow or a reflection, beside it a shadow or a table; above there is nothing.
    assert top >= round(box.top * 240) - 2
    if kind not in ("cake",):  # whose candles glow
        assert top <= round(box.top * 240) + 5
    inside = np.asarray(changed)[
        round(box.top * 240) : round(box.bottom * 240), round(box.left * 320) : round(box.right * 320)
    ]
    assert (inside > 0).mean() > 0.12
    assert left <= box.left * 320 + 6
    assert right >= box.right * 320 - 6


@pytest.mark.parametrize("place", sorted(PLACES))
@pytest.mark.parametrize("light", sorted(LIGHTS))
def test_every_place_can_be_drawn_in_every_light_both_ways_up(place: str, light: str) -> None:
    for size in ((160, 120), (120, 160)):
        image = draw(Plan(place, light, (), size, "test", score=(1, 0) if place == "stadium" else None)).image
        assert image.size == size
        assert image.mode == "RGB"
        brightest = np.asarray(image.convert("L")).reshape(-1)
        assert brightest.std() > 8, "flat: nothing was drawn"


def test_the_lights_differ_as_they_should() -> None:
    mean = {light: np.asarray(draw(plan("beach", light=light)).image).mean(axis=(0, 1)) for light in LIGHTS}
    assert mean["night"].sum() < 0.6 * mean["day"].sum()
    assert mean["sunset"][0] > mean["sunset"][2]
    assert mean["fog"].std() < mean["day"].std()


@pytest.mark.parametrize("colour", sorted(set(COLOURS) - {"brown"}))
def test_a_thing_has_the_colour_that_the_truth_names(colour: str) -> None:
    drawing = draw(plan("snow", Wish("person", colour)))
    box = next(note.box for note in drawing.notes if note.kind == "person")
    high, wide = (box.bottom - box.top) * 240, (box.right - box.left) * 320
    x, y = (box.left + box.right) / 2 * 320, box.top * 240 + high * 0.40
    shirt = np.asarray(drawing.image)[
        round(y - high * 0.06) : round(y + high * 0.06), round(x - wide * 0.1) : round(x + wide * 0.1)
    ]
    found = np.median(shirt.reshape(-1, 3), axis=0)
    nearest = min(COLOURS, key=lambda name: float(np.abs(found - np.array(COLOURS[name])).sum()))
    assert nearest == colour


def test_equal_plans_give_equal_pixels_and_other_seeds_others() -> None:
    first, again = (draw(plan("market", Wish("dog", "brown"))) for _ in range(2))
    assert first.image.tobytes() == again.image.tobytes()
    assert first.notes == again.notes
    other = Plan("market", "day", (Wish("dog", "brown"),), (320, 240), "another")
    assert draw(other).image.tobytes() != first.image.tobytes()


def test_in_a_burst_only_the_moving_thing_goes_on() -> None:
    wishes = (Wish("ball", "red"), Wish("person", "blue"))
    frames = [draw(plan("snow", *wishes, moment=moment)) for moment in range(3)]
    middles = [{note.kind: (note.box.left + note.box.right) / 2 for note in frame.notes} for frame in frames]
    assert middles[2]["ball"] - middles[0]["ball"] > 0.05
    assert abs(middles[2]["person"] - middles[0]["person"]) < 0.03


def test_things_of_one_kind_and_colour_are_counted_in_one_note() -> None:
    notes = draw(plan("garden", Wish("balloon", "red", 3), Wish("balloon", "blue", 2))).notes
    assert {(note.colour, note.count) for note in notes if note.kind == "balloon"} == {("red", 3), ("blue", 2)}
