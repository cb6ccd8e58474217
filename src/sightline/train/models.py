"""The model that is trained: any image-text-to-text model of transformers, or a new Glimpse; whole or by LoRA."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForImageTextToText, AutoProcessor
from transformers.utils.logging import disable_progress_bar

from sightline.errors import MissingExtraError, UserError
from sightline.train.glimpse import GlimpseForConditionalGeneration, glimpse_config
from sightline.train.glimpse_processor import GlimpseProcessor, learn_tokenizer

NEW = ("glimpse", "glimpse-tiny")
"""Names of models that are made here, with a tokenizer learnt from the texts that they are trained on."""
BASE = "base"
"""The folder beside `model`, for a model that low-rank weights stand beside and that is nowhere else."""
_ADAPTER = "adapter_config.json"

disable_progress_bar()  # Bars of transformers would stand among the lines of a training.


def open_model(name: str, texts: Iterable[str], *, seed: int = 0) -> tuple[Any, Any]:
    """A model and its processor: a folder, a name that transformers knows, or one of NEW."""
    if name in NEW:
        torch.manual_seed(seed)
        tokenizer = learn_tokenizer(texts)
        model = GlimpseForConditionalGeneration(glimpse_config(len(tokenizer), tiny=name == "glimpse-tiny"))
        return model, GlimpseProcessor(tokenizer)
    try:
        model = _merged(Path(name)) if is_adapter(name) else _whole(name)
        processor = AutoProcessor.from_pretrained(name)
    except (OSError, ValueError) as error:
        why = str(error).strip().splitlines()[0]
        fix = f"give a folder with a vision-language model of transformers, its name, or one of: {', '.join(NEW)}"
        raise UserError(f'the model "{name}" can\'t be opened: {why}', fix) from None
    return model, processor


def is_adapter(name: str) -> bool:
    """Is this a folder with what LoRA added to a model, and not the model itself?"""
    return (Path(name) / _ADAPTER).is_file()


def _whole(name: str) -> Any:
    return AutoModelForImageTextToText.from_pretrained(name, dtype=torch.float32)


def _merged(folder: Path) -> Any:
    """A model with what LoRA added to it in its weights; its base may have been moved together with the folder."""
    try:
        from peft import PeftModel
    except ImportError:
        raise MissingExtraError("LoRA", "train") from None
    named = json.loads((folder / _ADAPTER).read_text("utf-8"))["base_model_name_or_path"]
    beside = folder.parent / BASE
    model = _whole(str(beside if beside.is_dir() else named))
    trained = {name for name, weight in model.named_parameters() if weight.requires_grad}
    merged = PeftModel.from_pretrained(model, folder).merge_and_unload()
    for name, weight in merged.named_parameters():  # Low-rank weights have frozen all others.
        weight.requires_grad_(name in trained)
    return merged


def with_lora(model: Any, rank: int, base: Path | None = None) -> Any:
    """The model with low-rank weights beside its linear layers, which alone are trained.

    `base` is where the model itself was saved, if it is nowhere else: what is saved of LoRA refers to it.
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
