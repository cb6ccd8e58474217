"""Fusing lists, spreading them out, and the exact fusion of pictures with captions."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.retrieval.query import mean_direction
from sightline.retrieval.ranking import (
    HeldVectors,
    RankedList,
    fuse_ranks,
    fuse_weighted,
    in_blocks,
    max_sim,
    nearest_fused,
    normalise,
    ranked_by,
    spread_out,
)
from sightline.retrieval.vector_stores.registry import open_vector_store

_LIST = st.dictionaries(st.integers(0, 20), st.floats(-1, 1, width=32), max_size=12)


def as_list(name: str, scores: dict[int, float]) -> RankedList:
    rows = sorted(scores, key=lambda row: (-scores[row], row))
    return ranked_by(name, np.array(rows, np.int64), np.array([scores[row] for row in rows]))


@settings(deadline=None, max_examples=100)
@given(_LIST, _LIST, st.floats(0, 1))
def test_weighted_fusion(first: dict[int, float], second: dict[int, float], weight: float) -> None:
    fused = fuse_weighted([(as_list("a", first), weight), (as_list("b", second), 1 - weight)])

    def share(scores: dict[int, float], row: int) -> float:
        if row not in scores:
            return 0.0
        low, high = min(scores.values()), max(scores.values())
        return 1.0 if low == high else (scores[row] - low) / (high - low)

    wanted = {row: weight * share(first, row) + (1 - weight) * share(second, row) for row in {*first, *second}}
    assert dict(zip(fused.rows.tolist(), fused.scores.tolist(), strict=True)) == pytest.approx(wanted)
    assert fused.rows.tolist() == sorted(
        fused.rows.tolist(), key=lambda row: (-fused.scores[fused.rows == row][0], row)
    )
    assert fused.parts == {"a": first, "b": second}


@settings(deadline=None, max_examples=100)
@given(_LIST, _LIST)
def test_reciprocal_ranks(first: dict[int, float], second: dict[int, float]) -> None:
    lists = [as_list("a", first), as_list("b", second)]
    fused = fuse_ranks(lists, 60)
    wanted: dict[int, float] = {}
    for each in lists:
        for rank, row in enumerate(each.rows.tolist(), 1):
            wanted[row] = wanted.get(row, 0) + 1 / (60 + rank)
    assert dict(zip(fused.rows.tolist(), fused.scores.tolist(), strict=True)) == pytest.approx(wanted)
    assert (np.diff(fused.scores) <= 0).all()


@settings(deadline=None, max_examples=150)
@given(_LIST, _LIST, st.integers(1, 14), st.integers(1, 25), st.booleans())
def test_a_longer_answer_begins_with_the_shorter_one(
    first: dict[int, float], second: dict[int, float], depth: int, k: int, by_ranks: bool
) -> None:
    def fuse(lists: Sequence[RankedList]) -> RankedList:
        return fuse_ranks(lists) if by_ranks else fuse_weighted([(lists[0], 0.6), (lists[1], 0.4)])

    def asked(k: int) -> RankedList:
        """Lists followed as far as k results need, as a search follows them."""
        far = -(-k // depth) * depth
        lists = [as_list("a", first), as_list("b", second)]
        found = in_blocks([each.taking(range(min(far, len(each)))) for each in lists], depth, fuse).found
        return found.taking(range(min(k, len(found))))

    short, long = asked(k), asked(40)
    assert len(short) == min(k, len({*first, *second}))
    assert short.rows.tolist() == long.rows[: len(short)].tolist()
    np.testing.assert_array_equal(short.scores, long.scores[: len(short)])
    assert len(set(long.rows.tolist())) == len(long) == len({*first, *second})
    assert (np.diff(long.scores) <= 0).all()


def test_equal_scores_are_all_the_best() -> None:
    assert normalise(np.array([0.3, 0.3])).tolist() == [1, 1] and len(normalise(np.zeros(0))) == 0


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10_000), st.floats(0, 1), st.integers(1, 12))
def test_variety(seed: int, diversity: float, k: int) -> None:
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((9, 4)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    scores = np.sort(rng.random(9))[::-1].copy()
    relevance, chosen = normalise(scores), [0]
    while len(chosen) < min(k, 9):
        rest = [at for at in range(9) if at not in chosen]
        worth = [
            (1 - diversity) * relevance[at] - diversity * max(float(vectors[at] @ vectors[one]) for one in chosen)
            for at in rest
        ]
        chosen.append(rest[int(np.argmax(worth))])
    found = spread_out(scores, vectors, diversity, k)
    assert len(set(found)) == len(found) == min(k, 9)
    assert found == chosen[:k]


def test_no_variety_keeps_the_order() -> None:
    vectors = np.eye(3, dtype=np.float32)
    assert spread_out(np.array([0.9, 0.5, 0.1]), vectors, 0.0, 3) == [0, 1, 2]
    copies = np.array([[1, 0], [1, 0], [0, 1]], np.float32)
    assert spread_out(np.array([0.9, 0.89, 0.5]), copies, 0.6, 3) == [0, 2, 1]


@settings(deadline=None, max_examples=25)
@given(
    seed=st.integers(0, 10_000),
    weight=st.sampled_from([0.0, 0.3, 0.7, 1.0]),
    k=st.integers(1, 30),
    limited=st.booleans(),
)
def test_captions_and_pictures_together_are_exact(
    seed: int, weight: float, k: int, limited: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    rng, n = np.random.default_rng(seed), 300
    folder: Path = tmp_path_factory.mktemp("fused")
    held, vectors = [], []
    for name, share in (("pictures", 0.95), ("captions", 0.7)):
        rows = np.flatnonzero(rng.random(n) < share)
        made = rng.standard_normal((n, 6)).astype(np.float32)
        made /= np.linalg.norm(made, axis=1, keepdims=True)
        index = open_vector_store("exact", folder / name, 6, create=True)
        index.put([(rows, made[rows])])
        holds = np.zeros(n, np.bool_)
        holds[rows] = True
        held.append(HeldVectors(index, holds, nullcontext()))
        vectors.append(np.where(holds[:, None], made.astype(np.float64), np.nan))
    query = vectors[0][np.flatnonzero(held[0].holds)[0]].astype(np.float32)
    within = np.flatnonzero(rng.random(n) < 0.4) if limited else None
    own, told = (each @ query for each in vectors)
    both = np.where(np.isnan(own), told, np.where(np.isnan(told), own, weight * own + (1 - weight) * told))
    allowed = np.arange(n) if within is None else within
    there = allowed[~np.isnan(both[allowed])]
    wanted = np.sort(both[there])[::-1][:k]
    found = nearest_fused(held[0], held[1], query, k, weight, within)
    assert np.allclose(found.scores, wanted, atol=1e-6) and set(found.rows.tolist()) <= set(there.tolist())
    for each in held:
        each.index.close()


def test_token_by_token() -> None:
    query = np.eye(3, dtype=np.float32)[:2]
    both, one, none = np.eye(3, dtype=np.float32), np.eye(3, dtype=np.float32)[1:2], np.zeros((0, 3), np.float32)
    assert max_sim(query, [both, one, none]).tolist() == [1.0, 0.5, -1.0]


def test_the_mean_of_directions() -> None:
    x, y = np.array([1, 0], np.float32), np.array([0, 1], np.float32)
    assert np.allclose(mean_direction([x, y], [0.5, 0.5]), [2**-0.5, 2**-0.5])
    assert np.allclose(mean_direction([x, y], [1, 0]), x) and np.allclose(mean_direction([x, -x], [0.5, 0.5]), x)
