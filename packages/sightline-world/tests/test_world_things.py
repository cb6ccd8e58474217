from __future__ import annotations

from random import Random

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from sightline_world.draw.kinds import KINDS
from sightline_world.draw.palette import COLOURS, LIGHTS
from sightline_world.draw.pen import Pen, closed, opened, ribbon, turned
from sightline_world.scene import SCENE_COLOURS, SCENE_KINDS
from sightline_world.vocabulary import noun_of

HIGH = 120
PAIRS = [(kind, colour) for kind in SCENE_KINDS for colour in KINDS[kind].colours]


def sprite(kind: str, colour: str, seed: str = "test", light: str = "day") -> Image.Image:
    """The thing alone, with room of a quarter of its size about it."""
    image = Image.new("RGBA", (round(HIGH * KINDS[kind].aspect * 1.5), round(HIGH * 1.5)))
    ink, dark = LIGHTS[light].on_things().ink, LIGHTS[light].dark
    pen = Pen(image, HIGH, (image.width / 2, HIGH * 0.25), ink, dark)
    KINDS[kind].draw(pen, COLOURS[colour], Random(seed))
    return image


def opaque(image: Image.Image) -> npt.NDArray[np.int64]:
    """The colours of all pixels that were drawn, a row for each."""
    pixels = np.asarray(image).astype(np.int64)
    return pixels[pixels[..., 3] > 0][:, :3]


def outline(kind: str) -> npt.NDArray[np.bool_]:
    """What a kind covers, cut to its bounding box and brought to one size."""
    image = sprite(kind, KINDS[kind].colours[0]).getchannel("A")
    cut = image.crop(image.getbbox())
    side = max(cut.size)
    square = Image.new("L", (side, side))
    square.paste(cut, ((side - cut.width) // 2, side - cut.height))
    return np.asarray(square.resize((48, 48))) > 127


def test_there_is_a_drawing_of_every_kind_and_a_paint_for_every_colour() -> None:
    assert set(SCENE_KINDS) == set(KINDS) - {"person"}
    assert set(SCENE_COLOURS) == set(COLOURS)
    for kind in KINDS.values():
        assert set(kind.colours) <= set(SCENE_COLOURS)
        assert len(set(kind.colours)) == len(kind.colours)


@pytest.mark.parametrize(("kind", "colour"), PAIRS)
def test_the_main_colour_of_a_thing_is_its_own(kind: str, colour: str) -> None:
    pixels = opaque(sprite(kind, colour))
    assert len(pixels) > 0.1 * HIGH * HIGH * KINDS[kind].aspect
    near = np.abs(pixels - np.array(COLOURS[colour])).max(axis=1) <= 32
    assert near.mean() >= 0.35


@pytest.mark.parametrize("light", sorted(LIGHTS))
@pytest.mark.parametrize("kind", ["car", "teapot", "balloon"])
def test_in_every_light_a_colour_is_nearest_to_itself(kind: str, light: str) -> None:
    seen = {colour: np.median(opaque(sprite(kind, colour, light=light)), axis=0) for colour in SCENE_COLOURS}
    lit = LIGHTS[light].on_things()
    inks = {colour: np.array(lit.ink(COLOURS[colour])) for colour in SCENE_COLOURS}
    for colour, found in seen.items():
        assert min(inks, key=lambda name: float(np.abs(found - inks[name]).sum())) == colour


@pytest.mark.parametrize("kind", SCENE_KINDS)
def test_a_thing_is_one_unit_high_and_as_wide_as_declared(kind: str) -> None:
    for seed in ("a", "b", "c"):
        image = sprite(kind, KINDS[kind].colours[0], seed)
        left, top, right, bottom = image.getbbox() or (0, 0, 0, 0)
        assert left > 0
        assert right < image.width, "cut off at the side"
        assert abs(top / HIGH - 0.25) <= 0.06
        assert abs(bottom / HIGH - 1.25) <= 0.03
        assert (right - left) / (bottom - top) == pytest.approx(KINDS[kind].aspect, rel=0.10)


@pytest.mark.parametrize("kind", SCENE_KINDS)
def test_a_drawing_depends_on_nothing_but_its_seed(kind: str) -> None:
    colour = KINDS[kind].colours[0]
    assert sprite(kind, colour).tobytes() == sprite(kind, colour).tobytes()


def test_seeds_vary_what_moves() -> None:
    for kind in ("dog", "horse", "clock", "flag", "bird", "tree", "mailbox"):
        assert len({sprite(kind, KINDS[kind].colours[0], str(seed)).tobytes() for seed in range(5)}) > 1


def test_the_outlines_of_kinds_differ() -> None:
    shapes = {kind: outline(kind) for kind in SCENE_KINDS}
    alike = [
        (one, other, round(float((shapes[one] & shapes[other]).sum() / (shapes[one] | shapes[other]).sum()), 2))
        for number, one in enumerate(SCENE_KINDS)
        for other in SCENE_KINDS[number + 1 :]
        if (shapes[one] & shapes[other]).sum() > 0.90 * (shapes[one] | shapes[other]).sum()
    ]
    assert alike == []


def test_lamps_and_windows_shine_after_dark() -> None:
    for kind in ("bus", "house", "plane"):
        day, night = (opaque(sprite(kind, "blue", light=light)) for light in ("day", "night"))
        assert ((day[:, 0] > 220) & (day[:, 2] < 160)).mean() < 0.01
        assert ((night[:, 0] > 220) & (night[:, 2] < 160)).mean() > 0.01


def test_every_habitat_has_its_height() -> None:
    for kind in KINDS.values():
        assert kind.habitats[0] == kind.habitat
        assert len(set(kind.habitats)) == len(kind.habitats)
        assert all(kind.metres_in(habitat) > 0 for habitat in kind.habitats)
    assert KINDS["duck"].metres_in("water") > KINDS["duck"].metres_in("ground")
    with pytest.raises(KeyError):
        KINDS["boat"].metres_in("table")


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_the_plural_is_the_one_that_captions_use(kind: str) -> None:
    assert KINDS[kind].plural == noun_of(kind, 2)


def test_curves_go_through_their_points() -> None:
    points = ((0.0, 0.0), (1.0, 0.2), (1.2, 1.0), (0.1, 0.9))
    assert closed(points)[:: len(closed(points)) // 4] == points
    path = opened(points)
    assert (path[0], path[-1]) == (points[0], points[-1])
    assert set(points) <= set(path)
    lathe = turned(((0.2, 0.0), (0.5, 1.0)))
    assert {(-x, y) for x, y in lathe} == set(lathe)
    assert max(x for x, _ in turned(((0.2, 0.0), (0.5, 1.0)), 0.5)) == 0.5
    assert min(x for x, _ in turned(((0.2, 0.0), (0.5, 1.0)), 0.5)) == pytest.approx(0.1)


def test_a_ribbon_is_as_wide_as_it_should_be() -> None:
    band = ribbon(((0.0, 0.5), (0.5, 0.5), (1.0, 0.5)), 0.2)
    assert {round(y, 9) for _, y in band} == {0.4, 0.6}
    assert (min(x for x, _ in band), max(x for x, _ in band)) == (0.0, 1.0)
