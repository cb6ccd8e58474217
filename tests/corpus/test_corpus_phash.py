"""The hash stays near under resizing and re-encoding, and far between different pictures."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image

from pictures import random_picture
from sightline.corpus.near_duplicates import SIDE, colour_print, perceptual_hash
from sightline.corpus.pixels import upright


def small(image: Image.Image) -> np.ndarray:
    return np.asarray(image.convert("RGB").resize((SIDE, SIDE), Image.Resampling.BOX))


def distance(a: int, b: int) -> int:
    return (a ^ b).bit_count()


def test_a_resized_and_re_encoded_copy_is_near() -> None:
    for seed in range(20):
        original = random_picture(seed, (640, 480))
        copy = io.BytesIO()
        original.resize((400, 300)).save(copy, "JPEG", quality=60)
        assert distance(perceptual_hash(small(original)), perceptual_hash(small(Image.open(copy)))) <= 4


def test_different_pictures_are_far() -> None:
    hashes = [perceptual_hash(small(random_picture(seed))) for seed in range(40)]
    assert min(distance(a, b) for n, a in enumerate(hashes) for b in hashes[:n]) > 10


def test_a_flat_picture_has_hash_zero() -> None:
    assert perceptual_hash(small(Image.new("RGB", (50, 40), "red"))) == 0
    assert perceptual_hash(small(Image.new("RGB", (1, 1), "white"))) == 0


def test_colours_tell_red_from_blue() -> None:
    red, blue = (np.frombuffer(colour_print(small(Image.new("RGB", (9, 9), c))), np.uint8) for c in ("red", "blue"))
    assert np.abs(red.astype(int) - blue.astype(int)).mean() > 100


def test_orientation_turns_arrays_as_pillow_turns_pictures() -> None:
    from PIL import ImageOps

    image = random_picture(1, (32, 32))
    for orientation in range(1, 9):
        exif = Image.Exif()
        exif[274] = orientation
        file = io.BytesIO()
        image.save(file, "PNG", exif=exif)
        expected = np.asarray(ImageOps.exif_transpose(Image.open(file)))
        assert np.array_equal(upright(np.asarray(image), orientation), expected), orientation
