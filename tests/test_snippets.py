"""docs/check_snippets.py finds what is wrong with Python in documents."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def checker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_snippets", ROOT / "docs" / "check_snippets.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import sightline", None),
        ("from sightline import Run, UserError", None),
        ("from sightline.types import Attempt, Run", None),
        ("from sightline.config import load", None),
        ("from sightline.types import Run, Task", "write `from sightline import Run, Task`"),
        ("from sightline import Runn", "sightline has no Runn"),
        ("import sightline.nothing", "there is no module sightline.nothing"),
        ("def f(:", "does not parse"),
    ],
)
def test_a_fault_is_named(checker: ModuleType, code: str, said: str | None) -> None:
    found = list(checker.faults(checker.Snippet("page.md:1", code)))
    assert found == [] if said is None else said in found[0]


def test_lines_of_a_program_have_the_numbers_of_the_page(checker: ModuleType) -> None:
    programs = dict(checker.programs())
    page = (ROOT / "README.md").read_text("utf-8").splitlines()
    code = [(at, line) for at, line in enumerate(programs["README_md"].splitlines()) if line]
    assert code and all(page[at] == line for at, line in code)


def test_notebooks_are_read_and_other_libraries_are_not(checker: ModuleType) -> None:
    programs = dict(checker.programs())
    assert sum(name.startswith("notebook_") for name in programs) == 4
    assert "FunctionEmbedder" in programs["docs_compared_md"] and "ranx" not in programs["docs_compared_md"]
    places = {snippet.place for snippet in checker.snippets()}
    assert "examples/notebooks/01-search-your-pictures.ipynb: cell 2" in places
