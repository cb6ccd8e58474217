"""Metrics, statistics and comparison: pure functions of truth and prediction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sightline.lazy import later

if TYPE_CHECKING:
    from sightline.metrics.choices.parse import parse_choice

__all__ = ["parse_choice"]

_LAZY = {"parse_choice": "sightline.metrics.choices.parse"}

__getattr__, __dir__ = later(__name__, _LAZY)
