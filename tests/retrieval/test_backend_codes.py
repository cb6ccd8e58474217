"""The quantised first pass: its bound holds, and so its answers are exact."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("numkong")

from sightline.retrieval.vector_stores import exact
from sightline.retrieval.vector_stores.exact import ExactIndex, coded


def spiked(count: int, dim: int, seed: int, spike: float) -> np.ndarray:
    """Vectors of which one number may be far larger than the others, as some models make them."""
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((count, dim)).astype(np.float32)
    vectors[:, seed % dim] += spike
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


@settings(max_examples=60, deadline=None)
@given(dim=st.integers(1, 200), seed=st.integers(0, 999), spike=st.sampled_from([0.0, 30.0]))
def test_what_is_lost_is_at_most_the_bound(dim: int, seed: int, spike: float) -> None:
    vectors = spiked(8, dim, seed, spike)
    made = coded(vectors)
    again = made.numbers.astype(np.float64) * made.bounds[:, :1].astype(np.float64)
    lost = np.sqrt(np.square(vectors.astype(np.float64) - again).sum(axis=1))
    assert (lost <= made.bounds[:, 1] + 1e-7).all()
    assert np.abs(made.numbers).max() <= 127


def test_nothing_at_all_has_a_code() -> None:
    made = coded(np.zeros((1, 4), np.float32))
    assert made.numbers.tolist() == [[0, 0, 0, 0]]
    assert made.bounds[0, 1] == 0


@pytest.mark.parametrize("spike", [0.0, 5.0, 100.0])
@pytest.mark.parametrize("near", [True, False])
def test_exact_and_few_are_looked_at(tmp_path: Path, spike: float, near: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = spiked(6000, 64, 1, spike)
    index = ExactIndex(tmp_path, 64, create=True, quantised=True)
    plain = ExactIndex(tmp_path, 64, create=False)
    index.put([(np.arange(6000), vectors)])
    index.flush()
    looked: list[int] = []
    compared = exact.Codes._compared

    def counted(self: Any, query: Any, k: int, best: Any, chosen: Any) -> Any:
        looked.append(len(chosen))
        return compared(self, query, k, best, chosen)

    monkeypatch.setattr(exact.Codes, "_compared", counted)
    for query in vectors[:5] if near else spiked(5, 64, 2, 0.0):
        mine, truth = index.nearest(query, 10), plain.nearest(np.repeat(query[None], 6, axis=0), 10)
        np.testing.assert_array_equal(mine.rows[0], truth.rows[0])
        np.testing.assert_array_equal(mine.scores[0], truth.scores[0])
    assert len(looked) == 5
    if spike < 100:
        assert max(looked) < 1500


def test_many_candidates_are_compared_in_bulk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "_MANY", 5)
    monkeypatch.setattr(exact, "_COMPARED", 100)
    vectors = spiked(350, 16, 3, 0.0)
    index = ExactIndex(tmp_path, 16, create=True, quantised=True)
    index.put([(np.arange(300), vectors[:300])])
    index.flush()
    index.put([(np.arange(300, 350), vectors[300:])])
    index.remove(np.arange(0, 350, 5))
    plain = ExactIndex(tmp_path, 16, create=False)
    for within in (None, np.arange(40, 340)):
        np.testing.assert_array_equal(
            index.nearest(vectors[7], 20, within).rows[0], plain.nearest(vectors[7], 20, within).rows[0]
        )
