"""What can be measured in the pixels themselves: colours, light, sharpness."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sightline.models.photos.classifier import square_of
from sightline.models.protocols import Pixels

_HUES = {"red": 15, "orange": 45, "yellow": 70, "green": 165, "blue": 255, "purple": 290, "pink": 345, "red again": 361}
"""Where each hue ends, in degrees."""
_DARK, _BRIGHT = 0.2, 0.8
_GREY_BELOW = 0.15
_DIM_BELOW, _BRIGHT_ABOVE = 0.25, 0.65
_SHARP_MIDDLE, _SHARP_SLOPE = 0.39, 13.0
"""Of the chance that a picture is sharp, over the logarithm of its detail; see training/photos/README.md."""


@dataclass(frozen=True, slots=True)
class Appearance:
    """Shares of the named colours, mean lightness and contrast (0 to 1), and fine detail as a share of all contrast."""

    colours: Mapping[str, float]
    lightness: float
    contrast: float
    detail: float

    @property
    def light(self) -> str:
        """In a word."""
        if self.lightness < _DIM_BELOW:
            return "dark"
        return "bright" if self.lightness > _BRIGHT_ABOVE else "medium"

    @property
    def sharp(self) -> float:
        """The chance that the picture is sharp, rather than blurred by a pixel or more of 292."""
        if self.detail == 0:
            return 0.0
        return 1 / (1 + math.exp(-_SHARP_SLOPE * math.log(self.detail / _SHARP_MIDDLE)))


def measure_appearance(pixels: Pixels) -> Appearance:
    """Measure one picture (height × width × 3)."""
    square = square_of(pixels)
    hsv = np.asarray(Image.fromarray(square).convert("HSV"), np.float32)
    grey = np.asarray(Image.fromarray(square).convert("L"), np.float32) / np.float32(255)
    return Appearance(_colours(hsv), float(grey.mean()), float(grey.std()), _detail(grey))


def _colours(hsv: NDArray[np.float32]) -> dict[str, float]:
    hue, saturation, value = hsv[..., 0] * (360 / 255), hsv[..., 1] / 255, hsv[..., 2] / 255
    plain = (saturation < _GREY_BELOW) | (value < _DARK)
    masks = {
        "black": value < _DARK,
        "white": plain & (value > _BRIGHT),
        "grey": plain & (value >= _DARK) & (value <= _BRIGHT),
    }
    start = 0.0
    for name, end in _HUES.items():
        inside = ~plain & (hue >= start) & (hue < end)
        key = name.partition(" ")[0]
        masks[key] = masks[key] | inside if key in masks else inside
        start = end
    # A dark or dull orange is what people call brown.
    brown = (masks["orange"] | masks["red"]) & (value < 0.6) & (hue >= 10) & (hue < 45)
    for key in ("orange", "red"):
        masks[key] = masks[key] & ~brown
    masks["brown"] = brown
    shares = {name: round(float(mask.mean()), 3) for name, mask in masks.items()}
    return dict(sorted(shares.items(), key=lambda item: -item[1]))


def _detail(grey: NDArray[np.float32]) -> float:
    """The spread of differences between neighbours, as a share of the spread of all pixels: small when blurred."""
    inner = grey[1:-1, 1:-1]
    laplacian = grey[:-2, 1:-1] + grey[2:, 1:-1] + grey[1:-1, :-2] + grey[1:-1, 2:] - 4 * inner
    spread = float(grey.std())
    return 0.0 if spread == 0 else float(laplacian.std()) / spread
