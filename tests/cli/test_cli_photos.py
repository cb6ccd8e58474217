"""What goes wrong when people search their own photographs, as they see it."""

from __future__ import annotations

import shutil
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

from command_line import Cli
from sightline.models.photos.weights import CLASSIFIER, ENCODER

HEIC = b"\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic" + b"\x00" * 64


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("onnxruntime", "tokenizers", CLASSIFIER.package.name, ENCODER.package.name):
        try:
            distribution(name)
        except PackageNotFoundError:
            pytest.skip(f"{name} is not installed")
    (tmp_path / "pictures").mkdir()
    return tmp_path / "pictures"


@pytest.fixture
def photograph(folder: Path) -> Path:
    skimage = pytest.importorskip("skimage")
    return Path(shutil.copy(Path(skimage.__file__).parent / "data" / "chelsea.png", folder))


def without(tmp_path: Path, module: str) -> str:
    """A path for Python on which a module is not there, for all processes."""
    place = tmp_path / "without"
    place.mkdir()
    (place / "sitecustomize.py").write_text(f'import sys\nsys.modules["{module}"] = None\n')
    return str(place)


def test_a_folder_without_pictures(cli: Cli, folder: Path) -> None:
    (folder / "notes.txt").write_text("no picture")
    done = cli("search", "a cat", "--in", folder, "--workspace", "ws")
    assert done.returncode == 0 and "no picture to search" in done.stdout and done.stderr == ""


def test_a_filter_that_leaves_no_picture_is_named(cli: Cli, folder: Path, photograph: Path) -> None:
    done = cli("search", "a cat", "--in", folder, "--workspace", "ws", "--where", "time < 1900")
    assert done.returncode == 0 and "no picture to search: none fits --where" in done.stdout


def test_empty_and_cut_files_are_counted_each_time(cli: Cli, folder: Path, photograph: Path) -> None:
    (folder / "empty.jpg").write_bytes(b"")
    (folder / "cut.png").write_bytes(photograph.read_bytes()[:20_000])
    for _ in range(2):
        done = cli("search", "a cat", "--in", folder, "--workspace", "ws")
        assert "chelsea.png" in done.stdout and "are not searched: " in done.stderr
        assert "1 empty" in done.stderr and "1 truncated" in done.stderr


def test_heic_without_its_extra(cli: Cli, folder: Path, tmp_path: Path) -> None:
    (folder / "a.heic").write_bytes(HEIC)
    done = cli("search", "a cat", "--in", folder, "--workspace", "ws", PYTHONPATH=without(tmp_path, "pillow_heif"))
    assert done.returncode == 0 and "pip install 'sightline[heif]'" in done.stderr


def test_another_language_gets_a_note(cli: Cli, folder: Path, photograph: Path) -> None:
    done = cli("search", "eine Katze", "--in", folder, "--workspace", "ws")
    assert done.returncode == 0 and done.stderr.count("looks like another language") == 1


def test_a_text_that_is_too_long_is_cut_and_said_so(cli: Cli, folder: Path, photograph: Path) -> None:
    fits = cli("search", "cat " * 200, "--in", folder, "--workspace", "ws")
    assert fits.returncode == 0 and "longer than the embedder reads" not in fits.stderr
    long = cli("search", "cat " * 300, "--in", folder, "--workspace", "ws")
    assert long.returncode == 0 and "longer than the embedder reads" in long.stderr


def test_weights_that_may_not_be_fetched(cli: Cli, folder: Path, tmp_path: Path) -> None:
    """As on a machine where only the extra was installed."""
    hide = Path(without(tmp_path, "unused"))
    (hide / "sitecustomize.py").write_text(
        "from importlib import metadata\nreal = metadata.Distribution.from_name.__func__\n"
        "def found(cls, name):\n"
        f"    if name == {ENCODER.package.name!r}:\n        raise metadata.PackageNotFoundError(name)\n"
        "    return real(cls, name)\nmetadata.Distribution.from_name = classmethod(found)\n"
    )
    environment = {"PYTHONPATH": str(hide), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = cli("search", "a cat", "--in", folder, "--workspace", "ws", "--local-only", **environment)
    assert done.returncode == 2 and f"  {ENCODER.package.command}" in done.stderr and "Traceback" not in done.stderr
    assert ENCODER.package.command in cli("doctor", **environment).stdout
