"""What `pip install .` installs: the product, and nothing of the synthetic world."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[1]
WORLD = ROOT / "packages" / "sightline-world" / "src"
# Words of the world's own that its vocabulary and drawings are made of.
_ITS_WORDS = re.compile(rb"\b(HAIR|HEADGEAR|SCENE_KINDS|SCENE_COLOURS|SCENE_PLACES|PLACE_PHRASES|KIND_NOUNS)\b")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of the wheel, by name."""
    pytest.importorskip("hatchling", reason="hatchling is not installed")
    folder = tmp_path_factory.mktemp("wheel")
    words = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", str(folder), str(ROOT)]
    subprocess.run([sys.executable, "-m", "pip", "wheel", *words], check=True, timeout=300)
    (file,) = folder.glob("*.whl")
    with ZipFile(file) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


@pytest.mark.slow
def test_the_wheel_holds_the_product_whole(wheel: dict[str, bytes]) -> None:
    source = ROOT / "src"
    files = [path for path in (source / "sightline").rglob("*") if path.is_file() and path.suffix != ".pyc"]
    assert {path.relative_to(source).as_posix() for path in files} <= wheel.keys()
    assert all(re.match(r"sightline/|sightline-[\d.]+\.dist-info/", name) for name in wheel)


@pytest.mark.slow
def test_the_wheel_holds_no_code_no_weights_and_no_words_of_the_world(wheel: dict[str, bytes]) -> None:
    theirs = {
        hashlib.sha256(path.read_bytes()).digest(): path.name
        for path in WORLD.rglob("*")
        if path.is_file() and path.stat().st_size
    }
    ours = {hashlib.sha256(data).digest() for data in wheel.values()}
    assert [name for digest, name in theirs.items() if digest in ours] == []
    assert [name for name in wheel if name.endswith(".onnx")] == []
    assert [name for name, data in wheel.items() if name.endswith(".py") and _ITS_WORDS.search(data)] == []
    imports = re.compile(rb"^\s*(from|import) sightline_world\b", re.MULTILINE)
    assert [name for name, data in wheel.items() if name.endswith(".py") and imports.search(data)] == []


@pytest.mark.slow
def test_no_plug_in_of_the_world_is_declared_by_the_product(wheel: dict[str, bytes]) -> None:
    (declared,) = (data.decode() for name, data in wheel.items() if name.endswith("entry_points.txt"))
    assert "sightline_world" not in declared and "sightline = sightline.cli:main" in declared
