"""The eye that Glimpse is given: the trunk of the reader in training/world, which finds what stands in a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from sightline_world.models.glimpse import GlimpseForConditionalGeneration
from sightline_world.models.glimpse_vision import HUES, waves
from sightline_world.scene import SCENE_COLOURS, SCENE_KINDS

EPSILON = 1e-5
"""Of torch's batch norms."""


def give_eye(model: GlimpseForConditionalGeneration, reader: Path) -> None:
    """Put the weights of a reader (reader.pt, as training/world writes it) into the trunk of a model's eye."""
    kept = {name: value.float() for name, value in torch.load(reader, map_location="cpu", weights_only=True).items()}
    weights: dict[str, Tensor] = {}
    for name in model.eye.trunk.state_dict():
        if name.startswith("box_head"):
            weights[name] = kept[name.replace("box_head", "rest_head")][:4]
        elif name.startswith("hue_head"):
            weights[name] = kept[name.replace("hue_head", "rest_head")][4 : 4 + HUES]
        elif name.startswith("heat_head"):
            weights[name] = kept[name]
        else:
            weights[name] = _folded(kept, name)
    model.eye.trunk.load_state_dict(weights)


def name_things(model: GlimpseForConditionalGeneration, tokenizer: Any) -> None:
    """Let what the trunk takes a thing for begin as the words for it: what is asked for by name is then like it."""
    words = [*SCENE_KINDS, "person", "sign", *SCENE_COLOURS]
    embedded = model.get_input_embeddings().weight
    with torch.no_grad():
        for number, word in enumerate(words):
            pieces = tokenizer(f" {word}", add_special_tokens=False)["input_ids"]
            model.names.weight[:, number] = embedded[pieces].sum(0)
        # So that they are not drowned at first by what else is seen.
        model.projector[2].weight.mul_(0.2)
        model.features.weight.mul_(0.2)


def order_numbers(model: GlimpseForConditionalGeneration, tokenizer: Any) -> None:
    """Let numbers of two digits begin in their order, read or said, and places be as large as the words for them."""
    numbers = waves(torch.arange(100)[:, None] / 100)
    known = [model.get_input_embeddings().weight, model.get_output_embeddings().weight]
    spread = torch.randn(numbers.shape[1], known[0].shape[1]) * model.config.initializer_range
    ordered = numbers @ spread / numbers.norm(dim=1, keepdim=True)
    with torch.no_grad():
        model.places.weight.normal_(0.0, 2 * model.config.initializer_range)  # Of each of four sides.
        for number in range(100):
            for text in (f"{number}", f" {number}"):
                pieces = tokenizer(text, add_special_tokens=False)["input_ids"]
                if len(pieces) == 1:
                    for weight in known:
                        weight[pieces[0]] = 0.3 * weight[pieces[0]] + ordered[number]


def _folded(kept: dict[str, Tensor], name: str) -> Tensor:
    """The weight or bias of a convolution together with the norm that follows it."""
    conv, _, part = name.rpartition(".")
    norm = f"{conv[:-1]}1"  # Both are in a row: "….0" is the convolution, "….1" its norm.
    scale = kept[f"{norm}.weight"] / (kept[f"{norm}.running_var"] + EPSILON).sqrt()
    if part == "weight":
        return kept[name] * scale[:, None, None, None]
    return kept[f"{norm}.bias"] - kept[f"{norm}.running_mean"] * scale
