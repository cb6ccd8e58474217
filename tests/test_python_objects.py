"""docs/python-objects.md and the docstrings of what takes tables and functions: their code runs."""

from __future__ import annotations

import doctest
import re
from pathlib import Path
from typing import Any

import pytest

import sightline
from make_tools import COLOURS, draw

PAGE = Path(__file__).parents[1] / "docs" / "python-objects.md"
_BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)


def test_the_page_runs_from_its_first_block_to_its_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    for name, drawn in zip("ab", sorted(draw(tmp_path / "photos", *list(COLOURS)[:2]).iterdir()), strict=False):
        drawn.rename(tmp_path / "photos" / f"{name}.jpg")
    made: list[Any] = []
    monkeypatch.setattr(sightline, "make", lambda *_, judges: made.extend(judges), raising=False)
    names: dict[str, Any] = {}
    for code in _BLOCK.findall(PAGE.read_text("utf-8")):
        exec(code, names)
    assert names["done"].failures == {} and names["scores"].overall["rr@10"].mean == 0.75
    picture = sightline.Picture("a bicycle.jpg", "a bicycle.jpg")
    assert made[0]("a red bicycle.jpg", picture) == 1 and made[1] == "openai/gpt-5-mini"


@pytest.mark.parametrize(
    "documented",
    [
        sightline.Benchmark.from_tables,
        sightline.Run.from_rankings,
        sightline.FunctionEmbedder,
        sightline.FunctionSystem,
    ],
)
def test_examples_in_docstrings(documented: Any) -> None:
    names = {name: getattr(sightline, name) for name in ("Benchmark", "Run", "FunctionEmbedder", "FunctionSystem")}
    found = doctest.DocTestFinder(recurse=False).find(documented, documented.__qualname__, globs=names)
    assert found and found[0].examples
    assert doctest.DocTestRunner().run(found[0]).failed == 0
