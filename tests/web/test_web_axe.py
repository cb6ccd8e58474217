"""axe-core finds nothing wrong on any page, in a menu, a dialog, or the picture over the grid."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sightline.web.jobs import Jobs
from web_samples import PAGES, Served, serving

_VERSION = "4.14.0"
_RUN = """async () => (await axe.run(document, {resultTypes: ["violations"]})).violations.map(
    one => [one.id, one.help, ...one.nodes.slice(0, 3).map(node => node.target.join(" "))].join("; "))"""


@pytest.fixture(scope="session")
def axe() -> str:
    """axe-core as npm hands it out, kept for the next time."""
    folder = Path(tempfile.gettempdir()) / f"axe-core-{_VERSION}"
    found = folder / "package" / "axe.min.js"
    if not found.is_file():
        npm = shutil.which("npm")
        if npm is None:
            pytest.skip("npm is not installed, and axe-core comes from it")
        folder.mkdir(exist_ok=True)
        pack = [npm, "pack", f"axe-core@{_VERSION}", "--pack-destination", str(folder)]
        if subprocess.run(pack, check=False, capture_output=True, timeout=120).returncode:
            pytest.skip("npm can't fetch axe-core here")
        with tarfile.open(next(folder.glob("*.tgz"))) as packed:
            packed.extractall(folder, filter="data")
    return found.read_text("utf-8")


@pytest.mark.parametrize(
    ("scheme", "width"),
    [
        pytest.param("light", 1280, id="light"),
        pytest.param("dark", 1280, id="dark", marks=pytest.mark.slow),
        pytest.param("light", 390, id="phone", marks=pytest.mark.slow),
    ],
)
def test_axe_finds_nothing(served: Served, looking: Callable[..., Any], axe: str, scheme: str, width: int) -> None:
    look = looking(
        served, "ana", color_scheme=scheme, viewport={"width": width, "height": 800}, reduced_motion="reduce"
    )
    wrong: dict[str, list[str]] = {}

    def check(name: str) -> None:
        look.page.evaluate(axe)
        if found := look.page.evaluate(_RUN):
            wrong[name] = found

    for name, path in {**PAGES, "jobs": "/jobs", "judge": "/judge/benchmark"}.items():
        look.go(path)
        check(name)
    page = look.go("/search?text=red")
    page.locator("details.menu summary").first.click()
    check("menu")
    page.locator("#grid .tile").first.focus()
    page.keyboard.press("x")
    page.get_by_text("Album …").click()
    check("album")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.locator("#chosen").wait_for(state="hidden")
    page.locator("#grid .tile").first.click()
    page.locator("#box aside dl").first.wait_for()
    check("box")
    assert wrong == {}


def test_axe_finds_nothing_among_jobs_of_one_kind(tmp_path: Path, looking: Callable[..., Any], axe: str) -> None:
    jobs = Jobs(tmp_path / "ws")
    for _ in range(2):
        jobs.start(["scan", str(tmp_path / "nowhere")])
    with serving(tmp_path / "ws", tmp_path / "ws") as app:
        page = looking(app).go("/jobs")
        page.locator(".job.failed").nth(1).wait_for()
        page.evaluate(axe)
        assert page.evaluate(_RUN) == []
