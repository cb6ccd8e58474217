"""The approximate index: its recall is measured, and nothing new, removed or limited is answered wrongly."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sightline.retrieval.vector_stores import slots
from sightline.retrieval.vector_stores.exact import ExactIndex

pytest.importorskip("faiss")

from sightline.retrieval.vector_stores.faiss import ApproximateIndex

DIM, COUNT = 32, 4000


def clustered(count: int, seed: int) -> np.ndarray:
    centres = np.random.default_rng(0).standard_normal((60, DIM))
    rng = np.random.default_rng(seed)
    vectors = (centres[rng.integers(0, 60, count)] + 0.4 * rng.standard_normal((count, DIM))).astype(np.float32)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def opened(folder: Path, *, create: bool = True, recall: float = 0.95) -> ApproximateIndex:
    return ApproximateIndex(folder, DIM, create=create, least=1000, recall=recall)


@pytest.fixture
def index(tmp_path: Path) -> ApproximateIndex:
    made = opened(tmp_path)
    made.put([(np.arange(COUNT), clustered(COUNT, 1))])
    made.flush()
    return made


def recall(index: ApproximateIndex, folder: Path, asked: np.ndarray | None = None) -> float:
    queries = clustered(50, 2) if asked is None else asked
    truth = ExactIndex(folder, DIM, create=False).nearest(queries, 10).rows
    found = index.nearest(queries, 10).rows
    return float(np.mean([len(set(a.tolist()) & set(b.tolist())) / 10 for a, b in zip(truth, found, strict=True)]))


def test_recall_is_measured_and_kept(index: ApproximateIndex, tmp_path: Path) -> None:
    assert not index.exact
    assert index.built is not None
    assert index.recalls == index.built.recalls
    assert index.recalls["pictures"] >= 0.95
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
    assert wider.recalls["pictures"] > 0.99


def apart(count: int, seed: int) -> np.ndarray:
    """Queries as texts are: around the same things, and far from all pictures in one direction."""
    aside = np.eye(DIM)[0] * 3
    vectors = 2 * clustered(count, seed) + np.random.default_rng(seed).standard_normal((count, DIM)) / 4 + aside
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


def test_the_worst_kind_of_query_decides(index: ApproximateIndex, tmp_path: Path) -> None:
    both = opened(tmp_path / "both")
    both.put([(np.arange(COUNT), clustered(COUNT, 1))])
    both.expect(lambda: {"texts": apart(300, 4), "nothing": apart(0, 4)})
    both.flush()
    assert index.built is not None and both.built is not None
    assert recall(index, tmp_path, apart(300, 5)) < 0.9  # Chosen by pictures alone, it fails texts.
    assert both.built.nprobe > index.built.nprobe
    assert both.recalls.keys() == {"pictures", "texts"} and min(both.recalls.values()) >= 0.95
    assert recall(both, tmp_path / "both", apart(300, 5)) >= 0.93


def test_the_lists_of_an_earlier_version_are_built_anew(index: ApproximateIndex, tmp_path: Path) -> None:
    (tmp_path / "ivf.json").write_text('{"generation": 0, "recall": 0.97}')
    again = opened(tmp_path, create=False)
    assert again.exact
    again.flush()
    assert again.built == index.built


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


def test_an_index_that_was_opened_again_takes_in_what_is_new(index: ApproximateIndex, tmp_path: Path) -> None:
    index.close()
    again = opened(tmp_path, create=False)
    fresh = clustered(5, 9)
    again.put([(np.arange(COUNT, COUNT + 5), fresh)])
    again.flush()
    assert again.built is not None
    assert (again.built.slots, again.built.trained) == (COUNT + 5, COUNT), "nothing was learnt anew"
    assert [again.nearest(vector, 1).rows[0][0] for vector in fresh] == list(range(COUNT, COUNT + 5))


@pytest.mark.parametrize("share", [2, 3])
def test_many_rows_are_searched_by_the_lists_and_few_exactly(
    index: ApproximateIndex, tmp_path: Path, share: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    queries, many = clustered(50, 2), np.arange(0, COUNT, share)
    index.put([(np.arange(COUNT, COUNT + 3), queries[:3])])  # New: not in the lists yet.
    many = np.append(many, np.arange(COUNT, COUNT + 3))
    truth = ExactIndex(tmp_path, DIM, create=False)
    few = np.arange(0, 900)
    for asked, exact in zip(index.nearest(queries, 5, few).rows, truth.nearest(queries, 5, few).rows, strict=True):
        np.testing.assert_array_equal(asked, exact)
    monkeypatch.setattr(ExactIndex, "nearest", None)  # The lists answer.
    found = index.nearest(queries, 10, many).rows
    monkeypatch.undo()
    true = truth.nearest(queries, 10, many).rows
    assert all(set(rows.tolist()) <= set(many.tolist()) for rows in found)
    assert [rows[0] for rows in found[:3]] == [COUNT, COUNT + 1, COUNT + 2]
    shares = [len(set(a.tolist()) & set(b.tolist())) / 10 for a, b in zip(true, found, strict=True)]
    assert np.mean(shares) >= 0.9


def test_a_filter_that_leaves_what_is_far_from_the_query_is_answered_too(
    index: ApproximateIndex, tmp_path: Path
) -> None:
    """Few of the first candidates are among the rows then: more are asked for, in the end all."""
    query = clustered(1, 2)
    scores = clustered(COUNT, 1) @ query[0]
    far = np.flatnonzero(scores < np.quantile(scores, 0.3))
    truth = ExactIndex(tmp_path, DIM, create=False).nearest(query, 10, far).rows[0]
    found = index.nearest(query, 10, far).rows[0]
    assert len(found) == 10 and set(found.tolist()) <= set(far.tolist())
    assert len(set(found.tolist()) & set(truth.tolist())) >= 7


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
