"""How good a trace is, from the parts that could be checked."""

from __future__ import annotations

from collections.abc import Mapping

WEIGHTS: Mapping[str, float] = {
    "grounding": 3.0,
    "facts": 3.0,
    "label": 2.0,
    "caption": 1.0,
    "agreement": 1.0,
    "thinking": 1.0,
    "variety": 1.0,
}
"""grounding: claims that who looked at the picture supports / claims judged. facts, caption, label: see `truths`.
agreement: mean share of claims that another teacher made too, less a quarter for each contradiction.
thinking: 1 with thinking of at least 8 words, else 0. variety: 1 − share of repeated 8-grams."""


def quality_of(parts: Mapping[str, float]) -> float:
    """Σ weight · part / Σ weight, over the parts that are known; each part is between 0 and 1."""
    total = sum(WEIGHTS[name] for name in parts)
    return sum(WEIGHTS[name] * value for name, value in parts.items()) / total if total else 0.0
