"""The pictures of reports in docs/pictures: made with Chromium, from the folders of a tutorial and of the demo.

`python docs/make_pictures.py` runs the commands of docs/compare-two-systems.md, which takes a minute, and draws its
report.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from run_pages import ROOT, rewritten

SIZE = {"width": 1280, "height": 860}


def draw(page: Path, target: Path) -> None:
    """The first screen of a page, in light colors."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        screen = browser.new_page(viewport=SIZE, color_scheme="light")  # type: ignore[arg-type]
        screen.goto(page.as_uri())
        screen.screenshot(path=str(target))
        browser.close()


def main() -> int:
    with TemporaryDirectory() as folder:
        rewritten(ROOT / "docs/compare-two-systems.md", Path(folder).resolve())
        draw(Path(folder) / "report.html", ROOT / "docs/pictures/compare-two-systems.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
