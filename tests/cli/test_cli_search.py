"""`sightline search` from end to end on real photographs."""

from __future__ import annotations

import json
import shutil
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

from sightline.models.photos.packages import CLASSIFIER, ENCODER


@pytest.fixture(scope="module")
def photographs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    skimage = pytest.importorskip("skimage")
    for name in ("onnxruntime", "tokenizers", CLASSIFIER.package, ENCODER.package):
        try:
            distribution(name)
        except PackageNotFoundError:
            pytest.skip(f"{name} is not installed")
    folder = tmp_path_factory.mktemp("photographs")
    for name in ("chelsea.png", "coffee.png", "rocket.jpg", "motorcycle_left.png"):
        shutil.copy(Path(skimage.__file__).parent / "data" / name, folder)
    return folder


def test_words_find_photographs(cli, photographs: Path) -> None:
    first = cli("search", "a cat looking at the camera", "--in", photographs, "--workspace", "ws", "-k", "2")
    assert first.returncode == 0, first.stderr
    best, second = first.stdout.splitlines()
    assert best.split()[1] == "chelsea.png" and float(best.split()[0]) > float(second.split()[0])
    again = cli("search", "a cup of coffee", "--in", photographs, "--workspace", "ws", "--json")
    found = json.loads(again.stdout)
    assert found["hits"][0]["id"] == "coffee.png" and (found["searched"], found["embedded"]) == (4, 0)
    assert found["embedder"] == "photos" and again.stderr == ""


def test_mistakes_end_with_their_fix(cli, tmp_path: Path) -> None:
    empty = cli("search", " ", "--in", tmp_path / "none", "--workspace", "ws")
    assert (empty.returncode, empty.stdout) == (2, "") and "the query is empty" in empty.stderr
    nowhere = cli("search", "a cat", "--workspace", "ws")
    assert nowhere.returncode == 2 and "--in DIR" in nowhere.stderr


def test_without_the_extra(cli, tmp_path: Path) -> None:
    (tmp_path / "without").mkdir()
    (tmp_path / "pictures").mkdir()
    (tmp_path / "without" / "sitecustomize.py").write_text('import sys\nsys.modules["onnxruntime"] = None\n')
    done = cli("search", "a cat", "--in", tmp_path / "pictures", PYTHONPATH=str(tmp_path / "without"))
    assert done.returncode == 2 and "pip install 'sightline[photos]'" in done.stderr
