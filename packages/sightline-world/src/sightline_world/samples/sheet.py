"""A contact sheet: many pictures at a glance."""

from __future__ import annotations

from PIL import Image, ImageOps

from sightline_world.samples.scenes import Samples

_GAP = 6
_PAPER = (250, 249, 246)


def contact_sheet(
    samples: Samples, *, columns: int = 8, cell: tuple[int, int] = (180, 135), copies: bool = False
) -> Image.Image:
    """The samples side by side, upright; without `copies`, duplicates and later frames of a burst are left out."""
    shown = [
        scene
        for scene in samples.scenes
        if copies or (scene.duplicate_of is None and scene.burst[:1] in ((), (scene.id,)))
    ]
    wide, high = cell[0] + _GAP, cell[1] + _GAP
    rows = -(-len(shown) // columns)
    sheet = Image.new("RGB", (columns * wide + _GAP, rows * high + _GAP), _PAPER)
    for number, scene in enumerate(shown):
        with Image.open(samples.folder / scene.id) as image:
            upright = ImageOps.exif_transpose(image).convert("RGB")
        small = ImageOps.pad(upright, cell, Image.Resampling.LANCZOS, color=_PAPER)
        sheet.paste(small, (_GAP + number % columns * wide, _GAP + number // columns * high))
    return sheet
