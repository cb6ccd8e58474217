from __future__ import annotations

from itertools import combinations
from random import Random

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from sightline_world.draw.palette import COLOURS, LIGHTS
from sightline_world.draw.pen import Canvas
from sightline_world.draw.places import PLACES
from sightline_world.draw.weather import fall
from sightline_world.scene import SCENE_KINDS, SCENE_LIGHTS, SCENE_PLACES

BARE = (255, 0, 255)
LANDSCAPE, PORTRAIT, WIDE = (160, 120), (120, 160), (192, 108)


def bare(place: str, light: str, size: tuple[int, int] = LANDSCAPE) -> Canvas:
    canvas = Canvas(*size, LIGHTS[light].under(PLACES[place].lamps))
    canvas.image.paste(BARE, (0, 0, *canvas.image.size))
    return canvas


def painted(place: str, light: str, variant: int = 0, size: tuple[int, int] = LANDSCAPE) -> Canvas:
    canvas = bare(place, light, size)
    PLACES[place].paint(canvas, Random(f"{place}/{variant}"))
    canvas.shine()
    return canvas


def seen(place: str, light: str) -> npt.NDArray[np.float64]:
    """The finished picture of an empty place, with the weather in the air."""
    canvas = painted(place, light)
    if not PLACES[place].indoor:
        fall(canvas.image, canvas.light, 11)
    return np.asarray(canvas.image).astype(np.float64)


def test_the_tables_hold_the_worlds_words_in_their_order() -> None:
    assert tuple(PLACES) == SCENE_PLACES
    assert tuple(LIGHTS) == SCENE_LIGHTS


@pytest.mark.parametrize("place", SCENE_PLACES)
@pytest.mark.parametrize("light", SCENE_LIGHTS)
def test_every_place_is_painted_to_the_last_pixel_in_every_light_and_format(place: str, light: str) -> None:
    for size in (LANDSCAPE, PORTRAIT, WIDE):
        for variant in range(PLACES[place].variants if light == "day" else 1):
            pixels = np.asarray(painted(place, light, variant, size).image)
            assert not (pixels == BARE).all(axis=2).any()
            assert pixels.std() > 8, "flat: nothing was drawn"


@pytest.mark.parametrize("place", SCENE_PLACES)
def test_a_background_is_decided_by_its_variant_alone(place: str) -> None:
    shots = [painted(place, "day", variant).image for variant in range(PLACES[place].variants)]
    assert 4 <= len(shots) <= 8
    assert painted(place, "day", 0).image.tobytes() == shots[0].tobytes()
    for one, other in combinations(shots, 2):
        differ = np.asarray(one).astype(int) - np.asarray(other)
        assert (np.abs(differ).max(axis=2) > 8).mean() > 0.02


@pytest.mark.parametrize("place", SCENE_PLACES)
def test_a_variant_is_the_same_spot_in_every_light(place: str) -> None:
    states = set()
    for light in LIGHTS:
        rng = Random(f"{place}/1")
        PLACES[place].paint(bare(place, light), rng)
        states.add(rng.getstate())
    assert len(states) == 1, "a light used up dice, so that what follows would stand elsewhere"


@pytest.mark.parametrize("place", SCENE_PLACES)
def test_zones_lie_in_the_picture_and_are_roomy(place: str) -> None:
    zones = PLACES[place].zones
    for zone in zones.values():
        assert 0 <= zone.left < zone.right <= 1
        assert 0 <= zone.top < zone.bottom <= 1
        assert zone.height(1.0, zone.top) > 0
        assert zone.height(1.0, zone.bottom) >= zone.height(1.0, zone.top)
        assert 0 <= zone.depth(zone.bottom) <= zone.depth(zone.top) <= 1
    room = zones["table"] if place == "kitchen" else zones["ground"]
    assert room.right - room.left >= 0.8
    assert room.bottom - room.top >= 0.14
    assert "sky" in zones


def test_places_have_what_their_name_promises() -> None:
    def having(habitat: str) -> set[str]:
        return {name for name, place in PLACES.items() if habitat in place.zones}

    assert having("ground") == set(PLACES) - {"kitchen"}
    assert having("table") == {"kitchen", "library", "garden"}
    assert having("water") == {"beach", "lake", "harbour"}
    assert {name for name, place in PLACES.items() if place.indoor} == {"kitchen", "library"}
    assert len({place.phrase for place in PLACES.values()}) == len(PLACES)


@pytest.mark.parametrize("place", SCENE_PLACES)
def test_scenery_that_could_be_counted_is_declared(place: str) -> None:
    declared = set(PLACES[place].scenery_kinds)
    assert declared <= set(SCENE_KINDS)
    assert {note.kind for note in painted(place, "day").notes} <= declared


@pytest.mark.parametrize("place", [name for name, place in PLACES.items() if place.front])
def test_furniture_in_front_keeps_to_its_box_and_bears_its_zone(place: str) -> None:
    front, zone = PLACES[place].front, PLACES[place].zones["table"]
    assert front is not None
    canvas = bare(place, "day")
    front.paint(canvas, Random(1))
    rows, columns = np.nonzero((np.asarray(canvas.image) != BARE).any(axis=2))
    wide, high = canvas.image.size
    assert columns.min() >= (front.box.left - 0.03) * wide
    assert columns.max() <= (front.box.right + 0.03) * wide
    assert rows.min() >= (front.box.top - 0.03) * high
    assert rows.max() <= (front.box.bottom + 0.03) * high
    for x in (zone.left, zone.right):
        for y in (zone.top, zone.bottom):
            assert canvas.image.getpixel((round(x * wide), round(y * high))) != BARE


@pytest.mark.parametrize("place", SCENE_PLACES)
def test_lights_are_told_apart(place: str) -> None:
    shots = {light: seen(place, light) for light in LIGHTS}
    means = {light: shot.mean(axis=(0, 1)) for light, shot in shots.items()}
    for one, other in combinations(LIGHTS, 2):
        assert np.abs(means[one] - means[other]).max() > 2.5
        assert np.abs(shots[one] - shots[other]).mean() > 5
    assert means["night"].sum() < 0.9 * means["day"].sum()
    assert means["rain"].sum() < means["day"].sum()
    assert means["sunset"][0] - means["sunset"][2] > means["day"][0] - means["day"][2]


@pytest.mark.parametrize("place", ["beach", "lake", "garden", "market", "desert", "playground"])
def test_snow_covers_the_ground(place: str) -> None:
    def grey(light: str) -> tuple[float, float]:
        ground = seen(place, light)[-40:]
        return float((ground.max(axis=2) - ground.min(axis=2)).mean()), float(ground.mean())

    (colourful, dark), (plain, bright) = grey("day"), grey("snowfall")
    assert plain < 0.6 * colourful
    assert bright > dark


def test_weather_falls_only_when_it_should_and_where_it_should() -> None:
    for name, light in LIGHTS.items():
        dry, wet, again, other, part = (Image.new("RGB", (160, 120), (90, 90, 90)) for _ in range(5))
        fall(wet, light, 5)
        fall(again, light, 5)
        fall(other, light, 700)
        fall(part, light, 5, (40, 30, 80, 60))
        assert wet.tobytes() == again.tobytes()
        weather = name in ("rain", "snowfall")
        assert (wet.tobytes() != dry.tobytes()) is weather
        assert (wet.tobytes() != other.tobytes()) is weather
        drops = (np.asarray(part) != 90).any(axis=2)
        assert drops.any() == weather
        drops[30:60, 40:80] = False
        assert not drops.any()


def test_weather_leaves_most_of_the_picture_to_be_seen() -> None:
    for light in ("rain", "snowfall"):
        image = Image.new("RGB", (320, 240), (90, 90, 90))
        fall(image, LIGHTS[light], 3)
        assert 0.01 < (np.asarray(image)[:, :, 1] > 130).mean() < 0.12


@pytest.mark.parametrize("light", SCENE_LIGHTS)
def test_colours_of_things_are_told_apart_and_keep_their_hue(light: str) -> None:
    falling = LIGHTS[light].on_things()
    inks = {name: np.array(falling.ink(rgb, 0.3)).astype(float) for name, rgb in COLOURS.items()}
    for one, other in combinations(inks, 2):
        assert np.linalg.norm(inks[one] - inks[other]) > 24, (one, other)
    for name, channel in (("red", 0), ("green", 1), ("blue", 2)):
        assert inks[name].argmax() == channel
