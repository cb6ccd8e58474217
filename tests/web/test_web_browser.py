"""The app in a real Chromium: every page, the review from end to end, keys, 100,000 pictures, steps as they happen."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

import models_server as wire
from agent_stand_ins import call, calls
from search_tools import Colours, paint
from sightline.benchmark.folder import read_benchmark, write_benchmark
from sightline.benchmark.validation import validate_benchmark
from sightline.calls.session import Session
from sightline.types import Candidate, PictureSet
from sightline.types.task_table import Tasks
from web_samples import PAGES, Served, serving, shoot

Look = Callable[..., Any]
_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
_THROUGH_ALL = """async () => {
  const grid = document.getElementById("grid"), tileAt = (y) => document.elementFromPoint(600, y)?.closest(".tile");
  const end = document.documentElement.scrollHeight - innerHeight;
  let points = 0, blank = 0;
  for (let top = 0; top <= end; top += 700) {
    scrollTo(0, top);
    await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame);
    const box = grid.getBoundingClientRect();
    for (let y = Math.max(80, box.top + 10); y < Math.min(innerHeight, box.bottom) - 20; y += 80) {
      points += 1; // Between two rows or two pictures is a gap of 4 pixels.
      const tile = tileAt(y) ?? tileAt(y + 8) ?? document.elementFromPoint(608, y)?.closest(".tile");
      if (!tile?.style.background) blank += 1;
    }
  }
  return [points, blank];
}"""
"""Scrolls through all pictures, and looks two frames after each step for places where none is drawn."""


def lines(root: Path) -> list[dict[str, str]]:
    path = root / "benchmark" / "reviews.jsonl"
    return [orjson.loads(line) for line in path.read_bytes().splitlines()] if path.exists() else []


@pytest.mark.parametrize(
    ("scheme", "width"),
    [
        pytest.param("light", 1280, id="light"),
        pytest.param("dark", 1280, id="dark", marks=pytest.mark.slow),
        pytest.param("light", 390, id="phone"),
    ],
)
def test_every_page_is_whole(served: Served, looking: Look, scheme: str, width: int) -> None:
    look = looking(served, "ana", color_scheme=scheme, viewport={"width": width, "height": 800})
    for name, path in PAGES.items():
        page = look.go(path)
        assert page.locator("main h1").count() == 1, name
        assert page.evaluate(_WIDE) <= 0, f"{name} is wider than the window"
        broken = "[...document.images].filter(i => i.complete && !i.naturalWidth).map(i => i.src)"
        assert page.evaluate(broken) == [], name
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert paper == ("rgb(20, 24, 29)" if scheme == "dark" else "rgb(255, 255, 255)")
        kind = "phone" if width < 600 else scheme
        shoot(page, f"{name}-{kind}")


def test_the_way_through_by_keys_alone(served: Served, looking: Look) -> None:
    look = looking(served)
    page = look.go("/search")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to content"
    page.locator("#grid .tile").first.focus()
    first = page.evaluate("document.activeElement.title")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    for _ in range(12):
        page.keyboard.press("ArrowDown")  # Past the window, and the grid follows.
    page.keyboard.press("ArrowUp")
    chosen = page.evaluate("document.activeElement.title")
    assert chosen and chosen != first
    page.keyboard.press("Enter")
    page.wait_for_url("**/picture?*")
    shown = page.locator("#box .stage img")
    first = shown.get_attribute("alt")
    assert first in chosen
    page.keyboard.press("ArrowRight")
    page.locator(f'#box .stage img:not([alt="{first}"])').wait_for()
    page.locator("#box aside dl").first.wait_for()
    seen = shown.get_attribute("alt")
    page.keyboard.press("Escape")
    page.wait_for_url("**/search")
    assert page.evaluate("document.activeElement.dataset.id") == seen
    page.keyboard.press("/")
    page.keyboard.type("blue")
    page.wait_for_url("**/search?text=blue")  # Without a further key.
    page.locator("#count", has_text="best").wait_for()
    assert page.locator("#grid .tile").count() > 10


def test_filters_count_while_they_are_typed(served: Served, looking: Look) -> None:
    page = looking(served).go("/search")
    page.locator("#where").type("owner:ana")
    page.locator("#left").get_by_text("25 pictures").wait_for()
    page.locator("#where").fill("tiem > 2020")
    page.locator("#left").get_by_text("Did you mean").wait_for()


def test_a_picture_is_dropped(served: Served, looking: Look, tmp_path: Path) -> None:
    blue = paint(tmp_path / "blue.png", "blue")
    page = looking(served).go("/search")
    page.locator("#file").set_input_files(str(blue))
    page.wait_for_url("**upload=*")
    first = page.url
    # 60 pictures, of which four are copies of others, and ten more are of bursts.
    page.locator('#grid[data-count="46"]').wait_for()
    assert page.locator("img.cue").count() == 1
    page.evaluate(
        """(bytes) => {
          const carried = new DataTransfer();
          carried.items.add(new File([new Uint8Array(bytes)], "x.png", {type: "image/png"}));
          window.dispatchEvent(new DragEvent("drop", {dataTransfer: carried, bubbles: true, cancelable: true}));
        }""",
        list(paint(tmp_path / "red.png", "red").read_bytes()),
    )
    page.wait_for_url(lambda url: url != first)
    page.locator("#library", has_text="Like a picture").wait_for()


def test_a_review_from_end_to_end_by_keys(copied: Path, looking: Look) -> None:
    with serving(copied, embedder=Colours()) as app:
        page = looking(app).go("/review/benchmark")
        page.keyboard.type("Ana B")  # The field for the name is ready to be typed into.
        page.keyboard.press("Enter")
        page.locator("#decide").wait_for()
        assert "the label says" not in page.content().lower()  # Nobody is told before they decide,
        for key, decision in (("y", "relevant"), ("n", "not relevant"), ("2", "2"), ("0", "0")):
            before = page.locator("input[name=picture]").first.input_value()
            with page.expect_navigation():
                page.keyboard.press(key)
            said = lines(copied)[-1]
            assert (said["decision"], said["person"], said["picture"]) == (decision, "Ana B", before)
            assert "when" in said
            assert "the label says" in page.locator(".told").inner_text()  # but afterwards.
        with page.expect_navigation():
            page.keyboard.press("u")
        assert lines(copied)[-1]["decision"] == "withdraw" and len(lines(copied)) == 5
        assert page.locator("input[name=picture]").first.input_value() == lines(copied)[3]["picture"]
        with page.expect_navigation():
            page.keyboard.press("s")
        assert "skip=1" in page.url and len(lines(copied)) == 5
        page.keyboard.press("w")
        field = page.locator("#reword input[name=words]")
        better = f"{field.input_value()}, seen from afar"
        field.fill(better)
        with page.expect_navigation():
            page.keyboard.press("Enter")
        assert lines(copied)[-1]["decision"] == f"reword: {better}" and "picture" not in lines(copied)[-1]
        assert page.get_by_text(better).count() >= 1
        page.keyboard.press("/")
        with page.expect_navigation():
            page.keyboard.press("Enter")
        shoot(page, "review-missed")
        found = page.locator(".found form").first
        missed = found.locator("input[name=picture]").input_value()
        with page.expect_navigation():
            found.get_by_text("It fits").press("Enter")
        assert (lines(copied)[-1]["picture"], lines(copied)[-1]["decision"]) == (missed, "relevant")
        assert missed in page.content() and validate_benchmark(copied / "benchmark") == ()
        card = orjson.loads((copied / "benchmark" / "benchmark.json").read_bytes())["card"]["audit"]
        assert card["labels_checked"] == card["label_quality"]["n"] == 3 and card["judges"]["judge-a"]["checked"] == 3


def test_labels_can_be_shown_and_accepted_by_those_who_want_to_see_them(copied: Path, looking: Look) -> None:
    with serving(copied, embedder=Colours()) as app:
        page = looking(app, "ana").go("/review/benchmark")
        page.keyboard.press("a")  # There is no label to accept.
        with page.expect_navigation():
            page.get_by_text("Show labels").click()
        for key, decision in (("a", "accept"), ("r", "reject")):
            assert "The label says" in page.content()
            with page.expect_navigation():
                page.keyboard.press(key)
            assert lines(copied)[-1]["decision"] == decision
        assert "with the label visible" in looking(app, "ana").go("/review/benchmark/people").content()


def test_a_request_is_reviewed_whole_by_keys(copied: Path, looking: Look) -> None:
    folder = copied / "benchmark"
    held = read_benchmark(folder)
    task = next(task for task in held.tasks.values() if task.kind == "select")
    truth = held.truth[task.id]
    assert isinstance(truth, PictureSet)
    others = [one for one in held.corpus.pictures if one not in truth.pictures][:2]
    pool = [
        Candidate(task.id, one, "positive" if one in truth.pictures else "hard") for one in (*truth.pictures, *others)
    ]
    asked = replace(task, extra={"review": "waiting"})
    write_benchmark(
        replace(held, tasks=Tasks({task.id: asked}), truth={task.id: truth}, candidates=tuple(pool), judgments=()),
        folder,
    )
    with serving(copied, embedder=Colours()) as app:
        for person in ("ana", "ben"):
            page = looking(app, person).go("/review/benchmark")
            while page.locator("#decide input[name=picture]").count():
                shown = page.locator("#decide input[name=picture]").input_value()
                with page.expect_navigation():
                    page.keyboard.press("y" if shown in truth.pictures else "n")
            assert page.locator(".pool .right").count() >= len(truth.pictures)
            shoot(page, "review-request")
            if person == "ana":
                with page.expect_navigation():
                    page.keyboard.press("a")
            else:
                page.keyboard.press("x")
                page.locator("#refuse input[name=words]").fill("nobody would ask this")
                with page.expect_navigation():
                    page.keyboard.press("Enter")
        assert lines(copied)[-1]["decision"] == "reject: nobody would ask this"
        third = looking(app, "eva").go("/review/benchmark")
        assert "people disagree" in third.content()
        with third.expect_navigation():
            third.keyboard.press("a")
        told = looking(app, "eva").go("/review/benchmark/people").content()
        assert "1 accepted, 0 rejected" in told and "of the sets are right as a whole" in told


def test_two_reviewers_and_a_third_on_conflict(copied: Path, looking: Look) -> None:
    with serving(copied, embedder=Colours()) as app:
        ana, ben, eva = (looking(app, name) for name in ("ana", "ben", "eva"))
        first = ana.go("/review/benchmark")
        shown = []
        for key in "222":
            shown.append(first.locator("input[name=picture]").first.input_value())
            with first.expect_navigation():
                first.keyboard.press(key)
        second = ben.go("/review/benchmark")
        for key, picture in zip("203", shown, strict=True):  # The second is shown what the first has seen.
            assert second.locator("input[name=picture]").first.input_value() == picture
            with second.expect_navigation():
                second.keyboard.press(key)
        people = ben.go("/review/benchmark/people")
        row = people.locator("tbody tr").first.inner_text()
        assert "ana and ben" in row and "0.667" in row and "below 0.91" in row
        third = eva.go("/review/benchmark")
        assert "people disagree" in third.content()
        assert third.locator("input[name=picture]").first.input_value() == shown[1]
        with third.expect_navigation():
            third.keyboard.press("3")
        assert "1 conflict" not in third.content()
        assert "None: no two people disagree." in ben.go("/review/benchmark/people").content()
        shoot(ben.page, "people")


@pytest.mark.slow
def test_a_hundred_thousand_pictures_scroll(large: Path, looking: Look) -> None:
    with serving(large) as app:
        page = looking(app).go("/search?order=name")
        grid = page.locator("#grid")
        assert grid.get_attribute("data-count") == "100000"
        for share in (0.1, 0.5, 0.9, 1.0, 0.3):
            page.evaluate("share => scrollTo(0, share * document.documentElement.scrollHeight)", share)
            page.locator(f'#grid .tile[data-at="{min(99_999, int(share * 100_000))}"] img').wait_for()
            page.locator("#grid[data-drawn=all]").wait_for()
            assert 20 < page.locator("#grid .tile").count() < 400  # Only what is near is there.
            titles = page.evaluate(
                """() => [...document.querySelectorAll("#grid .tile")].filter(t => {
                  const box = t.getBoundingClientRect();
                  return box.bottom > 0 && box.top < innerHeight;
                }).map(t => t.title.slice(0, 7))"""
            )
            middle = int(sorted(titles)[len(titles) // 2])
            assert abs(middle - share * 100_000) < 2_000
            if share == 1.0:
                assert "0099999" in titles
        points, blank = page.evaluate(_THROUGH_ALL)
        assert points > 40_000 and blank == 0
        page.locator("#grid[data-drawn=all]").wait_for()
        assert page.locator("#grid .tile").count() < 400
        shoot(page, "large")


def test_steps_appear_as_they_happen(life: Path, looking: Look) -> None:
    go_on = threading.Event()
    ids = [path.relative_to(life / "pictures").as_posix() for path in sorted((life / "pictures").rglob("*.jpg"))[:3]]

    def script(received: wire.Received) -> wire.Answer:
        used = [message for message in received.json["messages"] if message["role"] == "tool"]
        if not used:
            first = {"text": "yellow", "top_k": 12, "save_as": "yellow"}
            return calls(call("ImageSearch", first), text="I look for yellow.")
        if len(used) == 1:
            narrow = {"expression": "owner:ana", "filter_within": "yellow", "save_as": "yellow"}
            return calls(call("FilterMetadata", narrow), text="Only ana's.")
        go_on.wait(20)
        return calls(call("Finish", {"answer": "Three of them.", "evidence": ids, "reason": "I looked."}))

    with (
        wire.serving_in_thread(script) as model,
        serving(life, model="vllm/stub", embedder=Colours(), session=Session(base_url=model.base_url)) as app,
    ):
        page = looking(app).go("/ask")
        page.keyboard.type("which are yellow?")
        page.keyboard.press("Enter")
        page.get_by_text("I look for yellow.").wait_for()
        assert page.locator(".answer").count() == 0 and page.get_by_text("The agent is at work").count() == 1
        page.get_by_text("Only ana's.").wait_for()
        page.locator(".subset").get_by_text("12 → ").wait_for()
        go_on.set()
        page.locator(".answer").get_by_text("Three of them.").wait_for()
        assert page.locator(".answer .tile").count() == 3 and page.locator("#working").count() == 0
        shoot(page, "asked")


def test_a_saved_page_needs_nobody(served: Served, looking: Look, tmp_path: Path) -> None:
    look = looking(served)
    page = look.go("/runs")
    with page.expect_download() as download:
        page.get_by_text("Save page").click()
    kept = tmp_path / "page.html"
    download.value.save_as(kept)
    look.go("/search")
    with page.expect_download() as download:
        page.get_by_text("Save page").click()
    grid = tmp_path / "grid.html"
    download.value.save_as(grid)
    other = looking(served, java_script_enabled=False, offline=True)
    asked: list[str] = []
    other.page.on("request", lambda request: asked.append(request.url))
    other.page.goto(grid.as_uri())
    assert other.page.locator(".tile img").count() == 46  # Similar ones are folded.
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    other.page.goto(kept.as_uri())
    assert "sample-strong" in other.page.content() and other.page.locator("svg").count() == 2
