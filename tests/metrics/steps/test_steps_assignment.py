"""The assignment against scipy's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy.optimize import linear_sum_assignment

from sightline.metrics.steps.alignment import best_assignment

matrices = arrays(
    np.float64,
    array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=8),
    elements=st.one_of(st.floats(0, 1), st.integers(-3, 3).map(float)),
)


@settings(deadline=None, max_examples=300)
@given(matrices)
def test_total_is_scipys(weights: np.ndarray) -> None:
    pairs = best_assignment(weights)
    rows, columns = linear_sum_assignment(weights, maximize=True)
    assert len(pairs) == min(weights.shape)
    assert len({row for row, _ in pairs}) == len({column for _, column in pairs}) == len(pairs)
    assert sum(weights[pair] for pair in pairs) == pytest.approx(weights[rows, columns].sum(), abs=1e-9)


def test_a_larger_matrix() -> None:
    weights = np.random.default_rng(7).random((60, 80))
    rows, columns = linear_sum_assignment(weights, maximize=True)
    assert best_assignment(weights) == tuple(zip(rows.tolist(), columns.tolist(), strict=True))


def test_greedy_would_be_wrong() -> None:
    assert best_assignment(np.array([[1.0, 0.9], [0.9, 0.0]])) == ((0, 1), (1, 0))


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0)])
def test_empty(shape: tuple[int, int]) -> None:
    assert best_assignment(np.zeros(shape)) == ()
