"""Hostile and odd files: each is taken in with a named note, or refused with a named reason; none raises."""

from __future__ import annotations

import io
import os
import struct
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from pictures import random_picture
from sightline.corpus.file_reader import PictureReading, ReadJob, RefusedFile, read_file
from sightline.corpus.pixels import identify

LIMIT = 180_000_000


def encode(image: Image.Image, format_: str, **options: Any) -> bytes:
    file = io.BytesIO()
    image.save(file, format_, **options)
    return file.getvalue()


def read(tmp_path: Path, data: bytes, name: str = "a.jpg") -> PictureReading | RefusedFile:
    path = tmp_path / name
    path.write_bytes(data)
    result = read_file(ReadJob(1, os.fsencode(path), (), LIMIT))
    assert isinstance(result, PictureReading | RefusedFile)
    return result


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png_header(width: int, height: int, depth: int = 8, colour: int = 2) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0))


JPEG = encode(random_picture(1), "JPEG")
PNG = encode(random_picture(1), "PNG")
ANIMATION = {"save_all": True, "append_images": [random_picture(2)]}


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.jpg", b"", "empty"),
        ("a.jpg", JPEG[: len(JPEG) // 2], "truncated"),
        ("a.jpg", JPEG[:20], "truncated"),
        ("a.png", PNG[: len(PNG) // 2], "truncated"),
        ("a.png", PNG[:30], "truncated"),
        ("a.gif", encode(random_picture(1), "GIF")[:200], "truncated"),
        ("a.webp", encode(random_picture(1), "WEBP")[:200], "truncated"),
        ("a.bmp", encode(random_picture(1), "BMP")[:2000], "truncated"),
        ("a.jpg", b"just some words", "not a picture"),
        ("a.bmp", b"BM is how this text begins", "not a picture"),
        ("a.png", b"<html><body>404</body></html>", "not a picture"),
        ("a.mp4", b"\0\0\0\x18ftypisom\0\0\0\0isommp42", "not a picture"),
        ("a.png", png_header(60_000, 60_000) + chunk(b"IDAT", zlib.compress(b"\0" * 99)) + chunk(b"IEND", b""), "bomb"),
        ("a.jpg", b"\xff\xd8\xff\xe0" + b"\x00\x10" + b"x" * 100 + b"\xff\xd9", "unreadable"),
        ("a.heic", b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + b"garbage" * 30, "unreadable"),
    ],
)
def test_refused(tmp_path: Path, name: str, data: bytes, reason: str) -> None:
    result = read(tmp_path, data, name)
    assert isinstance(result, RefusedFile), result
    assert result.reason == reason, result
    assert result.detail


@pytest.mark.parametrize(
    ("name", "data", "note"),
    [
        ("a.jpg", JPEG, None),
        ("a.png", PNG, None),
        ("a.jpg", PNG, "wrong extension"),
        ("a.gif", encode(random_picture(1), "GIF", **ANIMATION), "animated"),
        ("a.webp", encode(random_picture(1), "WEBP", **ANIMATION), "animated"),
        ("a.tif", encode(random_picture(1), "TIFF", **ANIMATION), "several pages"),
        ("a.jpg", encode(random_picture(1).convert("CMYK"), "JPEG"), "cmyk"),
        ("a.png", encode(Image.new("I;16", (40, 30), 40_000), "PNG"), "16-bit"),
        ("a.tif", encode(Image.new("F", (40, 30), 0.5), "TIFF"), "16-bit"),
        ("a.png", encode(random_picture(1).quantize(16), "PNG", transparency=3), "palette transparency"),
        ("a.png", encode(random_picture(1).convert("RGBA"), "PNG"), None),
        ("a.png", encode(random_picture(1).convert("LA"), "PNG"), None),
        ("a.png", encode(random_picture(1).convert("1"), "PNG"), None),
        ("a.png", encode(Image.new("RGB", (1, 1), "red"), "PNG"), "tiny"),
        ("a.png", encode(Image.new("RGB", (30_000, 20), "red"), "PNG"), "huge side"),
        ("a.bmp", encode(random_picture(1), "BMP"), None),
        ("a.tiff", encode(random_picture(1), "TIFF"), None),
        ("a.avif", encode(random_picture(1), "AVIF"), None),
        ("A.JPG", JPEG, None),
        ("noextension", JPEG, None),
    ],
)
def test_taken_in(tmp_path: Path, name: str, data: bytes, note: str | None) -> None:
    result = read(tmp_path, data, name)
    assert isinstance(result, PictureReading), result
    assert result.warnings == (() if note is None else (note,))


def test_16_bit_rgb_png(tmp_path: Path) -> None:
    row = b"\0" + struct.pack(">HHH", 60_000, 30_000, 0) * 20
    data = png_header(20, 10, depth=16) + chunk(b"IDAT", zlib.compress(row * 10)) + chunk(b"IEND", b"")
    result = read(tmp_path, data, "a.png")
    assert isinstance(result, PictureReading) and "16-bit" in result.warnings


def test_heic(tmp_path: Path) -> None:
    heif = pytest.importorskip("pillow_heif", reason="the extra heif is not installed")
    file = io.BytesIO()
    heif.from_pillow(random_picture(1)).save(file, quality=80)
    result = read(tmp_path, file.getvalue(), "a.heic")
    assert isinstance(result, PictureReading) and (result.mime, result.width) == ("image/heic", 160)


def test_heic_without_the_extra_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sightline.corpus.pixels.has_heif", lambda: False)
    result = read(tmp_path, b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + b"x" * 99, "a.heic")
    assert isinstance(result, RefusedFile) and "pip install 'sightline[heif]'" in result.detail


def test_a_file_that_vanished_is_unreadable(tmp_path: Path) -> None:
    result = read_file(ReadJob(1, os.fsencode(tmp_path / "gone.jpg"), (), LIMIT))
    assert isinstance(result, RefusedFile) and result.reason == "unreadable"


def test_same_picture_in_every_format_has_a_near_hash(tmp_path: Path) -> None:
    hashes = []
    for format_ in ("JPEG", "PNG", "WEBP", "BMP", "TIFF", "AVIF"):
        result = read(tmp_path, encode(random_picture(5), format_), f"a.{format_.lower()}")
        assert isinstance(result, PictureReading)
        hashes.append(result.phash)
    assert max((a ^ b).bit_count() for a in hashes for b in hashes) <= 4


WHOLE = {"JPEG": JPEG, "PNG": PNG} | {name: encode(random_picture(3, (40, 30)), name) for name in ("GIF", "TIFF")}


@settings(deadline=None, max_examples=300)
@given(
    st.sampled_from(sorted(WHOLE)), st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), min_size=1, max_size=20)
)
def test_no_bytes_make_it_raise(
    tmp_path_factory: pytest.TempPathFactory, name: str, changes: list[tuple[float, int]]
) -> None:
    broken = bytearray(WHOLE[name])
    for place, value in changes:
        broken[int(place * (len(broken) - 1))] = value
    read(tmp_path_factory.getbasetemp(), bytes(broken), "fuzzed.jpg")


@given(st.binary(max_size=64))
def test_identify_takes_any_bytes(head: bytes) -> None:
    assert identify(head) in {None, "JPEG", "PNG", "WEBP", "GIF", "TIFF", "BMP", "HEIF", "AVIF", "RAW"}
