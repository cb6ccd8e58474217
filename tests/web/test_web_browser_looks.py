"""What only a browser shows: the graph by keys, the map and the bar on a phone, and where one is after going back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from search_tools import Colours
from web_samples import Served, make_graph, remember_life, serving, shoot

Look = Callable[..., Any]
_PHONE = {"width": 390, "height": 844}
_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture
def remembered(copied: Path) -> Iterator[Served]:
    make_graph(copied, "a white bench")
    with serving(copied, embedder=Colours()) as app:
        yield app


def test_the_graph_by_keys_alone(copied: Path, looking: Look) -> None:
    remember_life(copied)
    with serving(copied, embedder=Colours()) as app:
        page = looking(app).go("/graph/mined?owner=ben")
        page.locator(".photos a").nth(3).focus()
        chosen = page.evaluate("document.activeElement.getAttribute('href')")
        page.keyboard.press("Enter")
        page.locator("#chosen").get_by_text("The same in other pictures").wait_for()
        assert "photo=" in page.url and page.evaluate("document.activeElement.getAttribute('href')") == chosen
        assert page.locator(".photos .tile.on").count() == 1 and page.locator(".photos .tile.right").count() >= 1
        shoot(page, "graph")
        page.keyboard.press("Tab")  # On to the next picture: nothing was lost by choosing.
        assert page.evaluate("document.activeElement.closest('.photos') !== null")
        page.go_back()
        page.locator("#chosen").get_by_text("Nothing is chosen.").wait_for()


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_the_graph_fits_a_phone(remembered: Served, looking: Look, scheme: str) -> None:
    page = looking(remembered, viewport=_PHONE, color_scheme=scheme).go("/graph/mined?event=e1")
    assert page.evaluate(_WIDE) <= 0
    small = "[...document.querySelectorAll('main *')].filter(e => parseFloat(getComputedStyle(e).fontSize) < 11).length"
    assert page.evaluate(small) == 0
    ends = page.evaluate(
        """() => {
          const rows = [...document.querySelectorAll("ol.events li")].map(row => row.getBoundingClientRect());
          const arc = document.querySelector("svg.arcs path").getBoundingClientRect();
          return [arc.top - (rows[0].top + rows[0].height / 2), arc.bottom - (rows[1].top + rows[1].height / 2)];
        }"""
    )
    assert all(abs(off) < 4 for off in ends)  # An arc ends in the middle of its rows.


@pytest.mark.parametrize("width", [390, 1280])
def test_the_whole_map_is_in_the_window_and_can_be_tapped(served: Served, looking: Look, width: int) -> None:
    page = looking(served, viewport={"width": width, "height": 844}).go("/map")
    dots = page.evaluate(
        """() => [...document.querySelectorAll(".map a")].map(dot => {
          const box = dot.getBoundingClientRect();
          return [box.left, box.right, box.width, box.height];
        })"""
    )
    assert dots and all(left >= 0 and right <= width for left, right, *_ in dots)
    assert min(min(wide, high) for *_, wide, high in dots) >= 32
    letters = "[...document.querySelectorAll('.map text')].map(t => t.getBoundingClientRect().height)"
    assert min((high for high in page.evaluate(letters) if high), default=12) > 10


def test_the_bar_is_one_line_on_a_phone_and_shows_where_one_is(served: Served, looking: Look) -> None:
    page = looking(served, viewport=_PHONE).go("/runs")
    assert page.locator("nav.bar").bounding_box()["height"] < 64
    here = page.locator("nav.bar [aria-current]").bounding_box()
    assert here["x"] >= 0 and here["x"] + here["width"] <= 390


def test_the_timeline_fits_a_phone(served: Served, looking: Look) -> None:
    page = looking(served, viewport=_PHONE).go("/timeline")
    assert page.locator(".months").bounding_box()["width"] <= 390


def test_back_from_a_picture_one_is_where_one_was(served: Served, looking: Look) -> None:
    page = looking(served).go("/search")
    page.locator("#grid .tile").first.focus()
    for key in ("ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    chosen = page.evaluate("document.activeElement.title")
    page.keyboard.press("Enter")
    page.wait_for_url("**/picture?*")
    page.reload()  # A picture has a page of its own, too.
    assert page.locator("h1").inner_text() in chosen
    page.go_back()
    page.locator("#grid .tile:focus").wait_for()
    assert page.evaluate("document.activeElement.title") == chosen
    page.keyboard.press("ArrowRight")  # And arrows go on from there.
    assert page.evaluate("document.activeElement.title") not in ("", chosen)


def test_what_is_wrong_with_a_filter_is_told_once(served: Served, looking: Look) -> None:
    page = looking(served).go("/search?text=red&where=tiem+%3E+2020")
    page.wait_for_load_state("networkidle")
    assert page.get_by_text("Did you mean").count() == 1
    assert page.locator("#count").inner_text() == "", "nothing was counted, so it is not 0"


def test_a_narrow_phone_and_a_picture_smaller_than_the_window(served: Served, looking: Look) -> None:
    page = looking(served, viewport={"width": 320, "height": 640}).go("/search?text=red")
    assert page.evaluate(_WIDE) <= 0
    page = looking(served).go("/search")
    page.locator("#grid .tile").first.click()
    page.keyboard.press("z")
    page.locator("#box .zoomed img[src$='size=0']").wait_for()
    page.evaluate("document.querySelector('#box img').decode()")
    boxes = [page.locator(f"#box .stage{inner}").bounding_box() for inner in ("", " img")]
    middles = [(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in boxes]
    assert middles[0] == pytest.approx(middles[1], abs=2), "its pixels are in the middle"


def test_steps_can_be_walked_with_caps_lock(served: Served, looking: Look) -> None:
    page = looking(served).go("/runs/sample-strong/replay?task=rank-01")
    page.keyboard.press("J")
    assert page.evaluate("document.activeElement.className") == "step"


def test_pictures_are_found_cropped_selected_and_saved_by_hand(copied: Path, looking: Look, tmp_path: Path) -> None:
    with serving(copied, embedder=Colours()) as app:
        page = looking(app).go("/search")
        page.locator("summary", has_text="Owner").click()
        page.get_by_role("link", name="ana", exact=False).first.click()
        page.locator(".chip.on", has_text="Owner: ana").wait_for()
        page.locator("#find").type("red")
        page.wait_for_url("**owner=ana&text=red")
        page.locator("#save").click()
        page.get_by_text("★ Saved").wait_for()
        page.locator("#grid[data-drawn=all] .tile").first.hover()
        page.locator("#grid .tile .pick").first.click()
        page.locator("#grid .tile").nth(3).click(modifiers=["Shift"])
        page.get_by_text("4 selected").wait_for()
        page.get_by_text("Album …").click()
        page.locator("#album input[name=folder]").fill(str(tmp_path / "album"))
        page.get_by_text("Make the album").click()
        page.locator("#chosen", has_text="4 links").wait_for()
        assert len(list((tmp_path / "album").iterdir())) == 4
        page.locator("#grid .tile").first.click()
        page.locator("#box aside dl").first.wait_for()
        page.keyboard.press("c")
        shown = page.locator("#box .stage img").bounding_box()
        page.mouse.move(shown["x"] + shown["width"] / 3, shown["y"] + shown["height"] / 3)
        page.mouse.down()
        page.mouse.move(shown["x"] + shown["width"] / 2, shown["y"] + shown["height"] / 2, steps=4)
        page.mouse.up()
        page.wait_for_url("**upload=*")
        page.get_by_role("heading", name="Like a picture").wait_for()
        page.goto(f"{app.address}/search")
        page.get_by_role("link", name="★ red · ana").wait_for()
