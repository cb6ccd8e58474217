"""Texts to vectors of meaning: word pieces, then MiniLM; each text by itself, on all cores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.errors import MissingExtraError
from sightline.models.photos.encoder import LONGEST, WIDTH
from sightline.models.photos.packages import EXTRA, FEATURE
from sightline.models.photos.session import Network, on_all_cores


@dataclass(frozen=True, slots=True)
class EncodedTexts:
    """A row for each text: its meaning by MiniLM, its place in the trained space if there is one, was it cut?"""

    words: NDArray[np.float32]
    head: NDArray[np.float32] | None
    cut: NDArray[np.bool_]


class TextEncoder:
    """MiniLM with its tokenizer."""

    def __init__(self, tokenizer: Path, network: Path, threads: int | None = None) -> None:
        try:
            from tokenizers import Tokenizer
        except ImportError:
            raise MissingExtraError(FEATURE, EXTRA) from None
        self._tokenizer = Tokenizer.from_file(str(tokenizer))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(LONGEST)
        self._network = Network(network)
        self._threads = threads

    def __call__(self, texts: Sequence[str]) -> EncodedTexts:
        pieces = self._tokenizer.encode_batch([text.strip() for text in texts])
        found = on_all_cores(self._run, pieces, self._threads)
        cut = np.array([bool(piece.overflowing) for piece in pieces], dtype=bool)
        if not found:
            return EncodedTexts(np.zeros((0, WIDTH), np.float32), None, cut)
        words = np.concatenate([outputs["words"] for outputs in found])
        head = np.concatenate([outputs["head"] for outputs in found]) if "head" in found[0] else None
        return EncodedTexts(words, head, cut)

    def _run(self, pieces: Any) -> dict[str, NDArray[np.float32]]:
        return self._network(np.array(pieces.ids, np.int64))
