"""The approximate index: its recall is measured, and nothing new, removed or limited is answered wrongly."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sightline.search.backends import slots
from sightline.search.backends.exact import ExactIndex

pytest.importorskip("faiss")

from sightline.search.backends.approximate import ApproximateIndex

DIM, COUNT = 32, 4000


def clustered(count: int, seed: int) -> np.ndarray:
    centres = np.random.default_rng(0).standard_normal((60, DIM))
    rng = np.random.default_rng(seed)
    vectors = (centres[rng.integers(0, 60, count)] + 0.4 * rng.standard_normal((count, DIM))).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def opened(folder: Path, *, create: bool = True, recall: float = 0.95) -> ApproximateIndex:
    return ApproximateIndex(folder, DIM, create=create, least=1000, recall=recall)


@pytest.fixture
def index(tmp_path: Path) -> ApproximateIndex:
    made = opened(tmp_path)
    made.put([(np.arange(COUNT), clustered(COUNT, 1))])
    made.flush()
    return made


def recall(index: ApproximateIndex, folder: Path) -> float:
    queries = clustered(50, 2)
    truth = ExactIndex(folder, DIM, create=False).nearest(queries, 10).rows
    found = index.nearest(queries, 10).rows
    return float(np.mean([len(set(a.tolist()) & set(b.tolist())) / 10 for a, b in zip(truth, found, strict=True)]))


def test_recall_is_measured_and_kept(index: ApproximateIndex, tmp_path: Path) -> None:
    assert not index.exact
    assert index.built is not None
    assert index.built.recall is not None
    assert index.built.recall >= 0.95
    assert index.built.nprobe < index.built.nlist
    assert recall(index, tmp_path) >= 0.9
    again = opened(tmp_path, create=False)
    assert again.built == index.built
    assert recall(again, tmp_path) == recall(index, tmp_path)


def test_more_is_probed_for_more_recall(index: ApproximateIndex, tmp_path: Path) -> None:
    wider = opened(tmp_path / "wider", recall=1.0)
    wider.put([(np.arange(COUNT), clustered(COUNT, 1))])
    wider.flush()
    assert wider.built is not None
    assert index.built is not None
    assert wider.built.nprobe > index.built.nprobe
    assert wider.built.recall is not None
    assert wider.built.recall > 0.99


def test_few_vectors_are_compared_one_by_one(tmp_path: Path) -> None:
    index = opened(tmp_path)
    index.put([(np.arange(999), clustered(999, 1))])
    index.flush()
    assert index.exact
    assert index.built is None


def test_what_is_new_is_found_at_once(index: ApproximateIndex, tmp_path: Path) -> None:
    fresh = clustered(5, 9)
    index.put([(np.arange(COUNT, COUNT + 5), fresh)])
    for _ in range(2):
        assert [index.nearest(vector, 1).rows[0][0] for vector in fresh] == list(range(COUNT, COUNT + 5))
        index.flush()
    assert index.built is not None
    assert index.built.slots == COUNT + 5
    assert index.built.trained == COUNT
    assert recall(opened(tmp_path, create=False), tmp_path) >= 0.9


def test_what_is_removed_or_replaced_is_not_found(index: ApproximateIndex) -> None:
    vectors = clustered(COUNT, 1)
    found = index.nearest(vectors[7], 50).rows[0]
    index.remove(found[:45])
    left = index.nearest(vectors[7], 50).rows[0]
    assert len(left) == 50
    assert not set(found[:45].tolist()) & set(left.tolist())
    index.put([(left[:1], -vectors[7][None])])
    assert left[0] not in index.nearest(vectors[7], 50).rows[0]
    assert index.nearest(-vectors[7], 1).rows[0][0] == left[0]


def test_twice_as_many_are_learnt_anew(index: ApproximateIndex) -> None:
    index.put([(np.arange(COUNT, 2 * COUNT + 10), clustered(COUNT + 10, 3))])
    index.flush()
    assert index.built is not None
    assert index.built.trained == 2 * COUNT + 10


def test_lists_of_an_earlier_generation_are_not_asked(
    index: ApproximateIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slots, "_FEW", 10)
    other = ExactIndex(tmp_path, DIM, create=False)
    other.remove(np.arange(0, COUNT, 2))
    other.flush()
    query = clustered(1, 5)
    np.testing.assert_array_equal(index.nearest(query, 20).rows[0], other.nearest(query, 20).rows[0])
    assert opened(tmp_path, create=False).exact
    index.flush()
    assert not index.exact
    assert recall(index, tmp_path) >= 0.9
