"""The .npz that `embed` writes: numpy reads it, and it is whole or not there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from sightline.errors import UserError
from sightline.models.embedders.vector_file import VectorFileShape, read_vectors, write_vectors


def pages(array: np.ndarray, size: int) -> Iterator[np.ndarray]:
    return (array[start : start + size] for start in range(0, len(array), size))


@pytest.mark.parametrize("size", [1, 3, 100])
def test_numpy_reads_it(tmp_path: Path, size: int) -> None:
    ids = ["a.jpg", "ü/né.jpg", "日本/🐕.png", "x" * 40, ""]
    rows = np.random.default_rng(0).standard_normal((5, 7)).astype(np.float32)
    path = tmp_path / "new" / "folder" / "v.npz"
    write_vectors(
        path,
        VectorFileShape(5, 7, 40),
        lambda: ([str(i) for i in p] for p in pages(np.array(ids), size)),
        lambda: pages(rows, size),
    )
    with np.load(path, allow_pickle=False) as found:
        assert set(found.files) == {"ids", "vectors"}
        assert found["ids"].tolist() == ids and found["vectors"].dtype == np.float32
        np.testing.assert_array_equal(found["vectors"], rows)
    assert read_vectors(path).ids.tolist() == ids


def test_same_content_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_vectors(
            tmp_path / name,
            VectorFileShape(1, 2, 1),
            lambda: [["x"]],
            lambda: [np.array([[1.0, 0.0]], dtype=np.float32)],
        )
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_fault_in_the_middle_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "v.npz"
    path.write_bytes(b"old")

    def broken() -> Iterator[np.ndarray]:
        yield np.zeros((1, 2), dtype=np.float32)
        raise RuntimeError("power cut")

    with pytest.raises(RuntimeError, match="power cut"):
        write_vectors(path, VectorFileShape(2, 2, 1), lambda: [["x", "y"]], broken)
    assert path.read_bytes() == b"old" and [entry.name for entry in tmp_path.iterdir()] == ["v.npz"]


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x.npz").write_bytes(b"nothing")
    np.savez(tmp_path / "y.npz", other=np.zeros(3))
    for name in ("x.npz", "y.npz", "z.npz"):
        with pytest.raises(UserError, match="is not a file of vectors"):
            read_vectors(tmp_path / name)
