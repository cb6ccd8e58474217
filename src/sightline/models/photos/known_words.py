"""Words that `photos` knows by heart: the chance that people would use one of a picture.

Each is a logistic regression on the classifier's features that was fitted on captions of Flickr8k's training
photographs (training/photos/words.py). That is stronger than comparing a word with a picture in the space of the
embedder, and the chances hold as they are where pictures are like those. For any other word there is the embedder.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

WORDS_FILE = Path(__file__).with_name("words.npz")
"""Made by training/photos/words.py."""


@dataclass(frozen=True)
class KnownWords:
    """A row of weights and a bias for each word."""

    words: tuple[str, ...]
    weights: NDArray[np.float32]
    bias: NDArray[np.float32]

    def chances(self, pooled: NDArray[np.float32]) -> NDArray[np.float64]:
        """The chance that two of five people who describe the picture would use the word: pictures × words."""
        scores = pooled.astype(np.float64) @ self.weights.T + self.bias
        chances: NDArray[np.float64] = 1 / (1 + np.exp(-scores))
        return chances

    def column(self, word: str) -> int | None:
        """The place of a word; None for one that is not known."""
        return self.words.index(word) if word in self.words else None


@cache
def known_words() -> KnownWords:
    """Those that are shipped."""
    with np.load(WORDS_FILE, allow_pickle=False) as file:
        return KnownWords(tuple(file["words"].tolist()), file["weights"].astype(np.float32), file["bias"])
