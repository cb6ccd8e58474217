"""A model in few small files, for the way between machines: a byte for each weight, and a scale for each row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor

from sightline_world.models.glimpse import GlimpseConfig, GlimpseForConditionalGeneration, GlimpseProcessor, as_fast

_MOST = 15_000_000


def keep(model: GlimpseForConditionalGeneration, tokenizer: Any, folder: Path) -> None:
    """Write config.json, tokenizer.json and weights-N.npz; only matrices are rounded, by 0.4 % of a row's largest."""
    model.config.save_pretrained(folder)
    tokenizer.backend_tokenizer.save(str(folder / "tokenizer.json"))
    files: list[dict[str, Any]] = [{}]
    size = 0
    for name, weight in model.state_dict().items():
        entry = _packed(name, weight.detach().float().cpu())
        bytes_ = sum(array.nbytes for array in entry.values())
        if size + bytes_ > _MOST:
            files.append({})
            size = 0
        files[-1] |= entry
        size += bytes_
    for number, content in enumerate(files, 1):
        np.savez(folder / f"weights-{number}.npz", **content)


def _packed(name: str, weight: Tensor) -> dict[str, Any]:
    if weight.ndim < 2:
        return {name: weight.numpy()}
    rows = weight.flatten(1)
    scale = rows.abs().amax(1, keepdim=True).clamp_min(1e-12) / 127
    return {
        f"{name}|bytes": (rows / scale).round().to(torch.int8).view(weight.shape).numpy(),
        f"{name}|scale": scale.numpy(),
    }


def load(folder: Path, device: str) -> tuple[GlimpseForConditionalGeneration, GlimpseProcessor]:
    """The model and its processor, from what `keep` wrote."""
    weights: dict[str, Tensor] = {}
    for file in sorted(folder.glob("weights-*.npz")):
        arrays = np.load(file)
        for key in arrays.files:
            name, _, kind = key.partition("|")
            if kind == "bytes":
                whole = torch.from_numpy(arrays[key]).float()
                scale = torch.from_numpy(arrays[f"{name}|scale"])
                weights[name] = (whole.flatten(1) * scale).view(whole.shape)
            elif not kind:
                weights[name] = torch.from_numpy(arrays[key])
    model = GlimpseForConditionalGeneration(GlimpseConfig.from_pretrained(folder))
    model.load_state_dict(weights)
    tokenizer = as_fast(Tokenizer.from_file(str(folder / "tokenizer.json")))
    return model.to(device), GlimpseProcessor(tokenizer)
