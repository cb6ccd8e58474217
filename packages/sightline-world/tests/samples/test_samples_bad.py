from __future__ import annotations

import os
import struct
import unicodedata
import warnings
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageOps, UnidentifiedImageError

from sightline_world.samples import write_bad_files

SKIPPED = {"truncated", "empty", "not a picture", "bomb", "unreadable"}
WARNINGS = {
    "animated",
    "cmyk",
    "16-bit",
    "wrong extension",
    "broken exif",
    "implausible time",
    "palette transparency",
    "tiny",
    "huge side",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bad")


@pytest.fixture(scope="module")
def expected(folder: Path) -> Mapping[str, str]:
    return write_bad_files(folder)


def test_promises_use_the_agreed_words(expected: Mapping[str, str]) -> None:
    said = set(expected.values())
    assert said == {"ok"} | SKIPPED | {f"ok: {warning}" for warning in WARNINGS}


def test_every_promise_has_its_file(folder: Path, expected: Mapping[str, str]) -> None:
    assert set(expected) | {".hidden.jpg", "loop", "itself.jpg"} == set(os.listdir(folder))


def test_writing_twice_gives_the_same_files(tmp_path: Path) -> None:
    first = write_bad_files(tmp_path)
    before = {name: (tmp_path / name).read_bytes() for name in first}
    assert write_bad_files(tmp_path) == first
    assert {name: (tmp_path / name).read_bytes() for name in first} == before


def test_good_files_open_and_load(folder: Path, expected: Mapping[str, str]) -> None:
    for name, promise in expected.items():
        if promise.startswith("ok"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                with Image.open(folder / name) as image:
                    image.load()


@pytest.mark.parametrize("name", ["truncated.jpg", "truncated.png"])
def test_truncated_files_open_but_do_not_load(folder: Path, expected: Mapping[str, str], name: str) -> None:
    assert expected[name] == "truncated"
    with Image.open(folder / name) as image, pytest.raises(OSError, match="truncated"):
        image.load()


@pytest.mark.parametrize("name", ["empty.jpg", "letter.jpg", "page.png", "garbage.heic"])
def test_impostors_are_not_identified(folder: Path, expected: Mapping[str, str], name: str) -> None:
    assert expected[name] in SKIPPED
    with pytest.raises(UnidentifiedImageError), Image.open(folder / name):
        pass


def test_a_letter_that_starts_like_a_bitmap_is_none(folder: Path, expected: Mapping[str, str]) -> None:
    assert expected["bm-letter.bmp"] == "not a picture"
    assert (folder / "bm-letter.bmp").read_bytes().isascii()
    with pytest.raises(OSError), Image.open(folder / "bm-letter.bmp") as image:
        image.load()


def test_the_bomb_is_tiny_on_disk_and_huge_in_its_header(folder: Path, expected: Mapping[str, str]) -> None:
    data = (folder / "bomb.png").read_bytes()
    assert len(data) < 2000
    assert struct.unpack(">II", data[16:24]) == (60_000, 60_000)
    with pytest.raises(Image.DecompressionBombError), Image.open(folder / "bomb.png"):
        pass


def test_broken_exif_gives_nothing(folder: Path, expected: Mapping[str, str]) -> None:
    with pytest.warns(UserWarning, match="Corrupt EXIF"), Image.open(folder / "broken-exif.jpg") as image:
        assert not dict(image.getexif())


def test_the_impossible_date_is_none(folder: Path, expected: Mapping[str, str]) -> None:
    with Image.open(folder / "impossible-date.jpg") as image:
        stamp = image.getexif().get_ifd(0x8769)[0x9003]
    with pytest.raises(ValueError, match="does not match"):
        datetime.strptime(stamp, "%Y:%m:%d %H:%M:%S")


@pytest.mark.parametrize(
    ("name", "picture_format", "mode", "size", "frames"),
    [
        ("animated.gif", "GIF", "P", (160, 120), 3),
        ("animated.webp", "WEBP", "RGB", (160, 120), 3),
        ("cmyk.jpg", "JPEG", "CMYK", (320, 240), 1),
        ("grey-16-bit.png", "PNG", "I;16", (320, 240), 1),
        ("rgb-16-bit.png", "PNG", "RGB", (320, 240), 1),
        ("palette-transparency.png", "PNG", "P", (320, 240), 1),
        ("grey-alpha.png", "PNG", "LA", (320, 240), 1),
        ("rgba.png", "PNG", "RGBA", (320, 240), 1),
        ("one-pixel.png", "PNG", "RGB", (1, 1), 1),
        ("30000-wide.jpg", "JPEG", "RGB", (30_000, 20), 1),
        ("really-a-png.jpg", "PNG", "RGB", (320, 240), 1),
        ("no-extension", "JPEG", "RGB", (320, 240), 1),
    ],
)
def test_rare_forms(
    folder: Path,
    expected: Mapping[str, str],
    name: str,
    picture_format: str,
    mode: str,
    size: tuple[int, int],
    frames: int,
) -> None:
    assert expected[name].startswith("ok")
    with Image.open(folder / name) as image:
        assert (image.format, image.mode, image.size) == (picture_format, mode, size)
        assert getattr(image, "n_frames", 1) == frames
        assert ("transparency" in image.info) == (name == "palette-transparency.png")


@pytest.mark.parametrize("name", ["grey-16-bit.png", "rgb-16-bit.png"])
def test_sixteen_bits_are_in_the_header(folder: Path, expected: Mapping[str, str], name: str) -> None:
    assert (folder / name).read_bytes()[24] == 16


def test_the_eight_orientations_are_one_picture_upright(folder: Path, expected: Mapping[str, str]) -> None:
    upright = []
    for orientation in range(1, 9):
        with Image.open(folder / f"orientation-{orientation}.jpg") as image:
            assert image.getexif()[0x0112] == orientation
            upright.append(np.asarray(ImageOps.exif_transpose(image), dtype=float))
    for other in upright[1:]:
        assert other.shape == upright[0].shape
        assert np.abs(other - upright[0]).mean() < 4


def test_names_are_hard_in_the_ways_that_matter(expected: Mapping[str, str]) -> None:
    names = list(expected)
    for awkward in ("  ", "%", '"', "'", "\n", "🎈", "東京"):
        assert any(awkward in name for name in names), awkward
    assert any(not unicodedata.is_normalized("NFC", name) for name in names)
    assert any(name.encode("utf-8", "surrogateescape") == b"latin-\xe9t\xe9.jpg" for name in names)


def test_links_go_nowhere_new(folder: Path, expected: Mapping[str, str]) -> None:
    assert (folder / "loop").resolve() == folder.resolve()
    with pytest.raises(OSError, match="symbolic links"):
        (folder / "itself.jpg").read_bytes()
