"""The nearest vectors, against sorting them all."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.search.exact import nearest


@settings(max_examples=60, deadline=None)
@given(rows=st.integers(0, 40), page=st.integers(1, 15), k=st.integers(1, 50), seed=st.integers(0, 999))
def test_as_if_all_were_sorted(rows: int, page: int, k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    # Few different values, so that many scores are equal.
    vectors = rng.integers(-1, 2, (rows, 3)).astype(np.float32)
    query = rng.integers(-1, 2, 3).astype(np.float32)
    found = nearest((vectors[start : start + page] for start in range(0, rows, page)), query, k)
    scores = vectors @ query
    expected = np.argsort(-scores, kind="stable")[:k]
    np.testing.assert_array_equal(found.positions, expected)
    np.testing.assert_array_equal(found.scores, scores[expected])


def test_nothing_to_search() -> None:
    found = nearest([], np.ones(3, np.float32), 10)
    assert len(found.positions) == len(found.scores) == 0
