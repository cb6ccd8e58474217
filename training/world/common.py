"""What the parts of the training share: drawn pictures on the device, the clock, weights that are averaged and kept."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
SEED = 7


class Pictures:
    """Drawn pictures and their truth, on the device."""

    def __init__(self, folder: Path) -> None:
        truth = np.load(folder / "truth.npz")
        wide, high = (int(n) for n in truth["size"])
        self.count = len(truth["things"])
        drawn = np.memmap(folder / "pictures.u8", np.uint8, "r", shape=(self.count, high, wide, 3))
        self.pixels = torch.empty((self.count, high, wide, 3), dtype=torch.uint8, device=DEVICE)
        for at in range(0, self.count, 4096):
            self.pixels[at : at + 4096] = torch.from_numpy(drawn[at : at + 4096].copy()).to(DEVICE)
        self.truth = {name: torch.from_numpy(truth[name]).to(DEVICE) for name in truth.files if name != "size"}

    def batch(self, rows: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Pixels (padded to multiples of 32), things, place and light."""
        x = self.pixels[rows].permute(0, 3, 1, 2).float() / 255
        return pad(x), self.truth["things"][rows].float(), self.truth["whole"][rows].long()


def pad(x: Tensor) -> Tensor:
    high, wide = -x.shape[2] % 32, -x.shape[3] % 32
    return F.pad(x, (0, wide, 0, high), value=0.5)


class Average:
    """A moving average of a model's weights, which is what is kept."""

    def __init__(self, model: nn.Module, keep: float = 0.997) -> None:
        self.model, self.keep = copy.deepcopy(model).eval(), keep
        self.steps = 0

    @torch.no_grad()
    def update(self, model: nn.Module) -> None:
        self.steps += 1
        keep = min(self.keep, 1 - 1 / self.steps)
        pairs = list(zip(self.model.state_dict().values(), model.state_dict().values(), strict=True))
        floats = [(mine, other) for mine, other in pairs if mine.is_floating_point()]
        torch._foreach_lerp_([mine for mine, _ in floats], [other for _, other in floats], 1 - keep)
        for mine, other in pairs:
            if not mine.is_floating_point():
                mine.copy_(other)


def schedule(optimiser: torch.optim.Optimizer, share: float, peak: float) -> None:
    """Warm up over the first 3 %, then down along a cosine."""
    rate = peak * min(1.0, share / 0.03) * (0.5 + 0.5 * math.cos(math.pi * min(1.0, share)))
    for group in optimiser.param_groups:
        group["lr"] = max(rate, 1e-6)


def shares(seconds: float, steps: int | None) -> Iterator[float]:
    """How far along each step is, until the time or the steps are over."""
    started, done = time.monotonic(), 0
    while True:
        share = done / steps if steps else (time.monotonic() - started) / seconds
        if share >= 1:
            return
        yield share
        done += 1


def keep(model: nn.Module, file: Path) -> None:
    """Write the weights in half precision."""
    torch.save({k: v.half() if v.is_floating_point() else v for k, v in model.state_dict().items()}, file)


def load(model: nn.Module, file: Path) -> nn.Module:
    """The model with weights from a file, ready to be used."""
    kept = torch.load(file, map_location=DEVICE)
    model.load_state_dict({k: v.float() if v.is_floating_point() else v for k, v in kept.items()})
    return model.to(DEVICE).eval()
