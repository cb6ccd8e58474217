"""Muon beside torch's own, and what its rounds do to a matrix."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

sys.path.insert(0, str(Path(__file__).parents[2] / "training/curriculum"))

from muon import Muon, orthogonal


@pytest.mark.parametrize("shape", [(3, 16, 48), (2, 48, 16), (1, 32, 32)])
def test_all_directions_of_a_step_are_about_as_long(shape: tuple[int, int, int]) -> None:
    torch.manual_seed(0)
    matrices = torch.randn(shape) * torch.logspace(0, -1, shape[2])
    found = orthogonal(matrices)
    assert found.shape == matrices.shape
    lengths = torch.linalg.svdvals(found)
    assert lengths.min() > 0.5 and lengths.max() < 1.5
    assert torch.linalg.svdvals(matrices).max() > 4 * torch.linalg.svdvals(matrices).min()


def test_it_goes_where_torchs_own_goes() -> None:
    torch.manual_seed(0)
    ours, theirs = (nn.Sequential(nn.Linear(24, 24, bias=False), nn.Linear(24, 40, bias=False)) for _ in range(2))
    theirs.load_state_dict(ours.state_dict())
    before = [weight.detach().clone() for weight in ours.parameters()]
    group = {"params": list(ours.parameters()), "weight_decay": 0.1, "orthogonal": True}
    optimisers = [
        Muon([group], lr=0.02, betas=(0.9, 0.98)),
        torch.optim.Muon(theirs.parameters(), lr=0.02, weight_decay=0.1, adjust_lr_fn="match_rms_adamw"),
    ]
    for _ in range(4):
        inputs, wanted = torch.randn(64, 24), torch.randn(64, 40)
        for model, optimiser in zip((ours, theirs), optimisers, strict=True):
            optimiser.zero_grad()
            (model(inputs) - wanted).square().mean().backward()
            optimiser.step()
    for first, mine, other in zip(before, ours.parameters(), theirs.parameters(), strict=True):
        # Theirs rounds to bfloat16 on a processor, ours does not.
        assert (mine - other).norm() < 0.05 * (other - first).norm()


def test_vectors_are_left_to_adamw() -> None:
    torch.manual_seed(0)
    ours, theirs = nn.Linear(8, 4), nn.Linear(8, 4)
    theirs.load_state_dict(ours.state_dict())
    groups: list[dict[str, Any]] = [{"params": [ours.bias]}, {"params": [ours.weight], "orthogonal": True}]
    optimisers = (
        Muon(groups, lr=0.01, betas=(0.9, 0.98)),
        torch.optim.AdamW([theirs.bias], lr=0.01, betas=(0.9, 0.98)),
    )
    weight = ours.weight.detach().clone()
    for model, optimiser in zip((ours, theirs), optimisers, strict=True):
        model(torch.ones(2, 8)).square().mean().backward()
        optimiser.step()
    assert torch.equal(ours.bias, theirs.bias)
    assert not torch.equal(ours.weight, weight)
