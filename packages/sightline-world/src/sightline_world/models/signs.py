"""Words on signs: each sign is cut out of the full picture and read letter by letter."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sightline.models.protocols import Pixels
from sightline.types import Box
from sightline_world.models.cutting import cut_sign
from sightline_world.models.networks import network

LETTERS = " ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def read_signs(pixels: Pixels, boxes: Sequence[Box]) -> list[str]:
    """What is written in each box; an empty text where no letter could be read."""
    if not boxes:
        return []
    cuts = np.stack([cut_sign(pixels, box) for box in boxes])[:, None].astype(np.float32) / 255
    (logits,) = network("signs")(cuts=cuts)
    return [_collapsed(steps) for steps in logits.argmax(-1)]


def _collapsed(steps: NDArray[np.intp]) -> str:
    """Equal neighbours are one letter, and class 0 is none (CTC)."""
    changed = np.concatenate([[True], steps[1:] != steps[:-1]])
    return "".join(LETTERS[step - 1] for step in steps[changed & (steps > 0)]).strip()
