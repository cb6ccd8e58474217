"""How much of a GPU's arithmetic a training used."""

from __future__ import annotations

import torch
from torch import nn

_PEAKS = {"H200": 989e12, "H100": 989e12, "A100": 312e12}
"""Dense bf16 operations a second, by the datasheets of those with SXM sockets."""


def utilisation(model: nn.Module, tokens_per_second: float, gpus: int = 1) -> float | None:
    """The share of the peak that the operations for so many tokens are; None where the peak is not known."""
    peak = peak_of_gpu()
    return None if peak is None else operations(model) * tokens_per_second / (peak * gpus)


def peak_of_gpu() -> float | None:
    """Operations a second that the first GPU could do; None where there is none, or its peak is not known."""
    if not torch.cuda.is_available():
        return None
    return next((peak for name, peak in _PEAKS.items() if name in torch.cuda.get_device_name()), None)


def operations(model: nn.Module) -> int:
    """Operations for a token: two for each weight forward, two back, two more where the weight itself is trained.

    Tables that are only looked up are left out, and so is attention, which adds little to short texts.
    """
    tables = {id(module.weight) for module in model.modules() if isinstance(module, nn.Embedding)}
    weights = [weight for weight in model.parameters() if weight.ndim >= 2 and id(weight) not in tables]
    return sum((6 if weight.requires_grad else 4) * weight.numel() for weight in weights)
