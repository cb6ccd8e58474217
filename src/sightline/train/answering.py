"""What a trained model says: its own words after a prompt, and the option that they choose."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from sightline.score.choices.parse import parse_choice

NONE = "-"
"""Stands for an answer from which no option can be read."""


@contextmanager
def untracked() -> Iterator[None]:
    """No gradients, and nothing compiled: what grows by a token at a time would be compiled again and again."""
    with torch.no_grad(), torch.compiler.set_stance("force_eager"):
        yield


def said(model: Any, tokenizer: Any, inputs: dict[str, Tensor], most: int, *, half: bool = True) -> list[str]:
    """What the model says after each prompt (padded on the left), the likeliest token each time."""
    device = next(model.parameters()).device
    moved = {name: value.to(device) for name, value in inputs.items()}
    with untracked(), torch.autocast(device.type, torch.bfloat16, enabled=half):
        found = model.generate(**moved, max_new_tokens=most, do_sample=False, pad_token_id=tokenizer.pad_token_id)
    new = found[:, moved["input_ids"].shape[1] :]
    texts: list[str] = tokenizer.batch_decode(new, skip_special_tokens=True)
    return texts


def letter(text: str, options: Mapping[str, str] | Sequence[str] = "ABCD") -> str:
    """The option that a text concludes with, by its key or, where it is known, its text; or NONE.

    It is read from what follows the last "Conclusion:", or from all of it.
    """
    known = options if isinstance(options, Mapping) else dict.fromkeys(options, "")
    return parse_choice(text.rsplit("Conclusion:", 1)[-1], known).option or NONE
