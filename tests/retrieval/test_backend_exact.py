"""The default back-end: its files, and the ways in which it compares."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.errors import UserError
from sightline.retrieval.vector_stores import scan, slots
from sightline.retrieval.vector_stores import scan as parallel
from sightline.retrieval.vector_stores.base import ranked, scores_of
from sightline.retrieval.vector_stores.exact import ExactIndex
from vector_backends import DIM, files_below, rows_of, unit


def opened(folder: Path, **options: bool) -> ExactIndex:
    return ExactIndex(folder, DIM, create=True, **options)


def test_another_process_sees_each_change(tmp_path: Path) -> None:
    writer, reader = opened(tmp_path), opened(tmp_path)
    writer.put([(np.arange(5), unit(5, 0))])
    reader.put([(rows_of(9), unit(1, 1))])
    assert reader.rows().tolist() == [0, 1, 2, 3, 4, 9]
    writer.remove(rows_of(9))
    reader.remove(rows_of(0))
    assert reader.rows().tolist() == [1, 2, 3, 4]


def test_a_tail_that_nobody_knows_of_is_written_over(tmp_path: Path) -> None:
    index = opened(tmp_path)
    index.put([(np.arange(3), unit(3, 0))])
    index.close()
    with (tmp_path / "vectors-0.f32").open("ab") as file:
        file.write(b"\xff" * 70)
    again = opened(tmp_path)
    again.put([(rows_of(3), unit(1, 1))])
    np.testing.assert_array_equal(again.get(np.arange(4)), np.concatenate([unit(3, 0), unit(1, 1)]))


def test_a_batch_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = opened(tmp_path)
    index.put([(np.arange(3), unit(3, 0))])
    with monkeypatch.context() as patched:
        patched.setattr(index.slots, "_record", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            index.put([(np.arange(2, 6), unit(4, 1))])
    assert index.rows().tolist() == [0, 1, 2]
    index.put([(rows_of(4), unit(1, 2))])
    np.testing.assert_array_equal(index.get(rows_of(2, 4)), np.concatenate([unit(3, 0)[2:], unit(1, 2)]))


def test_files_that_were_copied_in_part_are_told(tmp_path: Path) -> None:
    index = opened(tmp_path)
    index.put([(np.arange(30), unit(30, 0))])
    index.close()
    (tmp_path / "vectors-0.f32").write_bytes(b"\0" * 100)
    with pytest.raises(UserError, match=r"vectors-0\.f32 is shorter"):
        opened(tmp_path)
    (tmp_path / "vectors-0.f32").unlink()
    with pytest.raises(UserError, match=r"shorter"):
        opened(tmp_path)


def test_room_of_the_dead_is_given_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slots, "_FEW", 10)
    index, reader = opened(tmp_path, quantised=True), opened(tmp_path)
    vectors = unit(200, 0)
    order = np.random.default_rng(0).permutation(200)
    index.put([(order, vectors[order])])
    index.flush()
    index.remove(np.arange(0, 200, 2))
    before = sum(path.stat().st_size for path in files_below(tmp_path) if path.suffix == ".f32")
    index.flush()
    after = sum(path.stat().st_size for path in files_below(tmp_path) if path.suffix == ".f32")
    assert after == before / 2
    left = np.arange(1, 200, 2)
    assert sorted(path.name for path in tmp_path.glob("codes-*")) == ["codes-1.bounds", "codes-1.i8"]
    for each in (index, opened(tmp_path)):
        assert each.rows().tolist() == left.tolist()
        np.testing.assert_array_equal(each.get(left), vectors[left])
    # A reader from before learns of it.
    np.testing.assert_array_equal(reader.nearest(vectors[1], 3).rows[0], index.nearest(vectors[1], 3).rows[0])
    reader.put([(rows_of(300), unit(1, 5))])
    assert reader.rows().tolist() == [*left.tolist(), 300]


def test_codes_that_are_lost_are_made_again(tmp_path: Path) -> None:
    index = opened(tmp_path, quantised=True)
    index.put([(np.arange(50), unit(50, 0))])
    index.flush()
    index.close()
    for path in files_below(tmp_path):
        if path.name.startswith("codes-"):
            path.unlink()
    again = opened(tmp_path, quantised=True)
    truth = opened(tmp_path).nearest(unit(1, 7), 5)
    np.testing.assert_array_equal(again.nearest(unit(1, 7), 5).rows[0], truth.rows[0])
    again.flush()
    np.testing.assert_array_equal(again.nearest(unit(1, 7), 5).rows[0], truth.rows[0])
    assert (tmp_path / "codes-0.i8").stat().st_size == 50 * DIM


@settings(max_examples=40, deadline=None)
@given(
    count=st.integers(1, 300),
    k=st.integers(1, 30),
    seed=st.integers(0, 999),
    share=st.sampled_from([0.0, 0.02, 0.3, 0.6, 1.0]),
    queries=st.integers(1, 6),
    run=st.sampled_from([1, 40]),
)
def test_as_if_all_were_sorted(
    tmp_path_factory: pytest.TempPathFactory, count: int, k: int, seed: int, share: float, queries: int, run: int
) -> None:
    rng = np.random.default_rng(seed)
    vectors, asked = unit(count, seed), unit(queries, seed + 1)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(scan, "_SCORES", 64)
        patched.setattr(scan, "_GATHERED", 16)
        patched.setattr(parallel, "_PIECE", 10)
        folder = tmp_path_factory.mktemp("index")
        for quantised in (False, True):
            index = opened(folder, quantised=quantised)
            index.put([(rows, vectors[rows]) for rows in np.array_split(rng.permutation(count), 3)])
            if seed % 2:
                index.flush()
            within = (
                None if share == 1 else np.flatnonzero(np.repeat(rng.random(count // run + 1) < share, run)[:count])
            )
            rows = np.arange(count) if within is None else within
            found = index.nearest(asked, k, within)
            for query, got, scores in zip(asked, found.rows, found.scores, strict=True):
                expected = ranked(rows, scores_of(vectors[rows], query), k)
                np.testing.assert_array_equal(got, expected.rows)
                np.testing.assert_array_equal(scores, expected.scores)
            index.close()
