"""The model that is trained: any image-text-to-text model of transformers, or a new Glimpse; whole or by LoRA."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForImageTextToText, AutoProcessor

from sightline.errors import MissingExtraError, UserError
from sightline.train.glimpse import GlimpseForConditionalGeneration, glimpse_config
from sightline.train.glimpse_processor import GlimpseProcessor, learn_tokenizer

NEW = ("glimpse", "glimpse-tiny")
"""Names of models that are made here, with a tokenizer learnt from the texts that they are trained on."""


def open_model(name: str, texts: Iterable[str], *, seed: int = 0) -> tuple[Any, Any]:
    """A model and its processor: a folder, a name that transformers knows, or one of NEW."""
    if name in NEW:
        torch.manual_seed(seed)
        tokenizer = learn_tokenizer(texts)
        model = GlimpseForConditionalGeneration(glimpse_config(len(tokenizer), tiny=name == "glimpse-tiny"))
        return model, GlimpseProcessor(tokenizer)
    try:
        model = AutoModelForImageTextToText.from_pretrained(name, dtype=torch.float32)
        processor = AutoProcessor.from_pretrained(name)
    except (OSError, ValueError) as error:
        why = str(error).strip().splitlines()[0]
        fix = f"give a folder with a vision-language model of transformers, its name, or one of: {', '.join(NEW)}"
        raise UserError(f'the model "{name}" can\'t be opened: {why}', fix) from None
    return model, processor


def with_lora(model: Any, rank: int, base: Path | None = None) -> Any:
    """The model with low-rank weights beside its linear layers, which alone are trained.

    `base` is where the model itself was saved, if it was made here: what is saved of LoRA refers to it.
    """
    try:
        from peft import LoraConfig, get_peft_model
    except ImportError:
        raise MissingExtraError("LoRA", "train") from None
    if base is not None:
        model.name_or_path = str(base.resolve())
    return get_peft_model(model, LoraConfig(r=rank, lora_alpha=2 * rank, target_modules="all-linear"))


def save(model: Any, processor: Any, folder: Path) -> None:
    """Write the model (of LoRA, what was added to it) and its processor as transformers reads them."""
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
