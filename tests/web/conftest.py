"""A small life for the app, made once; tests that decide something copy it. And a real browser."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from search_tools import Colours
from web_samples import Served, make_large, make_life, serving

CHROMIUM = Path("/usr/bin/chromium")


@pytest.fixture(scope="session")
def life(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace, a benchmark, runs and traces; not to be written to."""
    return make_life(tmp_path_factory.mktemp("life") / "demo")


@pytest.fixture
def copied(life: Path, tmp_path: Path) -> Path:
    """The same, to be changed."""
    return Path(shutil.copytree(life, tmp_path / "demo"))


@pytest.fixture(scope="session")
def served(life: Path) -> Iterator[Served]:
    """The app over the small life."""
    with serving(life, embedder=Colours()) as app:
        yield app


@pytest.fixture(scope="session")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace of 100,000 pictures."""
    return make_large(tmp_path_factory.mktemp("large"), 100_000)


@pytest.fixture(scope="module", autouse=True)
def no_loop_is_left() -> Iterator[None]:
    """The tests that come after those of a module can run loops of their own."""
    yield
    with pytest.raises(RuntimeError, match="no running event loop"):
        asyncio.get_running_loop()


@pytest.fixture(scope="module")
def browser(no_loop_is_left: None) -> Iterator[Any]:
    """Debian's Chromium; only for a module, as playwright has its loop run in this thread until it is stopped."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not CHROMIUM.exists():
        pytest.skip("there is no /usr/bin/chromium")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield opened
        opened.close()


class Watched:
    """A page of the browser that remembers what went wrong on it."""

    def __init__(self, page: Any, base: str) -> None:
        self.page, self.base = page, base
        self.wrong: list[str] = []
        page.on(
            "console", lambda message: self.wrong.append(message.text) if message.type in ("error", "warning") else 0
        )
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on(
            "response", lambda reply: self.wrong.append(f"{reply.status} {reply.url}") if reply.status >= 500 else 0
        )

    def go(self, path: str) -> Any:
        self.page.goto(self.base + path)
        if self.page.locator('#grid[data-count]:not([data-count="0"])').count():
            self.page.locator("#grid[data-drawn=all]").wait_for()
        return self.page


@pytest.fixture
def looking(browser: Any) -> Iterator[Any]:
    """Opens a page on an app, as somebody or nobody; at the end nothing may have gone wrong on any."""
    contexts, pages = [], []

    def look(app: Served, person: str | None = None, **settings: Any) -> Watched:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **settings})
        if person:
            context.add_cookies([{"name": "sightline-person", "value": person, "url": app.address}])
        contexts.append(context)
        pages.append(Watched(context.new_page(), app.address))
        return pages[-1]

    yield look
    for context in contexts:
        context.close()
    assert [wrong for page in pages for wrong in page.wrong] == []
