"""`--embedder mean-color`: a picture is its mean color, a text the mean of the colors that it names."""

from typing import Any

import numpy as np
from PIL import ImageColor

from sightline import FunctionEmbedder


def see(batch: list[Any]) -> list[Any]:
    return [picture.mean(axis=(0, 1)) + 1 for picture in batch]


def read(batch: list[str]) -> list[Any]:
    named = [[ImageColor.getrgb(word) for word in text.split() if word in ImageColor.colormap] for text in batch]
    return [np.mean(colors or [(128, 128, 128)], axis=0) + 1 for colors in named]


def open_embedder(rest: str, **options: object) -> FunctionEmbedder:
    return FunctionEmbedder("mean-color", pictures=see, texts=read, dim=3, revision="1")
