"""Small worlds for the tests of search: pictures of one colour, and embedders that know colours."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sightline.types import Annotation, Group, Picture

Array = NDArray[np.float32]
RGB = {
    "red": (255, 0, 0),
    "lime": (0, 255, 0),
    "blue": (0, 0, 255),
    "yellow": (255, 255, 0),
    "magenta": (255, 0, 255),
    "cyan": (0, 255, 255),
    "gray": (128, 128, 128),
    "orange": (255, 165, 0),
}


class Colours:
    """Pictures and words as the colours they show or name; counts what it is asked."""

    name, revision, dim, side, batch = "colours", "1", 3, 16, 4

    def __init__(self) -> None:
        self.pictures_seen = self.texts_seen = 0

    def pictures(self, batch: Sequence[NDArray[np.uint8]]) -> Array:
        self.pictures_seen += len(batch)
        return unit(np.stack([pixels.mean(axis=(0, 1)) for pixels in batch]) / 255)

    def texts(self, batch: Sequence[str]) -> Array:
        self.texts_seen += len(batch)
        return unit(np.array([_mean_of(text) for text in batch]))


class JointColours(Colours):
    """Reads a picture with a text at once: the text's colour alone, to tell it from a mean."""

    name = "joint-colours"

    def joint(self, pictures: Sequence[NDArray[np.uint8]], texts: Sequence[str]) -> Array:
        return self.texts(texts)


class Tokens:
    """A row for each quarter of a picture, and for each word of a text."""

    def pictures(self, batch: Sequence[NDArray[np.uint8]]) -> list[Array]:
        return [unit(np.stack([part.mean(axis=(0, 1)) for part in _quarters(pixels)]) / 255) for pixels in batch]

    def texts(self, batch: Sequence[str]) -> list[Array]:
        return [unit(np.array([_mean_of(word) for word in text.split()])) for text in batch]


class TokenColours(Colours):
    name = "token-colours"
    token_vectors = Tokens()


def unit(rows: NDArray[np.generic]) -> Array:
    values = np.asarray(rows, np.float64) + 1e-3
    return np.asarray(values / np.linalg.norm(values, axis=1, keepdims=True), np.float32)


def _mean_of(text: str) -> NDArray[np.float64]:
    named = [RGB[word] for word in text.lower().split() if word in RGB]
    return np.mean(named, axis=0) / 255 if named else np.zeros(3)


def _quarters(pixels: NDArray[np.uint8]) -> list[NDArray[np.uint8]]:
    high, wide = pixels.shape[0] // 2, pixels.shape[1] // 2
    return [pixels[:high, :wide], pixels[:high, wide:], pixels[high:, :wide], pixels[high:, wide:]]


def paint(path: Path, *colours: str, size: tuple[int, int] = (32, 32)) -> Path:
    """A picture of vertical stripes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    image = Image.new("RGB", size)
    wide = size[0] // len(colours)
    for at, colour in enumerate(colours):
        image.paste(RGB[colour], (at * wide, 0, size[0], size[1]))
    image.save(path.with_suffix(".png"))
    return path.with_suffix(".png")


def painted(folder: Path, **colours: str | tuple[str, ...]) -> list[Picture]:
    """Pictures in a folder, taken a day after each other; even ones are ana's, odd ones bob's."""
    pictures = []
    for at, (name, given) in enumerate(colours.items()):
        path = paint(folder / f"{name}.png", *((given,) if isinstance(given, str) else given))
        pictures.append(
            Picture(
                id=f"{name}.png",
                uri=str(path),
                taken_at=datetime(2020, 1, 1, 12) + timedelta(days=at),
                extra={"owner": "bob" if at % 2 else "ana"},
            )
        )
    return pictures


def said(id_: str, summary: str | None = None, *tags: str, **facets: str) -> Annotation:
    return Annotation(id_, summary=summary, tags=tags, facets=facets)


def group(id_: str, kind: str, *pictures: str, hidden: bool = False) -> Group:
    return Group(id_, kind, pictures, hidden)  # type: ignore[arg-type]
