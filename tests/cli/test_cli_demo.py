"""`sightline demo` from end to end."""

from __future__ import annotations

import json
import shutil
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

from command_line import Cli
from sightline.models.photos.weights import CLASSIFIER, ENCODER


@pytest.fixture
def photographs(tmp_path: Path) -> Path:
    skimage = pytest.importorskip("skimage")
    for name in ("onnxruntime", "tokenizers", CLASSIFIER.package.name, ENCODER.package.name):
        try:
            distribution(name)
        except PackageNotFoundError:
            pytest.skip(f"{name} is not installed")
    folder = tmp_path / "my pictures"
    folder.mkdir()
    for name in ("chelsea.png", "coffee.png"):
        shutil.copy(Path(skimage.__file__).parent / "data" / name, folder)
    return folder


def test_own_pictures(cli: Cli, photographs: Path, tmp_path: Path) -> None:
    (tmp_path / "without").mkdir()
    (tmp_path / "without" / "sitecustomize.py").write_text('import sys\nsys.modules["rapidocr"] = None\n')
    path = str(tmp_path / "without")
    done = cli("demo", "--pictures", photographs, PYTHONPATH=path)
    assert done.returncode == 0, done.stderr
    assert "2 pictures" in done.stdout and 'search "cat"' in done.stdout and "coffee.png: espresso 0." in done.stdout
    assert "pip install 'sightline[ocr]'" in done.stdout
    assert f"--in '{photographs}'" in done.stdout and "report: demo/pictures.html" in done.stdout
    again = json.loads(cli("demo", "--pictures", photographs, "--json", "--limit", "1", PYTHONPATH=path).stdout)
    assert again["report"] == "demo/pictures.html" and again["scan"]["pictures"] == 2
    assert {one["query"] for one in again["searches"]} >= {"cat", "espresso"}


def test_without_the_extra(cli: Cli, tmp_path: Path) -> None:
    for name in ("without", "pictures"):
        (tmp_path / name).mkdir()
    (tmp_path / "without" / "sitecustomize.py").write_text('import sys\nsys.modules["onnxruntime"] = None\n')
    done = cli("demo", "--pictures", tmp_path / "pictures", PYTHONPATH=str(tmp_path / "without"))
    assert done.returncode == 2 and "pip install 'sightline[photos]'" in done.stderr and done.stdout == ""


def test_no_such_folder(cli: Cli, tmp_path: Path) -> None:
    done = cli("demo", "--pictures", tmp_path / "nowhere")
    assert done.returncode == 2 and "--pictures" in done.stderr and not (tmp_path / "demo").exists()
