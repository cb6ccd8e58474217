"""The embedder `world`: pictures of the built-in world and English words about them in one space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from pydantic import Field

from sightline.config.section import StrictModel
from sightline.models.embedders.registry import options_in, read_options
from sightline.models.photos.onnx_session import on_all_cores
from sightline.models.protocols import Pixels, Vectors
from sightline_world.models.network_inputs import LONGEST, encode, split_words
from sightline_world.models.networks import network, revision_of
from sightline_world.models.scene_reader import DETECTION, KINDS, SEEN, Glance, look, read_signs

_NETWORKS = ("reader", "signs", "scene", "text")
_SIGN_WORDS = 4
_SIGN = KINDS.index("sign")


class WorldOptions(StrictModel):
    """Options of the embedder `world`."""

    threads: int | None = Field(None, ge=1, description="Pictures at a time; one per core when not set.")


class WorldEmbedder:
    """Looks at pixels with the built-in reader; made for the world's pictures, and of little use for photographs."""

    name = "world"
    dim = 512
    batch = 64
    text_batch = 256

    def __init__(self, *, threads: int | None = None) -> None:
        self.revision = revision_of(*_NETWORKS)
        self.truncated = 0  # Texts that were longer than the model reads, so far.
        self._threads = threads
        network("reader")  # What is missing is said now, and not after an hour.

    def pictures(self, batch: Sequence[Pixels]) -> Vectors:
        """One unit-length row for each array of height × width × 3."""
        if not batch:
            return np.zeros((0, self.dim), np.float32)
        return np.concatenate(on_all_cores(_vector, batch, self._threads))

    def texts(self, batch: Sequence[str]) -> Vectors:
        """One unit-length row for each text; words beyond the 32nd are not read, which `truncated` counts."""
        if not batch:
            return np.zeros((0, self.dim), np.float32)
        self.truncated += sum(len(split_words(text)) > LONGEST for text in batch)
        words, grams = encode(batch)
        (vectors,) = network("text")(words=words, grams=grams)
        return vectors


def open_world(rest: str, **options: Any) -> WorldEmbedder:
    """The embedder, with the options that stand after its name (`world:threads=2`) and those that are given."""
    chosen = read_options(WorldOptions, {**options_in(rest), **options}, WorldEmbedder.name)
    return WorldEmbedder(**chosen.model_dump())


def _vector(pixels: Pixels) -> Vectors:
    glance = look(pixels)
    words, grams = encode([" ".join(_written(pixels, glance))], _SIGN_WORDS)
    things = np.zeros((1, SEEN, DETECTION), np.float32)
    things[0, : len(glance.things)] = glance.things
    (vector,) = network("scene")(things=things, whole=glance.whole[None], words=words, grams=grams)
    return vector


def _written(pixels: Pixels, glance: Glance) -> list[str]:
    signs = [at for at in range(len(glance.things)) if glance.things[at, : len(KINDS)].argmax() == _SIGN]
    return read_signs(pixels, [glance.box(at) for at in signs])
