"""Two views of a picture in one vector: what the trained head makes of it, and the names of what is in it.

The names are those of ImageNet's 1,000 classes: WordNet's lemmas of each, best-known first, as timm lists them. A
picture's vector is half the one view and half the other. A text divides its attention by what it is: one that names
an ImageNet class, or nearly so, is mostly searched by name, where the classifier is strong; a sentence mostly by the
head. Products with a picture's vector are then, up to a factor of the text's own, `(1 − w) · head + w · names`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sightline.class_names import known_as
from sightline.models.photos.classifier import CLASSES
from sightline.models.protocols import Vectors

CLASSES_FILE = Path(__file__).with_name("classes.txt")


@known_as("ClassText")
@dataclass(frozen=True, slots=True)
class ClassText:
    """A text that stands for a class; is it the class's best-known name?"""

    number: int
    text: str
    best_known: bool


@cache
def class_names() -> tuple[tuple[str, ...], ...]:
    """The names of each class, in the order of the classifier's outputs."""
    return tuple(tuple(line.split(", ")) for line in CLASSES_FILE.read_text("utf-8").splitlines())


def class_texts() -> list[ClassText]:
    """Each name of each class, by itself and as people write of photographs, and all its names as they are listed."""
    texts = []
    for number, names in enumerate(class_names()):
        for name in names:
            texts += [ClassText(number, text, name == names[0]) for text in (name, f"a photo of a {name}")]
        if len(names) > 1:
            texts.append(ClassText(number, ", ".join(names), best_known=False))
    return texts


@known_as("Joining")
@dataclass(frozen=True, slots=True)
class Joining:
    """How the two views are weighed; chosen on training pictures held out of training (training/photos/README.md)."""

    temperature: float = 0.4
    "Of the classifier's probabilities: below 1, the likeliest class counts for more."
    sentence: float = 0.1
    "Weight of the names for a text that is near no class."
    name: float = 0.92
    "Weight of the names for a text that is the name of a class."
    near: float = 0.7
    same: float = 0.95
    "Between these cosines to the nearest name, the weight goes from the one to the other."

    def weight(self, likeness: NDArray[np.float32]) -> NDArray[np.float32]:
        """The weight of the names, given each text's cosine to the nearest name."""
        part = np.clip((likeness - self.near) / (self.same - self.near), 0, 1)
        weight: NDArray[np.float32] = self.sentence + (self.name - self.sentence) * part
        return weight


JOINING = Joining()


class Joiner:
    """Makes the vectors; without a head they are of names alone."""

    def __init__(self, class_vectors: NDArray[np.float32], joining: Joining = JOINING) -> None:
        self._joining = joining
        self._texts = class_vectors

    def pictures(self, logits: NDArray[np.float32], head: NDArray[np.float32] | None) -> Vectors:
        """A row for each picture."""
        names = unit(softmax(logits / self._joining.temperature) @ self._classes)
        return names if head is None else unit(np.concatenate([head, names], axis=1))

    @cached_property
    def _classes(self) -> Vectors:
        """Of no use to texts, which are asked for by searches."""
        return _class_vectors(self._texts)

    def texts(self, words: NDArray[np.float32], head: NDArray[np.float32] | None) -> Vectors:
        """A row for each text."""
        if head is None:
            return unit(words)
        weight = self._joining.weight((words @ self._texts.T).max(axis=1, initial=-1.0))[:, None]
        return unit(np.concatenate([(1 - weight) * head, weight * words], axis=1))


def _class_vectors(texts: NDArray[np.float32]) -> Vectors:
    """One vector for each class: half all that it is called, half its best-known name."""
    entries = class_texts()
    numbers = np.array([entry.number for entry in entries])
    best = np.array([entry.best_known for entry in entries])
    called, known = np.zeros((2, CLASSES, texts.shape[1]), np.float32)
    np.add.at(called, numbers, texts)
    np.add.at(known, numbers[best], texts[best])
    return unit(unit(called) + unit(known))


def softmax(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    """Probabilities, row by row."""
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares: NDArray[np.float32] = powers / powers.sum(axis=1, keepdims=True)
    return shares


def unit(rows: NDArray[np.float32]) -> Vectors:
    """Rows at length one."""
    scaled: Vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32, copy=False)
    return scaled
