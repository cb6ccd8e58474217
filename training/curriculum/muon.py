"""Muon: steps of matrices are made orthogonal, so that all directions of a matrix learn as fast; the rest is AdamW.

Keller Jordan's optimiser, with the scale by which Moonshot gave its steps the size of AdamW's. torch.optim.Muon goes
matrix by matrix; here matrices of one shape are done together, which for small models takes a tenth of the launches.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn

from sightline.reason.train.loop import BETAS, TrainSettings

_MOMENTUM = 0.95
_ROUNDS = 5
_A, _B, _C = 3.4445, -4.775, 2.0315
"""Of the polynomial that takes singular values towards 1, as in the original."""
_SIZE = 0.2
"""The usual size of an AdamW step, in learning rates."""


def muon(model: nn.Module, settings: TrainSettings) -> Muon:
    """Muon for the matrices of layers that are repeated; of all else, vectors do not decay."""
    groups: dict[str, list[nn.Parameter]] = {"vectors": [], "matrices": [], "layers": []}
    for name, weight in model.named_parameters():
        if weight.requires_grad:
            within = weight.ndim == 2 and ".layers." in f".{name}"
            groups["vectors" if weight.ndim < 2 else "layers" if within else "matrices"].append(weight)
    found: list[dict[str, Any]] = [
        {"params": groups["matrices"], "weight_decay": settings.decay},
        {"params": groups["vectors"], "weight_decay": 0.0},
        {"params": groups["layers"], "weight_decay": settings.decay, "orthogonal": True},
    ]
    return Muon(found, lr=settings.rate, betas=BETAS)


class Muon(torch.optim.AdamW):
    """AdamW, but for the groups with `orthogonal`, whose weights must be matrices."""

    param_groups: list[dict[str, Any]]

    def __init__(self, groups: Iterable[dict[str, Any]], lr: float, betas: tuple[float, float]) -> None:
        kept = [{"orthogonal": False, **group} for group in groups]
        super().__init__(kept, lr=lr, betas=betas, fused=True)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        whole = self.param_groups
        try:
            self.param_groups = [group for group in whole if not group["orthogonal"]]
            found = super().step(closure)
        finally:
            self.param_groups = whole
        with torch.no_grad():
            for group in whole:
                if group["orthogonal"]:
                    self._orthogonal(group)
        return found

    def _orthogonal(self, group: dict[str, Any]) -> None:
        alike: dict[torch.Size, list[Tensor]] = defaultdict(list)
        for weight in group["params"]:
            if weight.grad is not None:
                alike[weight.shape].append(weight)
        for shape, weights in alike.items():
            gradients = [weight.grad for weight in weights if weight.grad is not None]
            means = [self._mean(weight) for weight in weights]
            torch._foreach_lerp_(means, gradients, 1 - _MOMENTUM)
            ahead = torch._foreach_lerp(gradients, means, _MOMENTUM)
            steps = orthogonal(torch.stack(list(ahead))).to(weights[0].dtype).unbind()
            torch._foreach_mul_(weights, 1 - group["lr"] * group["weight_decay"])
            torch._foreach_add_(weights, steps, alpha=-group["lr"] * _SIZE * max(shape) ** 0.5)

    def _mean(self, weight: Tensor) -> Tensor:
        state = self.state[weight]
        if "mean" not in state:
            state["mean"] = torch.zeros_like(weight)
            state["step"] = torch.zeros(())  # AdamW looks for it in every state that is loaded.
        mean: Tensor = state["mean"]
        return mean


def orthogonal(matrices: Tensor) -> Tensor:
    """Matrices (n, rows, columns) with singular values near 1 in place of their own, by Newton and Schulz's rounds."""
    half = matrices.is_cuda
    x = matrices.bfloat16() if half else matrices.float()
    tall = x.shape[1] > x.shape[2]
    x = x.mT if tall else x
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(_ROUNDS):
        square = x @ x.mT
        x = _A * x + (_B * square + _C * square @ square) @ x
    return x.mT if tall else x
