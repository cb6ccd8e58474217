"""How long a system took, from the ledger of its run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sightline.types import LedgerEntry

ATTEMPT = "run"
"""The stage of the ledger that times an attempt at a task."""
INDEX, INDEX_FROM_CACHE = "index", "index-from-cache"
"""Stages that time building an index; the second when some of its vectors had been made before."""


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds of the `n` attempts that answered: percentiles, linear between the two nearest; None when there is none.

    `index` is the time that building took, None when an index that was there already was used, or there is none;
    `index_is_whole` is false where vectors came from the cache.
    """

    n: int = 0
    p50: float | None = None
    p90: float | None = None
    p99: float | None = None
    slowest: float | None = None
    index: float | None = None
    index_is_whole: bool = True

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("n", "p50", "p90", "p99", "slowest")}


def latency_of(ledger: Iterable[LedgerEntry]) -> Latency:
    """Add a ledger up; what failed is left out, because giving up early is not being fast."""
    times: list[float] = []
    index: list[float] = []
    whole = True
    for entry in ledger:
        if entry.seconds is None:
            continue
        if entry.stage == ATTEMPT and entry.task_id is not None and entry.ok:
            times.append(entry.seconds)
        elif entry.stage in (INDEX, INDEX_FROM_CACHE):
            index.append(entry.seconds)
            whole &= entry.stage == INDEX
    built = sum(index) if index else None
    if not times:
        return Latency(index=built, index_is_whole=whole)
    p50, p90, p99, slowest = (float(value) for value in np.quantile(times, (0.5, 0.9, 0.99, 1.0)))
    return Latency(len(times), p50, p90, p99, slowest, built, whole)
