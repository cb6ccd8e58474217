"""Pictures for the tests, made on the spot."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sightline.corpus.pixels import MAX_PIXELS
from sightline.corpus.view import open_corpus
from sightline.models.embedders.pixels import load_pixels, read_bytes
from sightline.retrieval.columns.builder import build_columns
from sightline.retrieval.filters.filter import compile_filter, parse_filter

Draw = Callable[..., Path]
"""What the fixture `draw` gives."""


def random_picture(seed: int, size: tuple[int, int] = (160, 120)) -> Image.Image:
    """Smooth blobs: no two seeds look alike."""
    rng = np.random.default_rng(seed)
    coarse = Image.fromarray(rng.integers(0, 256, (6, 8, 3), dtype=np.uint8))
    return coarse.resize(size, Image.Resampling.BICUBIC)


def filtered(workspace: Path, where: str) -> list[str]:
    """The ids of a workspace's pictures that fit a filter, as a search would see them."""
    corpus = open_corpus(workspace)
    pictures = list(corpus.pictures.values())
    records = [(each, None, [group for group in corpus.groups if each.id in group.pictures]) for each in pictures]
    kept = compile_filter(parse_filter(where), build_columns(records))
    return [picture.id for picture, keep in zip(pictures, kept.tolist(), strict=True) if keep]


def pixels_in(path: Path, side: int) -> NDArray[np.uint8]:
    """What an embedder is given of a file."""
    data = read_bytes(os.fsencode(path))
    assert isinstance(data, bytes), data
    return load_pixels(data, side, MAX_PIXELS)
