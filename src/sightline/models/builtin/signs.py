"""Words on signs: each sign is cut out of the full picture and read letter by letter."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sightline.models.builtin.networks import network
from sightline.models.protocols import Pixels
from sightline.types import Box

LETTERS = " ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_WIDE, _HIGH = 160, 32
_MARGIN = 0.05


def read_signs(pixels: Pixels, boxes: Sequence[Box]) -> list[str]:
    """What is written in each box; an empty text where no letter could be read."""
    if not boxes:
        return []
    cuts = np.stack([_cut(pixels, box) for box in boxes])[:, None].astype(np.float32) / 255
    (logits,) = network("signs")(cuts=cuts)
    return [_collapsed(steps) for steps in logits.argmax(-1)]


def _cut(pixels: Pixels, box: Box) -> NDArray[np.uint8]:
    """The sign in grey, stretched to the size that the network reads."""
    high, wide = pixels.shape[:2]
    dx, dy = _MARGIN * (box.right - box.left), _MARGIN * (box.bottom - box.top)
    left, right = max(0.0, (box.left - dx) * wide), min(float(wide), (box.right + dx) * wide)
    top, bottom = max(0.0, (box.top - dy) * high), min(float(high), (box.bottom + dy) * high)
    if right - left < 1 or bottom - top < 1:
        return np.zeros((_HIGH, _WIDE), np.uint8)
    image = Image.fromarray(pixels).convert("L")
    return np.asarray(image.resize((_WIDE, _HIGH), Image.Resampling.BILINEAR, box=(left, top, right, bottom)))


def _collapsed(steps: NDArray[np.intp]) -> str:
    """Equal neighbours are one letter, and class 0 is none (CTC)."""
    changed = np.concatenate([[True], steps[1:] != steps[:-1]])
    return "".join(LETTERS[step - 1] for step in steps[changed & (steps > 0)]).strip()
