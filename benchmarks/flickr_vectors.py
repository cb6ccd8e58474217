"""Vectors as those of photographs and captions: a generator that is fitted to Flickr8k (shared/data, research use).

The embedder `photos` makes vectors of 6,000 training pictures (from stored features) and of captions of the development
pictures, which share no picture with them. Both are turned into the 512 directions that hold most of them. A new
picture lies between a training picture and one of its 20 nearest neighbours, and a new text between a caption and one
of its neighbours, each moved by noise in proportion to how far such neighbours are apart; so pictures and texts keep
their clusters, their spread, and their distance from each other. `python benchmarks/flickr_vectors.py` prints how well
that holds.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from caption_truth import data_folder
from sightline.models.photos.embedder import Photos

sys.path.insert(0, str(Path(__file__).parents[1] / "training" / "photos"))
from features import read_split

Vectors = NDArray[np.float32]
DIM, NEIGHBOURS, PAGE = 512, 20, 16_384
CAPTIONS = 2000
NOISE = 0.5
"""Of the distance to a neighbour."""


class FlickrVectors:
    """A million pictures and any number of texts, the same every time, made page by page."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._pictures, self._texts = _fitted()

    def pages(self) -> Iterator[tuple[NDArray[np.int64], Vectors]]:
        for start in range(0, self.count, PAGE):
            rows = np.arange(start, min(self.count, start + PAGE))
            yield rows, _between(self._pictures, self._near_pictures, len(rows), start + 1)

    def texts(self, count: int, seed: int) -> Vectors:
        return _between(self._texts, self._near_texts, count, seed)

    def some(self, count: int, seed: int) -> Vectors:
        """Pictures that are not among the others."""
        return _between(self._pictures, self._near_pictures, count, seed)

    @cached_property
    def _near_pictures(self) -> NDArray[np.int64]:
        return _neighbours(self._pictures)

    @cached_property
    def _near_texts(self) -> NDArray[np.int64]:
        return _neighbours(self._texts)

    def fit(self) -> Iterator[str]:
        """How alike things are, in Flickr8k and among as many that are made."""
        made, said = self.some(len(self._pictures), 7), self.texts(len(self._texts), 8)
        for name, pictures, texts in (("Flickr8k", self._pictures, self._texts), ("made", made, said)):
            near = _nearest(pictures, pictures, 2)[:, 1], _nearest(texts, pictures, 10)[:, 0]
            tenth = _nearest(texts, pictures, 10)[:, 9]
            ends = [np.percentile(values, (5, 50, 95)).round(3).tolist() for values in (*near, tenth)]
            yield f"{name:<9} picture-picture {ends[0]}, text-picture {ends[1]}, text to its tenth {ends[2]}"


def _fitted() -> tuple[Vectors, Vectors]:
    """Pictures and captions in 512 directions, kept in the temporary folder: embedding texts takes a minute."""
    kept = Path(tempfile.gettempdir()) / f"flickr-vectors-{CAPTIONS}.npz"
    if not kept.is_file():
        pictures = read_split(data_folder(), "train").vectors
        lines = (data_folder() / "dev-captions.jsonl").read_text("utf-8").splitlines()
        captions = [caption for line in lines for caption in json.loads(line)["captions"]]
        chosen = np.random.default_rng(0).permutation(len(captions))[:CAPTIONS]
        texts = Photos().texts([captions[at] for at in chosen])
        _, _, directions = np.linalg.svd(np.concatenate([pictures, texts]), full_matrices=False)
        held = [_unit(vectors @ directions[:DIM].T) for vectors in (pictures, texts)]
        np.savez(kept, pictures=held[0], texts=held[1])
    with np.load(kept) as stored:
        return stored["pictures"], stored["texts"]


def _between(vectors: Vectors, near: NDArray[np.int64], count: int, seed: int) -> Vectors:
    rng = np.random.default_rng(seed)
    first = rng.integers(0, len(vectors), count)
    step = vectors[near[first, rng.integers(0, NEIGHBOURS, count)]] - vectors[first]
    others = rng.integers(0, len(vectors), count)
    # Noise is another pair's difference: it has the directions and the size that differences have.
    noise = vectors[near[others, rng.integers(0, NEIGHBOURS, count)]] - vectors[others]
    share = rng.random((count, 1), np.float32)
    return _unit(vectors[first] + share * step + np.float32(NOISE) * noise)


def _neighbours(vectors: Vectors) -> NDArray[np.int64]:
    found = np.empty((len(vectors), NEIGHBOURS), np.int64)
    for at in range(0, len(vectors), 1000):
        scores = vectors[at : at + 1000] @ vectors.T
        found[at : at + 1000] = np.argsort(-scores, axis=1)[:, 1 : NEIGHBOURS + 1]
    return found


def _nearest(queries: Vectors, vectors: Vectors, k: int) -> Vectors:
    return -np.sort(-(queries @ vectors.T), axis=1)[:, :k]


def _unit(rows: Vectors) -> Vectors:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


if __name__ == "__main__":
    for line in FlickrVectors(1_000_000).fit():
        print(line)
