"""The documentation site: what its check and its strict build refuse."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

check_site = pytest.importorskip("check_site")
ROOT = Path(__file__).parents[1]


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A site of one page, with the settings of ours."""
    settings = (ROOT / "zensical.toml").read_text("utf-8")
    start, end = settings.index("nav = ["), settings.index("[project.theme]")
    (tmp_path / "zensical.toml").write_text(f'{settings[:start]}nav = ["index.md"]\n\n{settings[end:]}', "utf-8")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/index.md").write_text("# Start\n\n[here](#start)\n", "utf-8")
    (tmp_path / "README.md").write_text("![A flow](flow.svg)\n", "utf-8")
    return tmp_path


def test_our_pages_are_in_order() -> None:
    assert list(check_site.faults()) == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("![](a.png)", "docs/index.md: a picture has no alternative text: ![](a.png)"),
        ('<img src="a.png">', "docs/index.md: a picture has no alternative text"),
        ('<img src="a.png" alt="A cup">', None),
        ("`![](a.png)`\n\n```md\n![](a.png)\n```", None),
        ("[x](https://github.com/sightline/sightline/blob/main/none.md)", "none.md is not in the repository"),
        ("[x](https://github.com/sightline/sightline/blob/main/README.md#a)", None),
    ],
)
def test_a_fault_of_a_page_is_named(site: Path, text: str, fault: str | None) -> None:
    (site / "docs/index.md").write_text(text, "utf-8")
    found = list(check_site.faults(site))
    assert found == [] if fault is None else len(found) == 1 and fault in found[0]


def test_a_page_outside_the_navigation_is_named_and_so_is_an_entry_without_a_page(site: Path) -> None:
    (site / "docs/index.md").rename(site / "docs/other.md")
    first, second = check_site.faults(site)
    assert "docs/other.md: not in the navigation" in first and "names index.md" in second


@pytest.mark.parametrize(("text", "good"), [("", True), ("[x](none.md)", False), ("[x](#none)", False)])
def test_a_dead_link_ends_the_build(site: Path, text: str, good: bool) -> None:
    pytest.importorskip("zensical")
    with (site / "docs/index.md").open("a", encoding="utf-8") as page:
        page.write(text)
    code = "from zensical.main import cli; cli()"
    build = [sys.executable, "-c", code, "build", "--strict"]
    assert (subprocess.run(build, cwd=site, capture_output=True, check=False).returncode == 0) is good
