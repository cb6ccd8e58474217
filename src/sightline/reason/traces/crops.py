"""The parts of a picture that claims speak of, cut out for whoever verifies them."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass

from PIL import Image

from sightline.corpus import metadata
from sightline.corpus.pixels import RefusedError
from sightline.models.pictures import MAX_PIXELS, is_web, open_one, read_source
from sightline.score.text.regions import regions_in
from sightline.search.pixels import decode
from sightline.types import Box, Failure, ImagePart

MOST_CROPS = 6
"""Parts that are shown beside one picture; each is one more picture to pay for."""
_MARGIN = 0.1
_SIDE = 768
_NEARLY_ALL = 0.8
_ON_ITS_SIDE = frozenset({5, 6, 7, 8})


@dataclass(frozen=True, slots=True)
class Crop:
    """A part of a picture, and the claims (by number, from 1) that speak of it."""

    box: Box
    claims: tuple[int, ...]
    png: bytes


def crops_for(uri: str, claims: Sequence[str]) -> tuple[Crop, ...]:
    """One for each part that is named; none where the picture is not on this machine or can't be read."""
    if is_web(uri) or not any(map(regions_in, claims)):
        return ()
    data = read_source(ImagePart(uri))
    if isinstance(data, Failure):
        return ()  # Whoever is shown the whole picture finds out why.
    size = _size(data)
    named: dict[Box, list[int]] = {}
    for number, claim in enumerate(claims, 1):
        for box in regions_in(claim, size):
            named.setdefault(box, []).append(number)
    parts = [(box, numbers) for box, numbers in named.items() if _area(box) < _NEARLY_ALL]
    cut = ((box, tuple(numbers), _cut(data, widened(box))) for box, numbers in parts[:MOST_CROPS])
    return tuple(Crop(box, numbers, png) for box, numbers, png in cut if png is not None)


def widened(box: Box) -> Box:
    """A little more than was named: words are not exact, and what stands at the edge is cut in two."""
    across, down = _MARGIN * (box.right - box.left), _MARGIN * (box.bottom - box.top)
    return Box(
        max(0.0, box.left - across),
        max(0.0, box.top - down),
        min(1.0, box.right + across),
        min(1.0, box.bottom + down),
    )


def _area(box: Box) -> float:
    return (box.right - box.left) * (box.bottom - box.top)


def _size(data: bytes) -> tuple[int, int] | None:
    """Width and height, upright."""
    try:
        image = open_one(data)
    except RefusedError:
        return None
    lies = metadata.read_facts(image).orientation in _ON_ITS_SIDE
    return (image.height, image.width) if lies else image.size


def _cut(data: bytes, box: Box) -> bytes | None:
    pixels = decode(data, _SIDE, MAX_PIXELS, box)
    if isinstance(pixels, Failure):
        return None
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG")
    return buffer.getvalue()
