"""The arithmetic of a training, counted from its weights."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from sightline.reason.train.trainer import operations, utilisation


def _model() -> nn.Sequential:
    return nn.Sequential(nn.Embedding(50, 8), nn.Linear(8, 16), nn.Linear(16, 4, bias=False))


def test_operations_are_six_for_a_trained_weight_and_four_for_a_frozen_one() -> None:
    model = _model()
    assert operations(model) == 6 * (8 * 16 + 16 * 4)
    model[1].weight.requires_grad_(False)
    assert operations(model) == 4 * 8 * 16 + 6 * 16 * 4


def test_the_share_of_the_peak_is_that_of_all_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "NVIDIA H200")
    model = _model()
    speed = 989e12 / operations(model) / 4
    assert utilisation(model, speed) == pytest.approx(0.25)
    assert utilisation(model, speed, gpus=2) == pytest.approx(0.125)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "Some other GPU")
    assert utilisation(model, speed) is None


def test_a_processor_has_no_known_peak(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert utilisation(_model(), 1e6) is None
