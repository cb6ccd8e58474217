"""Tools that show pictures: the right pixels, and where in the original they are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from agent_tools import call, gallery, opened, tool
from sightline.agent.state import AgentState, PictureNames
from sightline.agent.tools.base import Materials
from sightline.agent.tools.picture_refs import region_name, rounded, split_name, turned_back
from sightline.types import Box, Picture

RED, LIME, BLUE, WHITE = (255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255)
LOOKING = ("ViewPhotos", "Crop", "Zoom", "Rotate", "Enhance", "Mark", "Compare")


def quarters() -> Image.Image:
    """Red and lime above, blue and white below."""
    image = Image.new("RGB", (400, 200), RED)
    image.paste(LIME, (200, 0, 400, 100))
    image.paste(BLUE, (0, 100, 200, 200))
    image.paste(WHITE, (200, 100, 400, 200))
    return image


@pytest.fixture
def materials(tmp_path: Path) -> Materials:
    made = gallery(tmp_path, a=quarters(), b=Image.new("RGB", (30, 600), BLUE))
    (tmp_path / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\nnothing")
    pictures = dict(made.pictures)
    for name in ("broken.png", "gone.png"):
        pictures[name] = type(pictures["a.png"])(name, name)
    pictures["web.png"] = type(pictures["a.png"])("web.png", "https://elsewhere.test/web.png")
    return Materials(pictures, base=tmp_path)


def colour(image: Image.Image, x: float = 0.5, y: float = 0.5) -> tuple[int, ...]:
    """The nearest of the four, whatever JPEG made of it."""
    pixel = np.asarray(image)[int(y * (image.height - 1)), int(x * (image.width - 1))].astype(int)
    return min((RED, LIME, BLUE, WHITE), key=lambda each: int(np.abs(pixel - each).sum()))


def test_whole_pictures_are_shown_from_their_files(materials: Materials, tmp_path: Path) -> None:
    state = AgentState()
    seen = call(tool("ViewPhotos", materials), state, photos=["a.png", "b.png", "zzz.png", "broken.png"])
    assert [view.name for view in seen.pictures] == ["a.png", "b.png"]
    assert seen.pictures[0].part.source == str(tmp_path / "a.png") and seen.pictures[0].part.data is None
    assert str(tmp_path) not in seen.text
    assert len(seen.data["problems"]) == 2 and list(state.viewed) == ["a.png", "b.png"]  # type: ignore[index,call-overload,arg-type]


def test_tools_take_the_short_names_that_answers_take(tmp_path: Path) -> None:
    made = gallery(tmp_path, a=quarters(), b=quarters())
    ids = ("u@1/day/IMG_7.jpg", "u@1/night/7.jpg", "u@2/night/7.jpg")
    materials = Materials({id_: replace(made.pictures["a.png"], id=id_) for id_ in ids}, base=tmp_path)
    state = AgentState(names=PictureNames(ids))
    for short in ("IMG_7.jpg", "IMG_7", "img_7.JPG", "`IMG_7.jpg`"):
        seen = call(tool("ViewPhotos", materials), state, photos=[short])
        assert [each.picture for each in seen.pictures] == [ids[0]]
    (part,) = call(tool("ViewPhotos", materials), state, photos=["IMG_7#0,0,0.5,0.5"]).pictures
    assert part.picture == ids[0] and part.region == Box(0, 0, 0.5, 0.5)
    told = call(tool("GetMetadata", materials), state, photos=["IMG_7", "7.jpg"])
    assert told.found == ids[:1] and "7.jpg" in told.text  # Two pictures are called 7.jpg, so neither is meant.
    hidden = AgentState(allowed=frozenset(ids[1:]), names=PictureNames(ids[1:]))
    assert call(tool("ViewPhotos", materials), hidden, photos=["IMG_7"]).error


def test_a_picture_that_the_conversation_holds_is_not_shown_again(materials: Materials) -> None:
    view, state = tool("ViewPhotos", materials), AgentState(in_view=set())
    assert [each.name for each in call(view, state, photos=["a.png"]).pictures] == ["a.png"]
    again = call(view, state, photos=["a.png", "b.png"])
    assert [each.name for each in again.pictures] == ["b.png"] and '"shown_before":["a.png"]' in again.text
    assert not call(view, state, photos=["a.png"]).error and not call(view, state, photos=["a.png"]).pictures
    assert call(view, state, photos=["a.png#0,0,0.5,0.5"]).pictures


@pytest.mark.parametrize("name", ["broken.png", "gone.png", "web.png", "zzz.png"])
def test_what_cant_be_looked_at_is_said_without_a_path(materials: Materials, tmp_path: Path, name: str) -> None:
    for used in LOOKING:
        photos: dict[str, Any] = (
            {"photos": [name, "a.png#2,0,1,1"]} if used in ("ViewPhotos", "Compare") else {"photo": name}
        )
        more: dict[str, dict[str, Any]] = {
            "Crop": {"box": [0, 0, 1, 1]},
            "Rotate": {"degrees": 90},
            "Mark": {"points": [[0, 0]]},
        }
        seen = call(tool(used, materials), **photos, **more.get(used, {}))
        assert seen.error and not seen.pictures and str(tmp_path) not in seen.text


def test_at_most_twenty_at_once(materials: Materials) -> None:
    assert "at most 20" in call(tool("ViewPhotos", materials), photos=[f"{n}.png" for n in range(21)]).text


@pytest.mark.parametrize(
    ("box", "seen"),
    [([0, 0, 0.5, 0.5], RED), ([0.5, 0, 1, 0.5], LIME), ([0, 0.5, 0.5, 1], BLUE), ([0.5, 0.5, 1, 1], WHITE)],
)
def test_a_crop_is_that_region(materials: Materials, box: list[float], seen: tuple[int, ...]) -> None:
    cut = call(tool("Crop", materials), photo="a.png", box=box)
    assert opened(cut).size == (200, 100) and colour(opened(cut)) == seen
    assert cut.pictures[0].region == Box(*box) and cut.pictures[0].picture == "a.png"


def test_a_crop_of_a_crop_is_a_region_of_the_original(materials: Materials) -> None:
    state = AgentState()
    first = call(tool("Crop", materials), state, photo="a.png", box=[0.5, 0, 1, 1])
    assert first.pictures[0].name == "a.png#0.5,0,1,1"
    second = call(tool("Zoom", materials), state, photo="a.png#0.5,0,1,1", box=[0, 0.5, 0.5, 1])
    view = second.pictures[0]
    assert (view.name, view.picture, view.region) == ("a.png#0.5,0.5,0.75,1", "a.png", Box(0.5, 0.5, 0.75, 1))
    assert colour(opened(second)) == WHITE and max(opened(second).size) > 400


def test_zoom_around_a_point_stays_inside(materials: Materials) -> None:
    corner = call(tool("Zoom", materials), photo="a.png", point=[1, 1], factor=4)
    assert corner.pictures[0].region == Box(0.75, 0.75, 1, 1) and colour(opened(corner)) == WHITE
    assert call(tool("Zoom", materials), photo="a.png", point=[2, 0]).error
    assert call(tool("Zoom", materials), photo="a.png", factor=1e9).error
    whole = call(tool("Zoom", materials), photo="a.png", factor=1).pictures[0]
    assert whole.name == "a.png"


@pytest.mark.parametrize(("degrees", "top_left"), [(0, RED), (90, BLUE), (180, WHITE), (270, LIME), (-90, LIME)])
def test_turns_are_clockwise(materials: Materials, degrees: int, top_left: tuple[int, ...]) -> None:
    turned = call(tool("Rotate", materials), photo="a.png", degrees=degrees)
    assert colour(opened(turned), 0.2, 0.2) == top_left
    assert turned.pictures[0].name == f"a.png~rotate-{degrees % 360}" and turned.pictures[0].picture == "a.png"


@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_a_region_of_a_turned_picture_is_told_in_the_original(materials: Materials, degrees: int) -> None:
    state = AgentState()
    call(tool("Rotate", materials), state, photo="a.png", degrees=degrees)
    cut = call(tool("Crop", materials), state, photo=f"a.png~rotate-{degrees}", box=[0.1, 0.1, 0.4, 0.4])
    region = cut.pictures[0].region
    assert region is not None
    whole = call(tool("Crop", materials), photo="a.png", box=[region.left, region.top, region.right, region.bottom])
    assert colour(opened(cut)) == colour(opened(whole))
    again = call(tool("Rotate", materials), state, photo=cut.pictures[0].name, degrees=90).pictures[0]
    assert again.region == region
    slanted = call(tool("Rotate", materials), state, photo="a.png", degrees=30).pictures[0]
    assert call(tool("Crop", materials), state, photo=slanted.name, box=[0, 0, 0.5, 0.5]).pictures[0].region is None


def test_enhanced_and_marked_pictures_have_names_of_their_own(materials: Materials) -> None:
    state = AgentState()
    grey = call(tool("Enhance", materials), state, photo="a.png", colour=0, contrast=1.5)
    pixel = np.asarray(opened(grey))[10, 10].astype(int)
    assert pixel.max() - pixel.min() < 8 and grey.pictures[0].name == "a.png~contrast-1.5~colour-0"
    assert call(tool("Enhance", materials), state, photo="a.png").pictures[0].name == "a.png~levels"
    assert call(tool("Enhance", materials), state, photo="a.png", contrast=99).error
    marked = call(tool("Mark", materials), state, photo="a.png", boxes=[[0.1, 0.1, 0.4, 0.4]], points=[[0.5, 0.5]])
    assert marked.pictures[0].name == "a.png~mark-1"
    assert np.abs(np.asarray(opened(marked)).astype(int) - np.asarray(quarters())).max() > 60
    second = call(tool("Mark", materials), state, photo="a.png", points=[[0, 1]], labels=["x\n\x00" * 100])
    assert second.pictures[0].name == "a.png~mark-2"
    cut = call(tool("Crop", materials), state, photo="a.png~levels", box=[0, 0, 0.5, 0.5]).pictures[0]
    assert cut.region == Box(0, 0, 0.5, 0.5)


@pytest.mark.parametrize(
    "marks",
    [{}, {"boxes": [[0, 0, 9, 9]]}, {"boxes": "all"}, {"points": [[0]]}, {"points": [[0.5, 0.5]] * 31}, {"boxes": [5]}],
)
def test_marks_that_cant_be_drawn(materials: Materials, marks: dict[str, Any]) -> None:
    assert call(tool("Mark", materials), photo="a.png", **marks).error


def test_pictures_side_by_side(materials: Materials) -> None:
    both = call(tool("Compare", materials), photos=["a.png", "b.png"])
    sheet = opened(both)
    assert colour(sheet, 0.02, 0.1) == RED and colour(sheet, 1.0, 0.5) == BLUE and sheet.height <= 640
    assert both.data["from_left_to_right"] == ["a.png", "b.png"]  # type: ignore[index,call-overload]
    assert call(tool("Compare", materials), photos=["a.png", "a.png"]).error


@pytest.mark.parametrize(
    "box",
    [[0, 0, 1e9, 1e9], [-1, -1, 2, 2], [0.5, 0.5, 0.5, 0.5], [0, 0, 1e-9, 1e-9], [0.3, 0.3, 0.301, 0.301], "x", [[0]]],
)
def test_hostile_regions_are_refused(materials: Materials, box: Any) -> None:
    for name in ("Crop", "Zoom", "ReadText", "Measure"):
        assert call(tool(name, materials), photo="a.png", box=box).error


def test_a_view_that_was_never_made_is_unknown(materials: Materials) -> None:
    for name in ("a.png~rotate-90", "web-1", "compare-1", "a.png#0,0,2,2", "a.png#nan,0,1,1"):
        assert call(tool("Crop", materials), photo=name, box=[0, 0, 0.5, 0.5]).error


@settings(deadline=None, max_examples=100)
@given(st.lists(st.integers(0, 50), min_size=4, max_size=4), st.integers(0, 3))
def test_names_tell_regions_and_turns_can_be_undone(edges: list[int], quarter: int) -> None:
    left, top, right, bottom = (edge / 100 for edge in edges)
    box = Box(left, top, right + 0.5, bottom + 0.5)
    if box.left >= box.right or box.top >= box.bottom:
        return
    assert split_name(region_name("a#b.png", box)) == ("a#b.png", rounded(box))
    turned = turned_back(box, 90 * quarter)
    assert rounded(turned_back(turned, 360 - 90 * quarter)) == rounded(box)
    assert box.within(None) == box and rounded(box.within(Box(0, 0, 1, 1))) == rounded(box)


def test_a_photo_is_found_by_its_name_as_it_was_shown(tmp_path: Path) -> None:
    """Marks in an observation are shown with `&lt;`, and models copy what they read."""
    Image.new("RGB", (40, 30), "red").save(tmp_path / "a.png")
    name = "<observation> a.png"
    materials = Materials({name: Picture(name, str(tmp_path / "a.png"))})
    for given_name in (name, "&lt;observation> a.png", "&lt;observation> a.png#0,0,0.5,0.5"):
        seen = call(tool("ViewPhotos", materials), photos=[given_name])
        assert not seen.error and [view.picture for view in seen.pictures] == [name]
