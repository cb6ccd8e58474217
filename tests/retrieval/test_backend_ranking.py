"""The one order of all back-ends."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.retrieval.vector_stores.base import FoundVectors, floor_of, ranked, scores_of, settled, slack
from vector_backends import true_nearest, unit


@settings(max_examples=60, deadline=None)
@given(count=st.integers(1, 3000), k=st.integers(1, 40), seed=st.integers(0, 99))
def test_at_least_k_reach_the_floor(count: int, k: int, seed: int) -> None:
    values = np.random.default_rng(seed).standard_normal(count).astype(np.float32).round(2)
    floor = floor_of(values, k)
    reached = int((values >= floor).sum())
    assert reached >= min(k, count)
    assert floor <= np.sort(values)[::-1][min(k, count) - 1]


def test_a_score_depends_on_its_own_vector_only() -> None:
    vectors, query = np.repeat(unit(1, 0, dim=515), 1000, axis=0), unit(1, 1, dim=515)[0]
    alone = scores_of(vectors[:1], query)
    assert set(scores_of(vectors, query).tolist()) == set(alone.tolist())
    assert set(scores_of(vectors, query, np.arange(3, 900, 7)).tolist()) == set(alone.tolist())


@settings(max_examples=60, deadline=None)
@given(count=st.integers(0, 80), k=st.integers(1, 90), seed=st.integers(0, 99))
def test_settled_whatever_the_back_end_makes_of_ties(count: int, k: int, seed: int) -> None:
    vectors, query = unit(max(1, count), seed)[:count], unit(1, seed + 500)[0]
    rng = np.random.default_rng(seed)
    # A service with errors in the last bits, and its own order among equals.
    seen = scores_of(vectors, query) + rng.uniform(-1, 1, count) * slack(query) / 4
    order = np.argsort(-seen)
    found = settled(lambda n: FoundVectors(order[:n].astype(np.int64), vectors[order[:n]]), query, k)
    assert found is not None
    pairs = list(zip(found.rows.tolist(), found.scores, strict=True))
    assert pairs == true_nearest(dict(enumerate(vectors)), query, k)


def test_gives_up_where_a_tie_is_longer_than_the_service_goes() -> None:
    vectors = np.repeat(unit(1, 0), 50, axis=0)
    assert settled(lambda n: FoundVectors(np.arange(n), vectors[:n]), vectors[0], 5, most=40) is None


@pytest.mark.parametrize("k", [1, 3, 9])
def test_equal_scores_by_row(k: int) -> None:
    best = ranked(np.array([9, 4, 7, 1]), np.array([0.5, 0.5, 0.9, 0.1], np.float32), k)
    assert best.rows.tolist() == [7, 4, 9, 1][:k]
