"""JPEG headers read without a decoder, against Pillow's reading of the same files."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from sightline.corpus.jpeg_header import JpegHeader, read_jpeg_header


def encoded(
    size: tuple[int, int] = (30, 20), mode: str = "RGB", orientation: int | None = None, **options: object
) -> bytes:
    file = io.BytesIO()
    exif = Image.Exif()
    if orientation is not None:
        exif[0x010F] = "a camera"
        exif[0x0112] = orientation
    Image.new(mode, size).save(file, "JPEG", exif=exif, **options)
    return file.getvalue()


@pytest.mark.parametrize("orientation", [None, *range(1, 9)])
@pytest.mark.parametrize("progressive", [False, True])
def test_size_and_orientation_are_those_that_pillow_reads(orientation: int | None, progressive: bool) -> None:
    data = encoded((33, 21), orientation=orientation, progressive=progressive, icc_profile=b"profile" * 20_000)
    with Image.open(io.BytesIO(data)) as image:
        expected = JpegHeader(image.height, image.width, image.getexif().get(0x0112, 1))
    assert read_jpeg_header(data) == read_jpeg_header(bytearray(data)) == expected


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xd8\xff",
        b"\x89PNG\r\n\x1a\n",
        encoded(mode="CMYK"),
        encoded(mode="L"),
        encoded(keep_rgb=True),
        encoded()[:-2],
        encoded()[:150],
        encoded().replace(b"\xff\xda", b"\xff\xff"),
    ],
    ids=["empty", "start", "png", "cmyk", "gray", "rgb", "without an end", "truncated", "without a scan"],
)
def test_what_is_no_plain_photograph_is_left_to_pillow(data: bytes) -> None:
    assert read_jpeg_header(data) is None


def test_an_orientation_that_is_none_means_as_stored() -> None:
    data = encoded(orientation=6)
    assert read_jpeg_header(data.replace(b"\x00\x06\x00\x00", b"\x00\x63\x00\x00")) == JpegHeader(20, 30, 1)


def test_a_scan_that_begins_behind_the_end_is_none() -> None:
    data = bytearray(encoded())
    data[data.index(b"\xff\xda") + 2] = 0xFF  # Its header says that it is longer than the file.
    assert read_jpeg_header(data) is None


@given(st.data())
def test_damaged_files_never_raise(data: st.DataObject) -> None:
    whole = bytearray(encoded(orientation=3))
    for _ in range(data.draw(st.integers(1, 8))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    found = read_jpeg_header(whole[: data.draw(st.integers(0, len(whole)))] + b"\xff\xd9")
    assert found is None or min(found.height, found.width, found.orientation) >= 1
