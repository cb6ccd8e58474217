"""Near pairs equal those of comparing all with all."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.corpus.duplicates import connected, near_pairs


def brute_force(hashes: np.ndarray, bits: int) -> set[tuple[int, int]]:
    return {
        (i, j)
        for i in range(len(hashes))
        for j in range(i + 1, len(hashes))
        if hashes[i] and hashes[j] and int(hashes[i] ^ hashes[j]).bit_count() <= bits
    }


@st.composite
def families(draw: st.DrawFn) -> np.ndarray:
    """Random hashes with relatives a few bits away."""
    bases = draw(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=8))
    found = []
    for base in bases:
        flips = draw(st.lists(st.lists(st.integers(0, 63), max_size=7), max_size=4))
        found += [base] + [base ^ sum(1 << bit for bit in set(flip)) for flip in flips]
    return np.array(found, dtype=np.uint64)


@settings(deadline=None, max_examples=150)
@given(families(), st.integers(0, 9))
def test_same_groups_as_comparing_all_with_all(hashes: np.ndarray, bits: int) -> None:
    found = near_pairs(hashes, bits)
    expected = brute_force(hashes, bits)
    assert {tuple(pair) for pair in found.tolist()} <= expected
    as_sets = [
        {frozenset(group.tolist()) for group in connected(len(hashes), pairs)}
        for pairs in (found, np.array(sorted(expected), dtype=np.intp).reshape(-1, 2))
    ]
    assert as_sets[0] == as_sets[1]


def test_planted_pairs_among_many_are_all_found() -> None:
    rng = np.random.default_rng(3)
    hashes = rng.integers(1, 2**64, 20_000, dtype=np.uint64)
    planted = rng.choice(10_000, 300, replace=False)
    for at in planted:
        flips = rng.choice(64, rng.integers(0, 5), replace=False)
        hashes[at + 10_000] = hashes[at] ^ np.uint64(sum(1 << int(bit) for bit in flips))
    found = {tuple(pair) for pair in near_pairs(hashes, 4).tolist()}
    assert {(int(at), int(at) + 10_000) for at in planted} <= found


@pytest.mark.parametrize("count", [0, 1])
def test_too_few_for_a_pair(count: int) -> None:
    assert near_pairs(np.arange(5, 5 + count, dtype=np.uint64), 4).shape == (0, 2)


def test_connected_joins_chains() -> None:
    groups = connected(6, np.array([[0, 3], [3, 5], [1, 2]]))
    assert [group.tolist() for group in groups] == [[0, 3, 5], [1, 2]]
