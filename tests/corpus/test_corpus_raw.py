"""Camera RAW: told by content, seen through its preview or decoded, with its EXIF; skipped as RAW without the extra."""

from __future__ import annotations

import io
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from pictures import random_picture
from sightline.corpus.file_reader import PictureReading, ReadJob, RefusedFile, current_readers, read_file
from sightline.corpus.film import FilmLimits
from sightline.corpus.pixels import identify, load_rgb, open_picture
from sightline.corpus.raw import is_raw

BYTE, ASCII, SHORT, LONG, RATIONAL, SRATIONAL = 1, 2, 3, 4, 5, 10
_FORMS = {BYTE: "B", SHORT: "H", LONG: "I", RATIONAL: "II", SRATIONAL: "ii"}
Tag = tuple[int, Any]


def directory(tags: dict[int, Tag], at: int) -> bytes:
    """A TIFF directory that lies at `at`, with its larger values behind it."""
    head, tail = struct.pack("<H", len(tags)), b""
    end = at + 2 + 12 * len(tags) + 4
    for tag, (kind, values) in sorted(tags.items()):
        values = values if isinstance(values, (list, bytes)) else [values]
        data = (
            values
            if isinstance(values, bytes)
            else b"".join(
                struct.pack(f"<{_FORMS[kind]}", *(value if isinstance(value, tuple) else (value,))) for value in values
            )
        )
        if len(data) <= 4:
            field = data.ljust(4, b"\0")
        else:
            field = struct.pack("<I", end + len(tail))
            tail += data + b"\0" * (len(data) % 2)
        head += struct.pack("<HHI", tag, kind, len(values)) + field
    return head + b"\0\0\0\0" + tail


def dng(*, preview: int | None = None, size: int = 64) -> bytes:
    """A DNG as cameras write it: a mosaic of red, green and blue; before it a JPEG preview, if one is asked for."""
    mosaic = np.full((size, size), 2000, np.uint16)
    mosaic[::2, ::2] = 30000  # Red sites.
    pixels = mosaic.tobytes()
    taken = {36867: (ASCII, b"2021:07:03 10:20:30\0")}
    about: dict[int, Tag] = {
        271: (ASCII, b"Sightline\0"), 272: (ASCII, b"Test One\0"), 274: (SHORT, 6), 50706: (BYTE, [1, 4, 0, 0]),
        50708: (ASCII, b"Sightline Test One\0"), 50778: (SHORT, 21), 50728: (RATIONAL, [(1, 1)] * 3),
        50721: (SRATIONAL, [(int(one), 1) for one in np.eye(3).ravel()]),
    }  # fmt: skip
    raw: dict[int, Tag] = {
        254: (LONG, 0), 256: (LONG, size), 257: (LONG, size), 258: (SHORT, 16), 259: (SHORT, 1), 262: (SHORT, 32803),
        277: (SHORT, 1), 278: (LONG, size), 279: (LONG, len(pixels)), 284: (SHORT, 1), 33421: (SHORT, [2, 2]),
        33422: (BYTE, [0, 1, 1, 2]), 50717: (LONG, 65535),
    }  # fmt: skip
    exif_at = 8
    exif = directory(taken, exif_at)
    pixels_at = exif_at + len(exif)
    body, raw[273] = exif + pixels, (LONG, pixels_at)
    about[34665] = (LONG, exif_at)
    if preview is None:
        first = 8 + len(body)
        return b"II*\0" + struct.pack("<I", first) + body + directory({**raw, **about}, first)
    file = io.BytesIO()
    random_picture(5, (preview, preview // 2)).save(file, "JPEG")
    jpeg_at = 8 + len(body)
    body += file.getvalue() + b"\0" * (len(file.getvalue()) % 2)
    raw_at = 8 + len(body)
    body += directory(raw, raw_at)
    first = 8 + len(body)
    shown: dict[int, Tag] = {
        254: (LONG, 1), 256: (LONG, preview), 257: (LONG, preview // 2), 258: (SHORT, [8, 8, 8]), 259: (SHORT, 7),
        262: (SHORT, 6), 273: (LONG, jpeg_at), 277: (SHORT, 3), 278: (LONG, preview // 2),
        279: (LONG, len(file.getvalue())), 330: (LONG, raw_at),
    }  # fmt: skip
    return b"II*\0" + struct.pack("<I", first) + body + directory({**shown, **about}, first)


def read(folder: Path, data: bytes, name: str) -> Any:
    (folder / name).write_bytes(data)
    return read_file(ReadJob(1, str(folder / name).encode(), (), 10**8))


@pytest.fixture
def rawpy() -> Any:
    return pytest.importorskip("rawpy", reason="the extra raw is not installed")


def test_a_mosaic_without_a_preview_is_decoded_at_half_size(tmp_path: Path, rawpy: Any) -> None:
    found = read(tmp_path, dng(), "a.dng")
    assert isinstance(found, PictureReading), found
    assert (found.mime, found.width, found.height) == ("image/x-raw", 32, 32)
    assert found.facts.taken_at is not None and found.facts.taken_at.year == 2021
    assert found.facts.orientation == 6 and "rotated" in found.warnings
    pixels = np.asarray(load_rgb(open_picture(dng(), 10**8), dng(), (32, 32))).reshape(-1, 3).mean(axis=0)
    assert pixels[0] > 2 * pixels[1] and pixels[0] > 2 * pixels[2], "the red sites are red"


def test_a_large_preview_stands_for_the_picture_and_a_thumbnail_does_not(tmp_path: Path, rawpy: Any) -> None:
    large, small = read(tmp_path, dng(preview=1200), "a.dng"), read(tmp_path, dng(preview=160), "b.dng")
    assert isinstance(large, PictureReading) and (large.height, large.width) == (1200, 600), "turned upright"
    assert isinstance(small, PictureReading) and (small.width, small.height) == (32, 32)
    assert large.facts.taken_at == small.facts.taken_at is not None


def test_without_the_extra_raw_files_are_skipped_as_raw_and_read_once_it_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sightline.corpus.pixels.has_raw", lambda: False)
    found = read(tmp_path, dng(preview=1200), "a.dng")
    assert isinstance(found, RefusedFile) and (found.reason, found.detail) == (
        "RAW", "RAW needs pip install 'sightline[raw]'"
    )  # fmt: skip
    assert found.reader in current_readers(10**8, FilmLimits(40, 120, tmp_path), ("raw",))
    assert found.reader not in current_readers(10**8, FilmLimits(40, 120, tmp_path), ("heif",)), "worth another look"


@pytest.mark.parametrize(
    "head",
    [
        b"II*\0\x10\0\0\0CR\x02\0", b"\0\0\0\x18ftypcrx \0\0\0\x01", b"FUJIFILMCCD-RAW 0201", b"IIU\0\x18\0\0\0",
        b"IIRO\x08\0\0\0", b"IIRS\x08\0\0\0", b"MMOR\0\0\0\x08",
    ],
)  # fmt: skip
def test_formats_that_are_told_by_their_first_bytes(head: bytes) -> None:
    assert identify(head.ljust(64, b"\0")) == "RAW"


def test_nikon_sony_and_pentax_are_told_by_their_tags_and_a_scan_of_paper_is_no_raw() -> None:
    def tiff(tags: dict[int, Tag]) -> bytes:
        return b"II*\0" + struct.pack("<I", 8) + directory(tags, 8)

    assert is_raw(tiff({254: (LONG, 1), 330: (LONG, [8, 8])})), "a thumbnail, with the picture in a part of its own"
    assert all(is_raw(tiff({259: (SHORT, own)})) for own in (34713, 32767, 65535))
    file = io.BytesIO()
    random_picture(3).save(file, "TIFF", compression="tiff_lzw")
    pages = io.BytesIO()
    random_picture(3).save(pages, "TIFF", save_all=True, append_images=[random_picture(4)])
    assert not is_raw(file.getvalue()) and not is_raw(pages.getvalue())
    assert identify(file.getvalue()) == "TIFF"
    assert not is_raw(b"II*\0\xff\xff\xff\x7f") and not is_raw(b"II*\0")


def test_a_broken_raw_costs_itself_alone(tmp_path: Path, rawpy: Any) -> None:
    data = dng(preview=1200)
    for cut in (100, len(data) // 2, len(data) - 40):
        found = read(tmp_path, data[:cut], f"{cut}.dng")
        assert isinstance(found, RefusedFile | PictureReading)
    assert isinstance(read(tmp_path, b"FUJIFILMCCD-RAW " + b"x" * 500, "x.raf"), RefusedFile)
    assert isinstance(Image.open(io.BytesIO(data)), Image.Image), "which Pillow alone would take for its preview"
