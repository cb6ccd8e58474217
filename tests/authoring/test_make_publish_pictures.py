"""What leaves in a picture's file: the pixels and how they are turned, and nothing about place, time or people."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from PIL import Image, ImageOps, PngImagePlugin

from pictures import random_picture
from sightline.authoring.dataset.pictures import scrub
from sightline.authoring.dataset.selection import UNKNOWN, licence_id, may_be_shared, on_the_hub
from sightline.corpus.pixels import RefusedError

SECRET = b"51 degrees north, Secret Camera"


def told(format_: str, turn: int = 1, **options: Any) -> bytes:
    """A picture whose file says more than it should."""
    exif = Image.Exif()
    exif[0x0112] = turn
    exif[0x010E] = SECRET.decode()
    exif.get_ifd(0x8825)[2] = (51.0, 30.0, 0.0)
    out = io.BytesIO()
    random_picture(3).save(out, format_, exif=exif, **options)
    return out.getvalue()


def seen(data: bytes) -> np.ndarray:
    return np.asarray(ImageOps.exif_transpose(Image.open(io.BytesIO(data))).convert("RGB"))


@pytest.mark.parametrize("turn", range(1, 9))
@pytest.mark.parametrize("format_", ["JPEG", "PNG", "WEBP"])
def test_pixels_and_turn_stay_and_the_rest_goes(format_: str, turn: int) -> None:
    data = told(format_, turn)
    clean = scrub(data)
    assert SECRET in data
    assert SECRET not in clean.data
    assert np.array_equal(seen(data), seen(clean.data))
    left = dict(Image.open(io.BytesIO(clean.data)).getexif())
    assert left == ({} if turn == 1 else {0x0112: turn})
    assert (clean.width, clean.height) == ((120, 160) if turn >= 5 else (160, 120))


@pytest.mark.parametrize(
    "data",
    [
        told("JPEG", comment=SECRET),
        told("JPEG", xmp=b"<x:xmpmeta>" + SECRET + b"</x:xmpmeta>"),
        told("JPEG", progressive=True),
        told("JPEG") + SECRET * 3,
        told("JPEG", restart_marker_blocks=2),
    ],
    ids=["comment", "xmp", "progressive", "after the end", "restart markers"],
)
def test_other_places_in_a_jpeg_are_emptied_too(data: bytes) -> None:
    clean = scrub(data)
    assert SECRET not in clean.data
    assert np.array_equal(seen(data), seen(clean.data))


def test_colour_profile_stays() -> None:
    from PIL import ImageCms

    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    out = io.BytesIO()
    random_picture(1).save(out, "JPEG", icc_profile=profile)
    assert Image.open(io.BytesIO(scrub(out.getvalue()).data)).info["icc_profile"] == profile


def test_text_of_a_png_goes() -> None:
    notes, out = PngImagePlugin.PngInfo(), io.BytesIO()
    notes.add_text("Author", SECRET.decode())
    notes.add_itxt("XML:com.adobe.xmp", SECRET.decode(), zip=False)
    random_picture(1).save(out, "PNG", pnginfo=notes)
    assert SECRET in out.getvalue()
    assert SECRET not in scrub(out.getvalue()).data


@pytest.mark.parametrize("format_", ["TIFF", "GIF", "BMP"])
def test_other_formats_become_a_png(format_: str) -> None:
    out = io.BytesIO()
    random_picture(2).save(out, format_)
    clean = scrub(out.getvalue())
    assert clean.mime == "image/png"
    assert np.array_equal(seen(clean.data), seen(out.getvalue()))


@given(
    st.integers(0, 4000) | st.integers(0, 40), st.binary(min_size=1, max_size=12) | st.binary(min_size=1, max_size=1)
)
@example(5, b"\x96")  # JFIF's length reaches over the EXIF that follows it.
@settings(deadline=None, max_examples=200)
def test_damaged_files_are_cleaned_or_refused(place: int, noise: bytes) -> None:
    data = told("JPEG")
    broken = data[:place] + noise + data[place + len(noise) :]
    try:
        assert SECRET not in scrub(broken).data
    except RefusedError as refused:
        assert refused.reason


@pytest.mark.parametrize(
    ("written", "name", "shared", "hub"),
    [
        ("CC BY 4.0", "cc-by-4.0", True, "cc-by-4.0"),
        ("cc-by-nc-sa-4.0", "cc-by-nc-sa-4.0", True, "cc-by-nc-sa-4.0"),
        ("https://creativecommons.org/licenses/by-sa/3.0/", "cc-by-sa-3.0", True, "cc-by-sa-3.0"),
        ("http://creativecommons.org/publicdomain/zero/1.0/", "cc0-1.0", True, "cc0-1.0"),
        ("CC0", "cc0-1.0", True, "cc0-1.0"),
        ("Creative Commons Attribution 4.0 International", "cc-by-4.0", True, "cc-by-4.0"),
        ("MIT License", "mit", True, "mit"),
        ("public domain", "public-domain", True, "other"),
        ("All rights reserved", "all-rights-reserved", False, "other"),
        (None, UNKNOWN, False, "other"),
        ("UNKNOWN", UNKNOWN, False, "other"),
    ],
)
def test_licences_have_one_name(written: str | None, name: str, shared: bool, hub: str) -> None:
    assert licence_id(written) == name
    assert may_be_shared(name) is shared
    assert on_the_hub(name) == hub
