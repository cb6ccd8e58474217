"""Every example in the docstring of a public function runs, and prints what it says.

Examples speak of the folders that `small_folders` makes; each function gets them anew. They use no network and no key.
"""

from __future__ import annotations

import doctest
import inspect
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

import sightline
from sightline.errors import MissingExtraError
from small_folders import make_folders, make_history, make_workspace

FUNCTIONS = sorted(name for name in sightline.__all__ if inspect.isfunction(getattr(sightline, name)))


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made once, and copied for each function."""
    root = tmp_path_factory.mktemp("folders")
    make_folders(root)
    return root


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_examples_of_a_function_run(
    name: str, folders: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (found,) = doctest.DocTestFinder(recurse=False).find(getattr(sightline, name), name, globs={"sightline": sightline})
    assert found.examples
    if name == "train" and find_spec("torch") is None:
        pytest.skip("needs sightline[train]")
    for variable in ("SIGHTLINE_WORKSPACE", "OPENAI_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    shutil.copytree(folders, tmp_path, dirs_exist_ok=True)
    for workspace, make in {"ws": make_workspace, "history": make_history}.items():
        if any(f'"{workspace}"' in example.source for example in found.examples):
            make(tmp_path)
    monkeypatch.chdir(tmp_path)
    _run(found)


def _run(found: doctest.DocTest) -> None:
    try:
        doctest.DebugRunner(verbose=False, optionflags=doctest.ELLIPSIS).run(found, clear_globs=False)
    except doctest.UnexpectedException as error:
        if isinstance(error.exc_info[1], MissingExtraError):
            pytest.skip(str(error.exc_info[1]))
        raise AssertionError(f"{found.name}: {error.example.source}") from error.exc_info[1]
    except doctest.DocTestFailure as failure:
        wanted, got = failure.example.want, failure.got
        raise AssertionError(f"{found.name}: {failure.example.source}wanted:\n{wanted}got:\n{got}") from None


def test_an_example_that_is_wrong_is_found() -> None:
    parser = doctest.DocTestParser()
    with pytest.raises(AssertionError, match="wanted:\n3\ngot:\n2"):
        _run(parser.get_doctest(">>> 1 + 1\n3\n", {}, "sum", None, None))
    with pytest.raises(AssertionError, match="1 / 0"):
        _run(parser.get_doctest(">>> 1 / 0\n1\n", {}, "quotient", None, None))
