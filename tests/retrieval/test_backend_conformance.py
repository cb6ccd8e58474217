"""What every back-end must do, on the real thing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from sightline.errors import UserError
from sightline.retrieval.vector_stores.base import VectorIndex
from sightline.retrieval.vector_stores.registry import open_vector_store
from vector_backends import DIM, Backend, params, rows_of, spec_of, true_nearest, unit

COUNT = 100
every = pytest.mark.parametrize("backend", params())


@pytest.fixture
def spec(backend: Backend, request: pytest.FixtureRequest) -> str:
    return spec_of(backend, request)


@pytest.fixture
def index(spec: str, tmp_path: Path) -> Iterator[VectorIndex]:
    opened = open_vector_store(spec, tmp_path, DIM, create=True)
    yield opened
    opened.close()


def filled(index: VectorIndex, vectors: np.ndarray) -> dict[int, np.ndarray]:
    half = len(vectors) // 2
    rows = np.arange(len(vectors))
    index.put([(rows[:half], vectors[:half]), (rows[half:], vectors[half:])])
    index.flush()
    return dict(enumerate(vectors))


def agrees(index: VectorIndex, truth: dict[int, np.ndarray], k: int, within: np.ndarray | None, seed: int) -> None:
    queries = unit(3, seed + 1000)
    allowed = truth if within is None else {row: truth[row] for row in within.tolist() if row in truth}
    found = index.nearest(queries, k, within)
    assert len(found.rows) == len(found.scores) == len(queries)
    for query, rows, scores in zip(queries, found.rows, found.scores, strict=True):
        assert rows.dtype == np.int64
        assert scores.dtype == np.float32
        pairs, expected = list(zip(rows.tolist(), scores, strict=True)), true_nearest(allowed, query, k)
        if index.exact or within is not None:
            assert pairs == expected
        else:
            nearly(pairs, true_nearest(allowed, query, len(allowed)), k)


def nearly(pairs: list[tuple[int, np.float32]], truth: list[tuple[int, np.float32]], k: int) -> None:
    """Right pairs in the right order, few of the best missing; which of two that are equally near is left open."""
    assert set(pairs) <= set(truth)
    assert pairs == sorted(set(pairs), key=lambda pair: (-pair[1], pair[0]))
    assert len(pairs) == min(k, len(truth))
    best = [score for _, score in truth[:k]]
    assert sum(score >= best[-1] for _, score in pairs) >= 0.9 * len(best)


@every
def test_starts_empty(index: VectorIndex) -> None:
    assert len(index) == 0
    assert index.dim == DIM
    assert index.rows().tolist() == []
    found = index.nearest(unit(2, 0), 5)
    assert [rows.tolist() for rows in found.rows] == [[], []]


@every
def test_keeps_vectors_to_the_last_bit(index: VectorIndex) -> None:
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((50, DIM)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    rows = rng.permutation(200)[:50]
    index.put([(rows, vectors)])
    assert len(index) == 50
    assert index.rows().tolist() == sorted(rows.tolist())
    assert index.rows().dtype == np.int64
    wanted = rng.permutation(50)
    np.testing.assert_array_equal(index.get(rows[wanted]), vectors[wanted])
    assert index.get(rows_of()).shape == (0, DIM)


@every
def test_a_row_that_is_not_there_has_no_vector(index: VectorIndex) -> None:
    index.put([(rows_of(3), unit(1, 0))])
    with pytest.raises(KeyError, match="row 4 "):
        index.get(rows_of(3, 4))


@every
def test_nearest_of_all(backend: Backend, index: VectorIndex) -> None:
    truth = filled(index, unit(COUNT, 1))
    assert index.exact is not backend.approximate
    for k in (1, 10, COUNT + 50):
        agrees(index, truth, k, None, seed=1)


LIMITS: dict[str, np.ndarray] = {
    "none": rows_of(),
    "one": rows_of(7),
    "all": np.arange(COUNT),
    "a run": np.arange(30, 80),
    "scattered": np.arange(0, COUNT, 7),
    "runs and absent ones": np.concatenate([np.arange(20, 40), np.arange(60, 80), rows_of(99, 100, 5000)]),
}


@every
def test_nearest_within_rows(index: VectorIndex) -> None:
    truth = filled(index, unit(COUNT, 2))
    for within in LIMITS.values():
        for k in (1, 10, COUNT):
            agrees(index, truth, k, within, seed=2)


@every
def test_put_again_replaces(index: VectorIndex) -> None:
    truth = filled(index, unit(COUNT, 3))
    changed = np.arange(0, COUNT, 3)
    fresh = unit(len(changed), 4)
    index.put([(changed, fresh)])
    truth |= dict(zip(changed.tolist(), fresh, strict=True))
    assert len(index) == COUNT
    np.testing.assert_array_equal(index.get(changed), fresh)
    agrees(index, truth, 10, None, seed=3)
    index.flush()
    agrees(index, truth, 10, None, seed=3)
    agrees(index, truth, 10, np.arange(30, 70), seed=3)


@every
def test_the_last_of_a_row_given_twice_counts(index: VectorIndex) -> None:
    vectors = unit(3, 5)
    index.put([(rows_of(8, 2, 8), vectors)])
    assert index.rows().tolist() == [2, 8]
    np.testing.assert_array_equal(index.get(rows_of(8, 2)), vectors[[2, 1]])


@every
def test_removed_rows_are_not_found(index: VectorIndex) -> None:
    truth = filled(index, unit(COUNT, 6))
    gone = np.concatenate([np.arange(0, COUNT, 2), rows_of(COUNT + 5)])
    index.remove(gone)
    truth = {row: vector for row, vector in truth.items() if row % 2}
    assert len(index) == len(truth)
    assert index.rows().tolist() == sorted(truth)
    for k in (10, COUNT):
        agrees(index, truth, k, None, seed=6)
        agrees(index, truth, k, np.arange(0, 60), seed=6)
    index.put([(rows_of(0), unit(1, 7))])
    truth[0] = unit(1, 7)[0]
    agrees(index, truth, 10, None, seed=6)


@every
def test_all_of_it_can_be_removed(index: VectorIndex) -> None:
    filled(index, unit(COUNT, 8))
    index.remove(index.rows())
    index.flush()
    assert len(index) == 0
    assert index.nearest(unit(1, 0), 3).rows[0].tolist() == []


@every
def test_another_opening_sees_the_same(spec: str, tmp_path: Path) -> None:
    first = open_vector_store(spec, tmp_path, DIM, create=True)
    truth = filled(first, unit(COUNT, 9))
    first.remove(rows_of(5))
    del truth[5]
    first.close()
    second = open_vector_store(spec, tmp_path, DIM, create=False)
    assert len(second) == len(truth)
    agrees(second, truth, 10, None, seed=9)
    second.close()


@every
def test_two_indexes_are_apart(spec: str, tmp_path: Path) -> None:
    first = open_vector_store(spec, tmp_path / "one", DIM, create=True)
    second = open_vector_store(spec, tmp_path / "two", DIM, create=True)
    first.put([(rows_of(1), unit(1, 0))])
    assert (len(first), len(second)) == (1, 0)
    first.close()
    second.close()


@every
def test_what_is_not_there_is_not_opened(spec: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds no"):
        open_vector_store(spec, tmp_path / "nothing", DIM, create=False)


@every
def test_another_width_is_refused(index: VectorIndex, spec: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=f"5 numbers; this index holds {DIM}"):
        index.put([(rows_of(0), unit(1, 0, dim=5))])
    with pytest.raises(UserError, match=f"the query has 5 numbers; this index holds {DIM}"):
        index.nearest(unit(1, 0, dim=5), 3)
    index.close()
    with pytest.raises(UserError, match=f"{DIM} numbers, not of 5"):
        open_vector_store(spec, tmp_path, 5, create=False)


@every
def test_bad_numbers_are_refused(index: VectorIndex) -> None:
    for bad in (np.nan, np.inf, 3.0):
        vectors = unit(3, 0)
        vectors[1, 2] = bad
        with pytest.raises(UserError, match="the vector of row 11 "):
            index.put([(rows_of(10, 11, 12), vectors)])
    assert len(index) == 0


@every
def test_no_neighbours_are_no_question(index: VectorIndex) -> None:
    with pytest.raises(UserError, match="k must be at least 1, not 0"):
        index.nearest(unit(1, 0), 0)


WRITER = """
import sys
from pathlib import Path
import numpy as np
from sightline.retrieval.vector_stores import open_vector_store

index = open_vector_store(sys.argv[1], Path(sys.argv[2]), 12, create=True)
for batch in range(10_000):
    rows = np.arange(batch * 20, batch * 20 + 20)
    vectors = np.zeros((20, 12), np.float32)
    vectors[np.arange(20), rows % 12] = 1
    index.put([(rows, vectors)])
    print(batch, flush=True)
"""


SLOW_TO_IMPORT = {"lancedb", "milvus_lite", "qdrant_client"}


@pytest.mark.parametrize(
    "backend",
    params(lambda backend: backend.embedded, slow=lambda backend: bool(SLOW_TO_IMPORT & set(backend.needs))),
)
def test_nothing_acknowledged_is_lost_by_a_kill(spec: str, tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", WRITER, spec, str(tmp_path)], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        acknowledged = [int(writer.stdout.readline()) for _ in range(6)]
        writer.kill()
        acknowledged += [int(line) for line in writer.stdout]
    index = open_vector_store(spec, tmp_path, DIM, create=False)
    rows = index.rows()
    known = np.arange((acknowledged[-1] + 1) * 20)
    assert set(known.tolist()) <= set(rows.tolist())
    np.testing.assert_array_equal(index.get(known).argmax(axis=1), known % 12)
    index.put([(rows_of(0), unit(1, 0))])
    np.testing.assert_array_equal(index.get(rows_of(0)), unit(1, 0))
    assert len(index) == len(rows)
    index.close()
