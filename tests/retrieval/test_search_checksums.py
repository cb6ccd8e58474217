"""Which pieces are looked at, and that damage in them is seen."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.io import checksums
from sightline.io.checksums import chosen, is_damaged, sums_of
from sightline.retrieval.vector_stores.base import DamagedError
from sightline.retrieval.vector_stores.registry import open_vector_store


@settings(deadline=None, max_examples=50)
@given(st.lists(st.integers(0, 1 << 24), min_size=1, max_size=40), st.booleans())
def test_some_or_all_are_looked_at(sizes: list[int], whole: bool) -> None:
    taken = chosen(sizes, whole=whole)
    assert len(set(taken)) == len(taken) and {0, len(sizes) - 1} <= set(taken) <= set(range(len(sizes)))
    if whole or sum(sizes) <= checksums.AT_ONCE:
        assert taken == list(range(len(sizes)))
    elif len(sizes) > 2:
        middle = sum(sizes[at] for at in taken) - sizes[0] - sizes[-1]
        assert middle <= max(0, checksums.AT_ONCE - sizes[0] - sizes[-1])


def test_any_changed_byte_and_any_other_size_is_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checksums, "_BLOCK", 7)
    path = tmp_path / "file"
    data = bytes(range(20))
    path.write_bytes(data)
    sums = sums_of(path)
    assert not is_damaged(path, sums) and len(sums) == 3
    others = [data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :] for at in range(20)]
    for other in (*others, data[:-1], data[:14], data + b"\0", b""):
        path.write_bytes(other)
        assert is_damaged(path, sums)


def test_a_large_index_is_looked_at_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = np.eye(16, dtype=np.float32)
    index = open_vector_store("exact", tmp_path, 16, create=True)
    for at in range(16):
        index.put([(np.array([at]), vectors[at : at + 1])])
    index.close()
    (path,) = tmp_path.glob("vectors-*.f32")
    data = bytearray(path.read_bytes())
    data[8 * 64 + 3] ^= 1
    path.write_bytes(data)
    monkeypatch.setattr(checksums, "AT_ONCE", 64 * 5)
    noticed = 0
    for _ in range(60):  # Each time three of the fourteen between the first and the last.
        try:
            open_vector_store("exact", tmp_path, 16, create=False).close()
        except DamagedError:
            noticed += 1
    assert 0 < noticed < 60
    with pytest.raises(DamagedError, match="the vectors from 8 on"):  # Whoever writes looks at all of them.
        open_vector_store("exact", tmp_path, 16, create=True)
