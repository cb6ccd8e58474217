"""Training examples: token ids, how many of them are only read, and the pictures between them.

Records are encoded by the model's own processor: Qwen-VL's, LLaVA's or Glimpse's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image, ImageOps
from torch import Tensor
from torch.nn import functional

from sightline.corpus.pixels import as_rgb
from sightline.errors import UserError
from sightline.reason.train.records import IMAGE_MARK, TrainRecord

IGNORED = -100
"""The label of tokens that carry no loss."""
ROUND = 64
"""Lengths of batches are multiples of this, so that few shapes are compiled."""


@dataclass(frozen=True, slots=True)
class TrainBatch:
    """What the model takes, the labels (IGNORED without loss); how many tokens are not padding, how many are said."""

    inputs: dict[str, Tensor]
    labels: Tensor
    tokens: int
    said: int


class TrainExamples(Protocol):
    """Something with many examples, of which batches can be had by number."""

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Tokens of each example, those of its pictures included; an estimate will do."""
        ...

    def batch(self, rows: Sequence[int]) -> TrainBatch:
        """Some of them, ready for the model."""
        ...


class RecordExamples:
    """Records that are read and encoded when their turn comes: memory does not grow with their pictures."""

    def __init__(self, records: Sequence[TrainRecord], processor: Any) -> None:
        self._records, self._processor = records, processor
        # Where a model reads from left to right alone, padding on the right needs no mask, and attention is faster.
        self._masked = getattr(processor, "needs_mask", True)
        self._lengths: NDArray[np.int64] | None = None

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Exact where all pictures take as many tokens; otherwise an estimate from the first one."""
        if self._lengths is None:
            texts = [prompt_of(record, self._processor) + record.target for record in self._records]
            words = self._processor.tokenizer(texts, add_special_tokens=False)["input_ids"]
            each = self._picture_tokens()
            counts = [len(ids) + each * len(one.images) for ids, one in zip(words, self._records, strict=True)]
            self._lengths = np.array(counts, np.int64) + 1
        return self._lengths

    def _picture_tokens(self) -> int:
        """Tokens that a picture takes beyond its placeholder."""
        shown = next((record for record in self._records if record.images), None)
        if shown is None:
            return 0
        prompt = prompt_of(shown, self._processor)
        short = self._processor.tokenizer([prompt], add_special_tokens=False)["input_ids"][0]
        whole = int(encoded(shown, self._processor)["input_ids"].shape[1])
        return (whole - len(short)) // len(shown.images)

    def batch(self, rows: Sequence[int]) -> TrainBatch:
        return joined([self._records[row] for row in rows], self._processor, masked=self._masked)


def prompt_of(record: TrainRecord, processor: Any) -> str:
    """All but the last message, as the model's own template writes it, up to where the assistant begins."""
    messages = [{"role": one["role"], "content": _parts(one["content"])} for one in record.messages[:-1]]
    text: str = processor.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
    return text


def _parts(content: str) -> list[dict[str, str]]:
    parts: list[dict[str, str]] = []
    for number, words in enumerate(content.split(IMAGE_MARK)):
        if number:
            parts.append({"type": "image"})
        if words:
            parts.append({"type": "text", "text": words})
    return parts


def encoded(record: TrainRecord, processor: Any) -> dict[str, Tensor]:
    """The prompt of a record with its pictures, by the processor."""
    images = [opened(image) for image in record.images]
    found = processor(text=[prompt_of(record, processor)], images=images or None, return_tensors="pt")
    return {name: value for name, value in found.items() if isinstance(value, Tensor)}


def opened(file: Any) -> Image.Image:
    """A picture as models are shown it elsewhere: upright, on white, of eight bits."""
    try:
        with Image.open(file) as image:
            return as_rgb(ImageOps.exif_transpose(image))
    except (OSError, SyntaxError) as error:  # It was whole when the training began.
        raise UserError(
            f"{file}: this picture can't be read: {error}.", "put it back, and continue with --resume"
        ) from None


def joined(records: Sequence[TrainRecord], processor: Any, *, masked: bool) -> TrainBatch:
    """Records as one batch, padded on the right; only what the assistant says last, and its end, has a loss."""
    tokenizer = processor.tokenizer
    prompts = [encoded(record, processor) for record in records]
    ends = torch.tensor([[tokenizer.eos_token_id]])
    said = [
        torch.cat([tokenizer(one.target, add_special_tokens=False, return_tensors="pt")["input_ids"].long(), ends], 1)
        for one in records
    ]
    read = [prompt["input_ids"].shape[1] for prompt in prompts]
    whole = [before + after.shape[1] for before, after in zip(read, said, strict=True)]
    width = -(-max(whole) // ROUND) * ROUND
    ids = [torch.cat([prompt["input_ids"], after], 1) for prompt, after in zip(prompts, said, strict=True)]
    inputs = {"input_ids": _padded(ids, width, tokenizer.pad_token_id or 0)}
    if masked:
        inputs["attention_mask"] = _padded([torch.ones_like(one) for one in ids], width, 0)
    inputs |= _rest(prompts, width)
    labels = [torch.cat([torch.full((1, n), IGNORED), after], 1) for n, after in zip(read, said, strict=True)]
    return TrainBatch(inputs, _padded(labels, width, IGNORED), sum(whole), sum(after.shape[1] for after in said))


def _rest(prompts: Sequence[Mapping[str, Tensor]], width: int) -> dict[str, Tensor]:
    """What else the processor gives: one number for each token is padded, anything of pictures is put in a row."""
    found: dict[str, Tensor] = {}
    for name in {name for prompt in prompts for name in prompt} - {"input_ids", "attention_mask"}:
        parts = [prompt[name] for prompt in prompts if name in prompt]
        by_token = all(prompt[name].shape == prompt["input_ids"].shape for prompt in prompts if name in prompt)
        found[name] = _padded(parts, width, 0) if by_token else torch.cat(parts)
    return found


def _padded(rows: Sequence[Tensor], width: int, value: int) -> Tensor:
    return torch.cat([functional.pad(row, (0, width - row.shape[1]), value=value) for row in rows])


def prompts(records: Sequence[TrainRecord], processor: Any) -> dict[str, Tensor]:
    """Only what is read, padded on the left with a mask, to generate from."""
    found = [encoded(record, processor) for record in records]
    width = max(one["input_ids"].shape[1] for one in found)
    pad = processor.tokenizer.pad_token_id or 0
    inputs: dict[str, Tensor] = {}
    for name in {name for one in found for name in one}:
        parts = [one[name] for one in found if name in one]
        by_token = all(one[name].shape == one["input_ids"].shape for one in found if name in one)
        value = pad if name == "input_ids" else 0
        left = (functional.pad(part, (width - part.shape[1], 0), value=value) for part in parts)
        inputs[name] = torch.cat(list(left)) if by_token else torch.cat(parts)
    return inputs
