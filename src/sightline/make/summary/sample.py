"""A sample of the pictures, small and without anything that their files know about place and time."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from sightline.bench import picture_path
from sightline.corpus import metadata
from sightline.corpus.pixels import RefusedError, load_rgb, upright
from sightline.models.pictures import open_one
from sightline.report.markup import Markup
from sightline.types import Picture

SIZE = 50
SEED = 42
_SMALL = (200, 150)
_COLUMNS = 10
_QUALITY = 78
_GAP = 6


@dataclass(frozen=True, slots=True)
class Sampled:
    """A picture and its small copy; None if it can't be read here."""

    picture: Picture
    small: Image.Image | None

    @property
    def data_url(self) -> Markup | None:
        if self.small is None:
            return None
        out = io.BytesIO()
        self.small.save(out, "JPEG", quality=_QUALITY, optimize=True)
        return Markup(f"data:image/jpeg;base64,{base64.b64encode(out.getvalue()).decode()}")


def draw_sample(pictures: Sequence[Picture], folder: Path, size: int = SIZE, seed: int = SEED) -> list[Sampled]:
    """Pictures drawn by chance, always the same ones; relative addresses start at `folder`."""
    ordered = sorted(pictures, key=lambda picture: picture.id)
    chosen = np.random.default_rng(seed).permutation(len(ordered))[:size]
    return [Sampled(ordered[at], small_copy(ordered[at], folder)) for at in sorted(chosen.tolist())]


def small_copy(picture: Picture, folder: Path) -> Image.Image | None:
    """The pixels alone, upright; None for what is not here or is no picture."""
    path = picture_path(picture.uri, folder)
    if path is None or not path.is_file():
        return None
    try:
        data = path.read_bytes()
        image = open_one(data)
        turned = metadata.read_facts(image).orientation
        scale = min(1.0, 2 * max(_SMALL) / max(image.size))
        size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
        pixels = load_rgb(image, data, size).resize(size, Image.Resampling.BOX)
        found = Image.fromarray(np.ascontiguousarray(upright(np.asarray(pixels), turned)))
    except (OSError, RefusedError):
        return None
    found.thumbnail(_SMALL, Image.Resampling.LANCZOS)
    return found


def contact_sheet(sample: Sequence[Sampled]) -> bytes | None:
    """The sample on one sheet, as PNG; None if none of it can be shown."""
    shown = [one.small for one in sample if one.small is not None]
    if not shown:
        return None
    columns = min(_COLUMNS, len(shown))
    width, height = _SMALL[0] + _GAP, _SMALL[1] + _GAP
    sheet = Image.new("RGB", (columns * width + _GAP, -(-len(shown) // columns) * height + _GAP), "white")
    for number, small in enumerate(shown):
        row, column = divmod(number, columns)
        left = _GAP + column * width + (_SMALL[0] - small.width) // 2
        sheet.paste(small, (left, _GAP + row * height + (_SMALL[1] - small.height) // 2))
    out = io.BytesIO()
    sheet.save(out, "PNG", optimize=True)
    return out.getvalue()
