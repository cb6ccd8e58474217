"""Files that a folder of real pictures may hold: broken, lying, huge, tiny, rare and oddly named."""

from __future__ import annotations

import io
import os
import struct
import zlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from sightline_world.draw import PLACES, PersonWish, ScenePlan, ThingWish, draw
from sightline_world.picture_files import TURNS

_Cases = dict[str, tuple[bytes, str]]


def write_bad_files(folder: Path) -> Mapping[str, str]:
    """Write one file for each case into `folder`; returns the name of each and what a scan should say of it.

    Expected is "ok", "ok: WARNING" or the reason to skip the file. Names are those on disk (one is not in
    Unicode's composed form, one is not UTF-8 where the system allows that). Three things have no entry,
    since a scan passes them by in silence: a hidden file, a link to the folder itself and a link to nowhere.
    """
    folder.mkdir(parents=True, exist_ok=True)
    expected: dict[str, str] = {}
    for cases in (_broken, _impostors, _rare, _sizes, _orientations, _names):
        for name, (data, promise) in cases().items():
            if _write(folder, name, data):
                expected[name] = promise
    _write(folder, ".hidden.jpg", _jpeg("hidden"))
    _link(folder / "loop", folder)
    _link(folder / "itself.jpg", folder / "itself.jpg")
    return expected


def _write(folder: Path, name: str, data: bytes) -> bool:
    """Whether the system allows such a name."""
    try:
        (folder / name).write_bytes(data)
    except (OSError, ValueError):
        return False
    return True


def _link(link: Path, target: Path) -> None:
    """A link, where the system has them and it isn't there yet."""
    try:
        link.symlink_to(target)
    except OSError:
        return


def _picture(name: str, size: tuple[int, int] = (320, 240)) -> Image.Image:
    """A picture of its own for each name, so that no two files are duplicates by accident."""
    places = sorted(PLACES)
    place = places[sum(name.encode()) % len(places)]
    colour = ("red", "blue", "green", "orange", "purple")[len(name) % 5]
    plan = ScenePlan(place, "day", size=size, seed=f"bad/{name}")
    if place == "kitchen":
        return draw(replace(plan, things=(ThingWish("mug", colour),))).image
    return draw(replace(plan, people=(PersonWish(colour),))).image


def _saved(image: Image.Image, picture_format: str, **options: Any) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, picture_format, **options)
    return buffer.getvalue()


def _jpeg(name: str, **options: Any) -> bytes:
    return _saved(_picture(name), "JPEG", quality=85, **options)


def _broken() -> _Cases:
    """Files that once were pictures, and pictures whose metadata is wrong."""
    jpeg, png = _jpeg("truncated jpeg"), _saved(_picture("truncated png"), "PNG")
    garbled = b"Exif\x00\x00II*\x00" + struct.pack("<I", 0x7FFFFFF0) + bytes(range(64))
    dates = Image.Exif()
    dates[0x0132] = dates.get_ifd(0x8769)[0x9003] = "2023:13:45 25:61:61"
    heic = b"\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic" + bytes((i * 73 + 41) % 256 for i in range(600))
    return {
        "truncated.jpg": (jpeg[: len(jpeg) // 2], "truncated"),
        "truncated.png": (png[: len(png) // 2], "truncated"),
        "empty.jpg": (b"", "empty"),
        "broken-exif.jpg": (_jpeg("broken exif", exif=garbled), "ok: broken exif"),
        "impossible-date.jpg": (_jpeg("impossible date", exif=dates), "ok: implausible time"),
        "garbage.heic": (heic, "unreadable"),
        "bomb.png": (_bomb(), "bomb"),
    }


def _impostors() -> _Cases:
    """Files that are not what their name says."""
    page = b"<!DOCTYPE html>\n<html><head><title>Not found</title></head><body>404</body></html>\n"
    return {
        "letter.jpg": (b"Dear Ben,\nthe pictures are on the other disk.\nAna\n", "not a picture"),
        "bm-letter.bmp": (b"BM is how this letter starts, and so does a bitmap.\n" * 3, "not a picture"),
        "page.png": (page, "not a picture"),
        "really-a-png.jpg": (_saved(_picture("png inside"), "PNG"), "ok: wrong extension"),
        "no-extension": (_jpeg("no extension"), "ok"),
        "UPPER-CASE.JPG": (_jpeg("upper case"), "ok"),
    }


def _rare() -> _Cases:
    """Pictures in forms that many programs get wrong."""
    palette = _picture("palette").quantize(64)
    return {
        "animated.gif": (_film("GIF"), "ok: animated"),
        "animated.webp": (_film("WEBP"), "ok: animated"),
        "cmyk.jpg": (_saved(_picture("cmyk").convert("CMYK"), "JPEG"), "ok: cmyk"),
        "grey-16-bit.png": (_grey_16_bit(), "ok: 16-bit"),
        "rgb-16-bit.png": (_rgb_16_bit(), "ok: 16-bit"),
        "palette-transparency.png": (_saved(palette, "PNG", transparency=0), "ok: palette transparency"),
        "grey-alpha.png": (_saved(_fading("grey with alpha").convert("LA"), "PNG"), "ok"),
        "rgba.png": (_saved(_fading("alpha"), "PNG"), "ok"),
    }


def _film(picture_format: str) -> bytes:
    first, *others = (_picture(f"{picture_format} frame {number}", (160, 120)) for number in range(3))
    return _saved(first, picture_format, save_all=True, append_images=others, duration=120, loop=0)


def _fading(name: str) -> Image.Image:
    """A picture that gets transparent towards its corners."""
    image = _picture(name).convert("RGBA")
    image.putalpha(Image.radial_gradient("L").resize(image.size).point([255 - value for value in range(256)]))
    return image


def _sizes() -> _Cases:
    wide = _picture("wide").resize((30_000, 20))
    return {
        "one-pixel.png": (_saved(Image.new("RGB", (1, 1), (200, 40, 40)), "PNG"), "ok: tiny"),
        "30000-wide.jpg": (_saved(wide, "JPEG"), "ok: huge side"),
    }


def _orientations() -> _Cases:
    """One picture stored in each of the eight ways; upright, all show the same."""
    upright, cases = _picture("orientation"), {}
    for orientation in range(1, 9):
        tags = Image.Exif()
        tags[0x0112] = orientation
        stored = upright.transpose(TURNS[orientation]) if orientation in TURNS else upright
        cases[f"orientation-{orientation}.jpg"] = (_saved(stored, "JPEG", quality=92, exif=tags), "ok")
    return cases


def _names() -> _Cases:
    """Good pictures with names that are hard to handle."""
    names = (
        "naïve café 東京 Кот.jpg",
        "two  spaces .jpg",
        "100%25 sure%.jpg",
        "quote\"s and 'apostrophes'.jpg",
        "new\nline.jpg",
        "party 🎈👩‍👧.jpg",
        "re\u0301sume\u0301.jpg",
        os.fsdecode(b"latin-\xe9t\xe9.jpg"),
        "-rf #1 & $HOME; [*?].jpg",
    )
    return {name: (_jpeg(f"name {number}"), "ok") for number, name in enumerate(names)}


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _png(width: int, height: int, depth: int, colour_type: int, rows: bytes) -> bytes:
    """A PNG file by hand: what no encoder at hand writes."""
    header = struct.pack(">IIBBBBB", width, height, depth, colour_type, 0, 0, 0)
    parts = (_chunk(b"IHDR", header), _chunk(b"IDAT", zlib.compress(rows, 9)), _chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def _bomb() -> bytes:
    """Valid chunks that promise 3.6 thousand million pixels and hold a few rows of them."""
    return _png(60_000, 60_000, 8, 0, bytes(60_001 * 4))


def _grey_16_bit() -> bytes:
    grey = np.asarray(_picture("grey 16").convert("L"), dtype=np.uint16) * 257
    return _saved(Image.fromarray(grey), "PNG")


def _rgb_16_bit() -> bytes:
    wide = (np.asarray(_picture("rgb 16"), dtype=np.uint32) * 257).astype(">u2")
    rows = b"".join(b"\x00" + row.tobytes() for row in wide)
    return _png(wide.shape[1], wide.shape[0], 16, 2, rows)
