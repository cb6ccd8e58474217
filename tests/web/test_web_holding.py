"""Keys of the review in a real Chromium: held, or pressed too soon, they decide nothing that nobody saw."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from search_tools import Colours
from web_samples import Served, serving

Look = Callable[..., Any]


@pytest.fixture
def app(copied: Path) -> Iterator[Served]:
    with serving(copied, embedder=Colours()) as found:
        yield found


def decisions(app: Served) -> list[str]:
    path = app.root / "benchmark" / "reviews.jsonl"
    return [orjson.loads(line)["decision"] for line in path.read_bytes().splitlines()] if path.exists() else []


def test_a_key_that_is_held_decides_once(app: Served, looking: Look) -> None:
    page = looking(app, "ana").go("/review/benchmark")
    with page.expect_navigation():
        page.keyboard.down("y")
    for _ in range(8):  # The browser says of these that they are repeats, on the next page too.
        page.keyboard.down("y")
        page.wait_for_timeout(30)
    page.keyboard.up("y")
    page.wait_for_load_state("networkidle")
    assert decisions(app) == ["relevant"]
    with page.expect_navigation():
        page.keyboard.press("y")
    assert decisions(app) == ["relevant", "relevant"]


def test_what_is_pressed_while_a_decision_is_saved_does_nothing(
    app: Served, looking: Look, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = looking(app, "ana").go("/review/benchmark")
    with page.expect_navigation():
        page.keyboard.press("y")
    may, slow = threading.Event(), app.desk.reviews.decide

    def decide(*given: Any) -> Any:
        assert may.wait(60)
        return slow(*given)

    monkeypatch.setattr(app.desk.reviews, "decide", decide)
    page.keyboard.press("n")
    for key in ("u", "y", "s", "n"):
        page.keyboard.press(key)
    with page.expect_navigation():
        may.set()
    page.wait_for_load_state("networkidle")
    assert decisions(app) == ["relevant", "not relevant"] and "skip=" not in page.url
