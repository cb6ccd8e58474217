"""Texts as a model reads them: token numbers of one length, and a note of which texts were cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sightline.errors import MissingExtraError, UserError

_ENDLESS = 100_000
"""A `model_max_length` above this means "no limit stated"."""


class Tokenised(NamedTuple):
    """Token numbers and their mask, one row for each text; `cut` tells the texts that were too long."""

    ids: NDArray[np.int64]
    mask: NDArray[np.int64]
    cut: NDArray[np.bool_]


class Tokens:
    """The tokenizer of a model; `limit` is the longest text in tokens, special ones included."""

    def __init__(self, path: Path, settings: Mapping[str, Any], limit: int) -> None:
        try:
            from tokenizers import Tokenizer
        except ImportError:
            raise MissingExtraError("reading texts with a tokenizer.json", "onnx") from None
        try:
            self._tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # The package raises bare exceptions for any fault of the file.
            raise UserError(f"{path} is no tokenizer: {error}.", "is the file whole?") from None
        self.limit = limit
        self._pad = _pad_id(self._tokenizer, settings)
        # In tokenizer.json too, as a rule; where it is not, this is where it is said.
        self._lower = bool(settings.get("do_lower_case", False))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(limit)

    def __call__(self, texts: Sequence[str], length: int | None = None) -> Tokenised:
        """All texts at the length of the longest, or at `length`."""
        words = [text.lower() for text in texts] if self._lower else list(texts)
        found = self._tokenizer.encode_batch_fast(words)
        columns = length or max((len(text.ids) for text in found), default=0)
        ids = np.full((len(found), columns), self._pad, dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, text in enumerate(found):
            ids[row, : len(text.ids)] = text.ids
            mask[row, : len(text.ids)] = 1
        return Tokenised(ids, mask, np.array([bool(text.overflowing) for text in found], dtype=bool))


def text_limit(settings: Mapping[str, Any], config: Mapping[str, Any], fixed: int | None) -> int | None:
    """The longest text in tokens: what the graph is fixed to, else what the tokenizer or the model states."""
    inner = config.get("text_config")
    positions = inner.get("max_position_embeddings") if isinstance(inner, Mapping) else None
    for limit in (fixed, settings.get("model_max_length"), positions, config.get("context_length")):
        if isinstance(limit, int | float) and 0 < limit < _ENDLESS:
            return int(limit)
    return None


def _pad_id(tokenizer: Any, settings: Mapping[str, Any]) -> int:
    if tokenizer.padding is not None:
        return int(tokenizer.padding["pad_id"])
    token = settings.get("pad_token")
    word = token.get("content") if isinstance(token, Mapping) else token
    found = tokenizer.token_to_id(word) if isinstance(word, str) else None
    return 0 if found is None else int(found)
