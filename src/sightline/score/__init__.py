"""Metrics, statistics and comparison: pure functions of truth and prediction."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sightline._callable import make_callable

if TYPE_CHECKING:
    from sightline.score.choices.parse import parse_choice

__all__ = ["parse_choice"]

_LAZY = {"parse_choice": "sightline.score.choices.parse"}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'sightline.score' has no attribute {name!r}")


make_callable(__name__)
