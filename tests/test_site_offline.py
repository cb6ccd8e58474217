"""The documentation site in a browser without a network, opened from a folder."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CHROMIUM = Path("/usr/bin/chromium")


@pytest.mark.slow
def test_the_search_finds_pages_and_nothing_is_fetched(tmp_path: Path) -> None:
    pytest.importorskip("zensical")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not CHROMIUM.exists():
        pytest.skip("there is no /usr/bin/chromium")
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    (tmp_path / "zensical.toml").write_text((ROOT / "zensical.toml").read_text("utf-8"), "utf-8")
    code = "from zensical.main import cli; cli()"
    subprocess.run([sys.executable, "-c", code, "build"], cwd=tmp_path, capture_output=True, check=True)
    asked: list[str] = []
    with playwright.sync_playwright() as driver:
        page = driver.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"]).new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.goto((tmp_path / "build/site/index.html").as_uri())
        page.get_by_role("button", name="Search").first.click()
        page.get_by_role("combobox").fill("vector store")
        page.get_by_role("combobox").press("End")
        page.get_by_text("Write your own vector store").first.wait_for()
    assert [url for url in asked if not url.startswith(("file:", "data:", "about:"))] == []
