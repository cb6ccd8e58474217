"""Pictures of every kind become the square that the classifier looks at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from pictures import pixels_in
from sightline.errors import UserError
from sightline.models.photos.classifier import SHORTER, square_of


def halves(width: int, height: int) -> Image.Image:
    """Red on the left, blue on the right."""
    pixels = np.zeros((height, width, 3), np.uint8)
    pixels[:, : width // 2, 0] = 255
    pixels[:, width // 2 :, 2] = 255
    return Image.fromarray(pixels)


def read(path: Path) -> NDArray[np.uint8]:
    square = square_of(pixels_in(path, SHORTER))
    assert square.shape == (260, 260, 3) and square.dtype == np.uint8
    return square


def reference(image: Image.Image) -> NDArray[np.uint8]:
    """As the features of the training data were made."""
    scale = 292 / min(image.size)
    image = image.resize((round(image.width * scale), round(image.height * scale)), Image.Resampling.BICUBIC)
    left, top = (image.width - 260) // 2, (image.height - 260) // 2
    return np.asarray(image.crop((left, top, left + 260, top + 260)))


@pytest.mark.parametrize("size", [(500, 375), (333, 500), (292, 292), (300, 1100), (100, 80)])
def test_as_the_training_data_was_made(size: tuple[int, int]) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
    np.testing.assert_array_equal(square_of(noise), reference(Image.fromarray(noise)))


def test_a_very_long_picture() -> None:
    pixels = np.zeros((10, 30_000, 3), np.uint8)
    pixels[:, 15_000:, 1] = 255
    square = square_of(pixels)
    assert square.shape == (260, 260, 3) and square[130, 20, 1] < 10 and square[130, 240, 1] > 245


@pytest.mark.parametrize("mode", ["L", "LA", "RGBA", "P", "CMYK", "1", "I;16"])
def test_files_of_every_mode(tmp_path: Path, mode: str) -> None:
    deep = Image.fromarray(np.full((50, 60), 40_000, np.uint16))
    image = deep if mode == "I;16" else halves(60, 50).convert(mode)
    path = tmp_path / ("x.tif" if mode == "CMYK" else "x.png")
    image.save(path)
    read(path)


def test_turned_as_its_orientation_says(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # To be turned by a quarter: what is left in the file is on top for the eye.
    halves(400, 300).save(tmp_path / "x.jpg", exif=exif, quality=95)
    square = read(tmp_path / "x.jpg").astype(int)
    assert square[20, 130, 0] > 200 and square[240, 130, 2] > 200


def test_a_large_jpeg_is_not_decoded_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    halves(4000, 3000).save(tmp_path / "x.jpg", quality=90)
    seen = []
    whole = Image.Image.resize

    def watched(self: Image.Image, *arguments: Any, **options: Any) -> Image.Image:
        seen.append(self.size)
        return whole(self, *arguments, **options)

    monkeypatch.setattr(Image.Image, "resize", watched)
    square = read(tmp_path / "x.jpg").astype(int)
    assert seen == [(500, 375)]
    assert square[130, 20, 0] > 240 and square[130, 240, 2] > 240


@pytest.mark.parametrize("shape", [(0, 0, 3), (0, 10, 3), (10, 0, 3)])
def test_a_picture_without_pixels(shape: tuple[int, ...]) -> None:
    with pytest.raises(UserError, match="has no pixels"):
        square_of(np.zeros(shape, np.uint8))


@pytest.mark.parametrize(
    ("array", "said"),
    [
        (np.zeros((4, 5), np.uint8), "4 × 5 of uint8"),
        (np.zeros((4, 5, 1), np.uint8), "4 × 5 × 1"),
        (np.zeros((4, 5, 4), np.uint8), "4 × 5 × 4"),
        (np.zeros((4, 5, 3), np.float32), "of float32"),
        (np.zeros((), np.uint8), "a single value"),
    ],
)
def test_arrays_of_another_kind(array: np.ndarray, said: str) -> None:
    with pytest.raises(UserError, match="height × width × 3 of uint8 is needed") as caught:
        square_of(array)
    assert said in caught.value.message and "RGB" in (caught.value.fix or "")
