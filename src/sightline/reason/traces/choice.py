"""Which pictures are asked about: so many of each class, and which of them."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sightline.errors import UserError
from sightline.models.embedders.vector_file import read_vectors
from sightline.reason.traces.questions import PictureSource
from sightline.reason.traces.records import TracePicture

Choose: TypeAlias = Literal["first", "random", "diverse", "hard"]
Vectors: TypeAlias = NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True)
class PictureSelection:
    """How pictures are chosen; `per_class` and `most` of all, which are dealt out over the classes in turn."""

    how: Choose = "first"
    per_class: int | None = None
    most: int | None = None
    vectors: Path | None = None
    seed: int = 0

    def apply(self, source: PictureSource) -> PictureSource:
        """The source with the chosen pictures alone, in its own order."""
        if self.how == "first" and self.per_class is None:
            return source
        classes: dict[str, list[str]] = defaultdict(list)
        for subject in source.subjects():
            classes[class_of(subject)].append(subject.picture)
        if self.how == "hard" and len(classes) == 1 and "" in classes:
            raise UserError("no picture has a class to be typical of.", "give labels, or choose diverse")
        vectors = self._vectors([picture for pictures in classes.values() for picture in pictures])
        ranked = [self._ranked(pictures, vectors)[: self.per_class] for pictures in classes.values()]
        dealt = [picture for turn in zip_longest(*ranked) for picture in turn if picture is not None]
        chosen = frozenset(dealt[: self.most])

        def subjects() -> Iterator[TracePicture]:
            return (subject for subject in source.subjects() if subject.picture in chosen)

        return replace(source, count=len(chosen), subjects=subjects)

    def _vectors(self, pictures: Sequence[str]) -> Mapping[str, Vectors]:
        if self.how in ("first", "random"):
            return {}
        if self.vectors is None:
            raise UserError(
                f'to choose "{self.how}" takes vectors of the pictures.',
                "write them with sightline embed pictures DIR --embedder E --out F.npz, and give --vectors F.npz",
            )
        read = read_vectors(self.vectors)
        found = dict(zip(read.ids.tolist(), read.vectors, strict=True))
        missing = [picture for picture in pictures if picture not in found]
        if missing:
            raise UserError(
                f"{self.vectors} has no vector of {len(missing):,} of {len(pictures):,} pictures, e.g. {missing[0]}.",
                "embed the same folder again",
            )
        return found

    def _ranked(self, pictures: Sequence[str], vectors: Mapping[str, Vectors]) -> list[str]:
        if self.how == "first":
            return list(pictures)
        if self.how == "random":
            return sorted(pictures, key=lambda one: hashlib.blake2b(f"{self.seed}\0{one}".encode()).digest())
        rows = np.stack([vectors[picture] for picture in pictures])
        typical = rows @ rows.mean(0)
        if self.how == "hard":
            return [pictures[place] for place in np.argsort(typical, kind="stable").tolist()]
        most = min(self.most or len(rows), self.per_class or len(rows), len(rows))
        return [pictures[place] for place in _spread(rows, typical, most)]


def class_of(subject: TracePicture) -> str:
    """The synset of a picture, else the first of its labels; empty where nothing is known."""
    return subject.synset or next(iter(subject.known.labels), "")


def _spread(rows: Vectors, typical: Vectors, most: int) -> list[int]:
    """The most typical one, then always the one that is farthest from all that were taken."""
    order = [int(np.argmax(typical))]
    nearest = rows @ rows[order[0]]
    while len(order) < most:
        nearest[order] = np.inf
        order.append(int(np.argmin(nearest)))
        nearest = np.maximum(nearest, rows @ rows[order[-1]])
    return order
