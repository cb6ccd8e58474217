"""The model that is trained: any image-text-to-text model of transformers, or a new Glimpse; whole or by LoRA."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import torch
from huggingface_hub import constants
from huggingface_hub.errors import LocalEntryNotFoundError
from safetensors import SafetensorError
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForImageTextToText,
    AutoProcessor,
    AutoTokenizer,
    ProcessorMixin,
)
from transformers.utils.logging import disable_progress_bar
from transformers.utils.peft_utils import find_adapter_config_file

from sightline import plugins
from sightline.errors import UserError, needs_extra
from sightline.reason.train.checkpoint import AGAIN

BASE = "base"
"""The folder beside `model`, for a model that low-rank weights stand beside and that is nowhere else."""
_LATEST = "main"
"""The revision of the hub where none is named."""

disable_progress_bar()  # Bars of transformers would stand among the lines of a training.


@contextmanager
def offline() -> Iterator[None]:
    """Let nothing within the block ask the hub; what was fetched before is found."""
    before = constants.HF_HUB_OFFLINE
    constants.HF_HUB_OFFLINE = True  # Not every call of transformers and peft can be told; all heed this.
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = before


def open_model(name: str, texts: Iterable[str], *, seed: int = 0) -> tuple[Any, Any]:
    """A model and its processor: a folder, a name that transformers knows, or one that a plug-in makes."""
    makers = _new_models()
    if is_new(name):
        torch.manual_seed(seed)
        found: tuple[Any, Any] = makers[name](texts)
        return found
    try:
        config = find_adapter_config_file(name)
        return (_whole(name), AutoProcessor.from_pretrained(name)) if config is None else _merged(name, Path(config))
    except (OSError, ValueError) as error:
        new = ", ".join(makers) or "none; sightline-world brings glimpse"
        fix = f"give a folder with a vision-language model of transformers, its name, or a new one ({new})"
        raise UserError(f'the model "{name}" can\'t be opened: {why_not(error)}', fix) from None


@cache
def _new_models() -> dict[str, Callable[[Iterable[str]], tuple[Any, Any]]]:
    """Makers of new models by name; opening a plug-in makes its classes known to transformers, for saved ones too."""
    return {name: opened() for name, opened in plugins.load_all("trainable").items()}


def is_new(name: str) -> bool:
    """Is this a model that is made here, with a tokenizer learnt from the texts that it is trained on?"""
    if plugins.is_elsewhere("trainable", name):
        raise plugins.unknown("trainable", name, "")
    return plugins.find("trainable", name) is not None


def open_any(name: str) -> tuple[Any, Any]:
    """Any model of transformers and what reads for it, one without eyes, or what LoRA added to one, too."""
    if is_adapter(name):
        return open_model(name, ())
    _new_models()
    config = AutoConfig.from_pretrained(name)
    sees = type(config) in AutoModelForImageTextToText._model_mapping
    kind = AutoModelForImageTextToText if sees else AutoModelForCausalLM
    reader = AutoProcessor if sees else AutoTokenizer
    model = kind.from_pretrained(name, dtype="auto", use_safetensors=True)
    return model, reader.from_pretrained(name)


def why_not(error: OSError | ValueError) -> str:
    """Why a model can't be opened, in a line."""
    if constants.HF_HUB_OFFLINE and isinstance(error.__cause__, LocalEntryNotFoundError):
        return "some of its files are not on this machine, and --local-only (or HF_HUB_OFFLINE) allows no download"
    return str(error).strip().splitlines()[0]


def is_adapter(name: str) -> bool:
    """Is this, in a folder or on the hub, what LoRA added to a model, and not the model itself?"""
    return find_adapter_config_file(name) is not None


def _whole(name: str, revision: str = _LATEST) -> Any:
    """The model itself; a folder by its absolute path, for what LoRA adds refers to it and may be opened elsewhere."""
    place = str(Path(name).resolve()) if Path(name).is_dir() else name
    return AutoModelForImageTextToText.from_pretrained(place, revision=revision, dtype=torch.float32)


def _merged(name: str, config: Path) -> tuple[Any, Any]:
    """A model with what LoRA added to it in its weights, and its processor.

    The base of a folder's adapter may have been moved together with the folder; one of the hub may have been another
    when the adapter was trained, whose `revision` is named then.
    """
    with needs_extra("LoRA", "train"):
        from peft import PeftModel
    beside = Path(name).parent / BASE
    is_moved = Path(name).is_dir() and beside.is_dir()
    settings = json.loads(config.read_text("utf-8"))
    base = str(beside) if is_moved else settings.get("base_model_name_or_path")
    if not base:
        raise ValueError(f"{config} does not say which model it was added to")
    revision = settings.get("revision") or _LATEST
    model = _whole(base, revision)
    trained = {part for part, weight in model.named_parameters() if weight.requires_grad}
    merged = PeftModel.from_pretrained(model, name).merge_and_unload()
    for part, weight in merged.named_parameters():  # Low-rank weights have frozen all others.
        weight.requires_grad_(part in trained)
    return merged, _processor(name, base, revision)


def _processor(adapter: str, base: str, revision: str) -> Any:
    """That of an adapter; many have none, or only its tokenizer: then that of the model which they were added to."""
    try:
        found = AutoProcessor.from_pretrained(adapter)
    except (OSError, ValueError):
        found = None
    return found if isinstance(found, ProcessorMixin) else AutoProcessor.from_pretrained(base, revision=revision)


def with_lora(model: Any, rank: int, base: Path | None = None) -> Any:
    """The model with low-rank weights beside its linear layers, which alone are trained.

    `base` is where the model itself was saved, if it is nowhere else: what is saved of LoRA refers to it.
    """
    with needs_extra("LoRA", "train"):
        from peft import LoraConfig, get_peft_model
    if base is not None:
        model.name_or_path = str(base.resolve())
    return get_peft_model(model, LoraConfig(r=rank, lora_alpha=2 * rank, target_modules="all-linear"))


def save(model: Any, processor: Any, folder: Path) -> None:
    """Write the model (of LoRA, what was added to it) and its processor as transformers reads them."""
    try:
        model.save_pretrained(folder)
    except SafetensorError as error:
        why = str(error).rpartition("I/O error: ")[2]
        raise UserError(f"{folder} can't be written: {why}.", f"make room, and {AGAIN}") from error
    processor.save_pretrained(folder)
