"""Near pairs equal those of comparing all with all."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.corpus.groups import near_members, same_colours
from sightline.corpus.near_duplicates import connected, near_pairs


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


def prints(*cells: float) -> np.ndarray:
    """A print of 16 cells: grey 100, but for the first ones as given."""
    return np.array([*cells, *[100.0] * (16 - len(cells))], np.float32)[None, :, None].repeat(3, axis=2)


@pytest.mark.parametrize(
    ("cells", "same"),
    [
        ((), True),
        ((104.0,), True),
        ((110.0,), False),  # One thing more before the same backdrop.
        ((112.0,) * 16, True),  # A brighter copy.
        ((120.0,) * 16, False),
        ((109.0, 115.0, *[112.0] * 14), True),
    ],
)
def test_copies_may_be_brighter_but_not_differ_in_one_place(cells: tuple[float, ...], same: bool) -> None:
    assert same_colours(prints(), prints(*cells)).tolist() == [same]


@given(families(), st.integers(0, 6))
@settings(deadline=None, max_examples=60)
def test_near_members_are_all_near_pairs(hashes: np.ndarray, bits: int) -> None:
    assert {tuple(pair) for pair in near_members(hashes, bits).tolist()} == brute_force(hashes, bits)


def test_many_of_one_hash_stay_connected() -> None:
    hashes = np.full(2000, 77, np.uint64)
    pairs = near_members(hashes, 4)
    assert len(pairs) < 2000 * 65
    assert [len(group) for group in connected(2000, pairs)] == [2000]
