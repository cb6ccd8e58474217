"""Lots drawn from names: the same on every machine and in every version, and not changed by what else is there."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

Lots = NDArray[np.uint64]
_STEP, _FIRST, _SECOND = (np.uint64(x) for x in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


def lots_of(names: Iterable[str]) -> Lots:
    """A number for each name."""
    return np.fromiter((_number(name) for name in names), dtype=np.uint64)


def drawn(lots: Lots, label: str) -> Lots:
    """New numbers for a draw with that label; draws with other labels have nothing to do with it."""
    mixed: Lots = lots + np.uint64(_number(label)) + _STEP
    mixed = (mixed ^ (mixed >> np.uint64(30))) * _FIRST
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _SECOND
    return mixed ^ (mixed >> np.uint64(31))


def _number(name: str) -> int:
    return int.from_bytes(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")
