"""Every verb that the package promises is there, and is a function."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import sightline
from sightline.errors import UserError
from sightline.types import Corpus


@pytest.mark.parametrize("name", sorted(set(sightline.__all__) - {"__version__"}))
def test_a_verb_can_be_called(name: str) -> None:
    assert callable(getattr(sightline, name))


STATEFUL = ("ask", "embed", "index", "make", "run", "scan", "search")


@pytest.mark.parametrize("name", STATEFUL)
def test_a_verb_has_its_own_parameters_and_takes_its_state_from_a_session(name: str, tmp_path: Path) -> None:
    verb, method = getattr(sightline, name), getattr(sightline.Session(tmp_path), name)
    parameters = inspect.signature(verb).parameters
    assert list(parameters)[-2:] == ["workspace", "session"]
    assert {"asking", "config", "local_only", "engine"}.isdisjoint(parameters)
    assert not any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters.values())
    assert list(inspect.signature(method).parameters) == list(parameters)  # An editor completes the method as well.


@pytest.mark.parametrize("name", ["embed", "index", "make", "scan"])
def test_what_is_no_path_is_refused_with_the_fix(name: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as refused:
        getattr(sightline, name)(5, workspace=tmp_path / "ws")
    assert "5" in refused.value.message and refused.value.fix
    with pytest.raises(UserError, match="Expected the path of a benchmark, got 5"):
        sightline.run(5, "oracle", workspace=tmp_path / "ws")  # type: ignore[arg-type]
    with pytest.raises(UserError, match="Expected the path of a folder of pictures, got 5"):
        sightline.search("red", 5, workspace=tmp_path / "ws")  # type: ignore[arg-type]


def test_importing_a_part_leaves_the_verbs_as_they_are() -> None:
    assert sightline.parse_choice("The answer is (B).", ["A", "B"]).option == "B"
    with pytest.raises(Exception, match="is not a benchmark"):
        sightline.score(Path("no-such-bench"), Path("no-such-run"))


def test_importing_it_brings_no_heavy_package() -> None:
    code = (
        "import sys, sightline; print([m for m in ('numpy', 'pydantic', 'PIL', 'torch', 'rich') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'serach'"):
        sightline.serach  # noqa: B018


def test_paths_of_ones_home_are_understood(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "pictures").mkdir()
    sightline.scan("~/pictures", workspace="~/workspace")
    corpus = sightline.load("~/workspace")
    assert isinstance(corpus, Corpus) and len(corpus.pictures) == 0
    with pytest.raises(Exception, match=str(tmp_path)):
        sightline.score("~/no-such-bench", "~/no-such-run")
