"""Examples for Glimpse that lie in memory: texts as numbers of tokens, and all pictures on the device."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sightline.reason.train.examples import IGNORED, ROUND, TrainBatch
from sightline_world.models.glimpse import ASSISTANT, END, IMAGE, SPECIAL, USER
from sightline_world.models.glimpse_vision import TOKENS


@dataclass(frozen=True, slots=True)
class TrainText:
    """A prompt with `<image>` in it, what is to be said after it, and the numbers of its pictures.

    `more` are further turns of the same talk, each a question and what is to be said to it: a picture that is looked at
    once serves them all.
    """

    prompt: str
    target: str
    pictures: tuple[int, ...] = ()
    more: tuple[tuple[str, str], ...] = ()


class ArrayExamples:
    """Examples for Glimpse that lie in memory, with all pictures on the device: their pixels, or looks at them."""

    def __init__(self, texts: Sequence[TrainText], tokenizer: Any, pictures: Tensor) -> None:
        turns = [((text.prompt, text.target), *text.more) for text in texts]
        asked = _numbers(tokenizer, (f"{USER}{asks}{ASSISTANT}" for talk in turns for asks, _ in talk))
        said = _numbers(tokenizer, (f"{says}{END}" for talk in turns for _, says in talk))
        pairs = iter(zip(asked, said, strict=True))
        talks = [[next(pairs) for _ in talk] for talk in turns]
        self.pictures = pictures
        self.read = np.array([len(talk[0][0]) for talk in talks], np.int64)
        self._tokens = [np.concatenate([part for pair in talk for part in pair]) for talk in talks]
        self._labels = [np.concatenate([part for pair in talk for part in _labelled(*pair)]) for talk in talks]
        self._pictures = [np.array(text.pictures, np.int64) for text in texts]
        self._lengths = np.array([len(ids) for ids in self._tokens], np.int64)
        self._said = np.array([sum(len(says) for _, says in talk) for talk in talks], np.int64)

    def __len__(self) -> int:
        return len(self._tokens)

    @property
    def lengths(self) -> NDArray[np.int64]:
        return self._lengths

    def batch(self, rows: Sequence[int]) -> TrainBatch:
        """Padded on the right and without a mask: what is read never looks right, so padding is never seen."""
        longest = int(self._lengths[list(rows)].max())
        ids = np.zeros((len(rows), -(-longest // ROUND) * ROUND), np.int64)
        labels = np.full_like(ids, IGNORED)
        for at, row in enumerate(rows):
            length = self._lengths[row]
            ids[at, :length] = self._tokens[row]
            labels[at, :length] = self._labels[row]
        whole, said = (int(counts[list(rows)].sum()) for counts in (self._lengths, self._said))
        return TrainBatch({"input_ids": self._moved(ids), **self._seen(rows)}, self._moved(labels), whole, said)

    def prompts(self, rows: Sequence[int]) -> dict[str, Tensor]:
        """Only what is read, padded on the left with a mask, to generate from."""
        longest = int(self.read[list(rows)].max())
        ids = np.zeros((len(rows), longest), np.int64)
        mask = np.zeros_like(ids)
        for at, row in enumerate(rows):
            read = self.read[row]
            ids[at, longest - read :] = self._tokens[row][:read]
            mask[at, longest - read :] = 1
        return {"input_ids": self._moved(ids), "attention_mask": self._moved(mask), **self._seen(rows)}

    def _seen(self, rows: Sequence[int]) -> dict[str, Tensor]:
        pictures = np.concatenate([self._pictures[row] for row in rows])
        if not len(pictures):
            return {}
        some = self.pictures[self._moved(pictures)]
        return {"looks": some} if some.ndim == 3 else {"pixel_values": some.permute(0, 3, 1, 2)}

    def _moved(self, array: NDArray[np.int64]) -> Tensor:
        found = torch.from_numpy(array)
        if self.pictures.device.type == "cuda":
            return found.pin_memory().to(self.pictures.device, non_blocking=True)
        return found


def _labelled(asked: NDArray[np.int32], said: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    return np.full_like(asked, IGNORED), said


def _numbers(tokenizer: Any, texts: Iterable[str]) -> list[NDArray[np.int32]]:
    """Texts as numbers of tokens, each `<image>` as often as a picture has vectors."""
    encoded = tokenizer.backend_tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
    return [_long(np.array(one.ids, np.int32)) for one in encoded]


def _long(ids: NDArray[np.int32]) -> NDArray[np.int32]:
    shown = ids == SPECIAL.index(IMAGE)
    return np.repeat(ids, np.where(shown, TOKENS, 1)) if shown.any() else ids
