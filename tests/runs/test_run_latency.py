"""Times from a ledger."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.runs.summary import Latency, latency_of
from sightline.types import LedgerEntry


@settings(deadline=None, max_examples=50)
@given(st.lists(st.floats(0, 1e4), min_size=1, max_size=40))
def test_percentiles_are_those_of_the_answers(times: list[float]) -> None:
    noise = [
        LedgerEntry("run", "s", "failed", seconds=1e6, ok=False),
        LedgerEntry("rerank", "s", "other", seconds=1e6),
        LedgerEntry("run", "s", None, seconds=1e6),
        LedgerEntry("run", "s", "unknown", seconds=None),
    ]
    found = latency_of([*noise, *(LedgerEntry("run", "s", str(n), seconds=t) for n, t in enumerate(times))])
    expected = [np.percentile(times, share) for share in (50, 90, 99, 100)]
    assert found.n == len(times)
    assert [found.p50, found.p90, found.p99, found.slowest] == pytest.approx(expected)
    assert found.index is None


def test_building_an_index_is_told_apart() -> None:
    whole = latency_of([LedgerEntry("index", "e", seconds=2.0), LedgerEntry("index", "e", seconds=1.0)])
    assert whole == Latency(index=3.0)
    assert not latency_of([LedgerEntry("index-from-cache", "e", seconds=2.0)]).index_is_whole
    assert latency_of([]) == Latency()
