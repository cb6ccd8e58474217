"""Every verb that the package promises is there, and is a function."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import sightline
from sightline.types import Corpus


@pytest.mark.parametrize("name", sorted(set(sightline.__all__) - {"__version__"}))
def test_a_verb_can_be_called(name: str) -> None:
    assert callable(getattr(sightline, name))


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
