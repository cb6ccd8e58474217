"""The vector cache: what comes out is what went in, whoever else is reading, writing or being killed."""

from __future__ import annotations

import errno
import hashlib
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.errors import StorageError, UserError
from sightline.models.embedders.vector_cache import FOLDER, VectorCache, text_key


@dataclass
class Who:
    name: str = "tiny"
    revision: str = "1"


WHO = Who()


def key(number: int) -> bytes:
    return hashlib.sha256(str(number).encode()).digest()


def vectors(*numbers: int, dim: int = 4) -> np.ndarray:
    """Each number's own vector."""
    return np.array([[number + n / 10 for n in range(dim)] for number in numbers], dtype=np.float32).reshape(-1, dim)


def test_what_went_in_comes_out(tmp_path: Path) -> None:
    with VectorCache(tmp_path) as cache:
        cache.put_many([key(n) for n in range(10)], vectors(*range(10)), WHO)
    with VectorCache(tmp_path) as cache:
        got = cache.get_many([key(7), key(99), key(2), key(7)], WHO)
        np.testing.assert_array_equal(got.vectors, [*vectors(7), np.zeros(4), *vectors(2), *vectors(7)])
        assert got.missing.tolist() == [1]
        assert cache.missing([key(99), key(3)], WHO) == [0]
        assert cache.has(key(3), WHO) and not cache.has(key(99), WHO)


def test_in_order_means_mapped_and_nothing_can_be_written(tmp_path: Path) -> None:
    with VectorCache(tmp_path) as cache:
        cache.put_many([key(n) for n in range(100)], vectors(*range(100)), WHO)
        run = cache.get_many([key(n) for n in range(20, 60)], WHO).vectors
        mixed = cache.get_many([key(3), key(1)], WHO).vectors
        assert isinstance(run, np.memmap) and run.shape == (40, 4)
        for got in (run, mixed):
            with pytest.raises(ValueError, match="read-only"):
                got[0, 0] = 1


def test_embedders_and_revisions_are_kept_apart(tmp_path: Path) -> None:
    with VectorCache(tmp_path) as cache:
        cache.put_many([key(1)], vectors(1), WHO)
        cache.put_many([key(1)], vectors(2, dim=3), Who(revision="2"))
        cache.put_many([key(1)], vectors(3), Who(name="other"))
        assert cache.get_many([key(1)], WHO).vectors[0, 0] == 1
        assert cache.get_many([key(1)], Who(revision="2")).vectors.tolist() == vectors(2, dim=3).tolist()
        assert cache.get_many([key(1)], Who(name="nobody")).missing.tolist() == [0]


def test_a_key_keeps_its_first_vector_and_costs_one_row(tmp_path: Path) -> None:
    with VectorCache(tmp_path) as cache:
        cache.put_many([key(1)], vectors(1), WHO)
        cache.put_many([key(2), key(1), key(2)], vectors(2, 9, 8), WHO)
        got = cache.get_many([key(1), key(2)], WHO)
        space = cache.space(WHO)
    assert got.vectors[:, 0].tolist() == [1, 2] and space is not None and space.rows == 2


def test_another_length_is_refused(tmp_path: Path) -> None:
    with VectorCache(tmp_path) as cache:
        cache.put_many([key(1)], vectors(1), WHO)
        with pytest.raises(UserError, match="vectors of 3 numbers, and of 4 before"):
            cache.put_many([key(2)], vectors(2, dim=3), WHO)
        assert cache.missing([key(1), key(2)], WHO) == [1]


def test_cut_texts_are_remembered(tmp_path: Path) -> None:
    keys = [text_key(text) for text in ("a", "b", "c")]
    with VectorCache(tmp_path) as cache:
        cache.put_many(keys, vectors(1, 2, 3), WHO, [True, False, True])
        assert cache.count_cut(keys, WHO) == 2 and cache.count_cut(keys[1:2], WHO) == 0
        cache.put_many([key(1)], vectors(4), WHO)
        assert cache.count_cut([*keys, key(1)], WHO) is None


def test_text_keys_differ_from_picture_keys() -> None:
    assert text_key("a") != hashlib.sha256(b"a").digest()
    assert text_key("a") != text_key("A") != text_key("a ")


def test_rows_that_were_lost_are_missing_not_wrong(tmp_path: Path) -> None:
    with VectorCache(tmp_path) as cache:
        cache.put_many([key(n) for n in range(10)], vectors(*range(10)), WHO)
    file = tmp_path / FOLDER / "1.f32"
    os.truncate(file, 6 * 16 + 5)
    with VectorCache(tmp_path) as cache:
        got = cache.get_many([key(n) for n in range(10)], WHO)
        assert got.missing.tolist() == [6, 7, 8, 9]
        np.testing.assert_array_equal(got.vectors[:6], vectors(*range(6)))
        cache.put_many([key(8)], vectors(8), WHO)
        np.testing.assert_array_equal(cache.get_many([key(8), key(5)], WHO).vectors, vectors(8, 5))
    file.unlink()
    with VectorCache(tmp_path) as cache:
        assert len(cache.missing([key(n) for n in range(10)], WHO)) == 10


@pytest.mark.parametrize("is_old", [False, True])
def test_a_damaged_vector_is_refused_forgotten_and_made_again(tmp_path: Path, is_old: bool) -> None:
    keys = [key(n) for n in range(10)]
    with VectorCache(tmp_path) as cache:
        cache.put_many(keys, vectors(*range(10)), WHO)
        if is_old:  # Of a version that noted no checksums: they are noted at the first look.
            cache.database.execute("UPDATE vectors SET sum = NULL")
            np.testing.assert_array_equal(cache.get_many(keys, WHO).vectors, vectors(*range(10)))
    file = tmp_path / FOLDER / "1.f32"
    data = bytearray(file.read_bytes())
    data[6 * 16 + 7] ^= 1
    file.write_bytes(data)
    with VectorCache(tmp_path) as cache:
        np.testing.assert_array_equal(cache.get_many(keys[:6], WHO).vectors, vectors(*range(6)))
        with pytest.raises(StorageError, match=r"1\.f32 is damaged: 1 vector is not what was written") as refused:
            cache.get_many(keys, WHO)
        assert refused.value.fix == "run the same command again: they are made again"
        assert cache.missing(keys, WHO) == [6]
        cache.put_many(keys, vectors(*range(10)), WHO)
        np.testing.assert_array_equal(cache.get_many(keys, WHO).vectors, vectors(*range(10)))


def test_rows_that_can_not_be_looked_at_are_not_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = Path.stat

    def broken(path: Path, **named: bool) -> os.stat_result:
        if path.suffix == ".f32":
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return plain(path, **named)

    with VectorCache(tmp_path) as cache:
        cache.put_many([key(1)], vectors(1), WHO)
        with monkeypatch.context() as patch, pytest.raises(UserError, match="can't be read: Input/output error"):
            patch.setattr(Path, "stat", broken)
            cache.missing([key(1)], WHO)
        assert cache.missing([key(1)], WHO) == []


def test_an_emptied_cache_is_damaged_and_not_a_new_one(tmp_path: Path) -> None:
    with VectorCache(tmp_path) as cache:
        cache.put_many([key(1)], vectors(1), WHO)
        path = cache.path
    path.write_bytes(b"")
    with pytest.raises(StorageError, match="it is empty"):
        VectorCache(tmp_path)


@pytest.mark.skipif(os.name == "nt", reason="Windows has other rights")
def test_nobody_else_can_look_into_it(tmp_path: Path) -> None:
    with VectorCache(tmp_path / "ws") as cache:
        cache.put_many([key(1)], vectors(1), WHO)
    rights = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "ws").rglob("*")}
    assert rights["vectors.sqlite"] == rights["1.f32"] == 0o600 and rights[FOLDER] == 0o700


def test_a_tail_that_nobody_knows_of_is_written_over(tmp_path: Path) -> None:
    with VectorCache(tmp_path) as cache:
        cache.put_many([key(1)], vectors(1), WHO)
        with (tmp_path / FOLDER / "1.f32").open("ab") as file:  # As a writer leaves it that was killed before it told.
            file.write(b"\x7f" * 50)
        cache.put_many([key(2), key(3)], vectors(2, 3), WHO)
        np.testing.assert_array_equal(cache.get_many([key(1), key(2), key(3)], WHO).vectors, vectors(1, 2, 3))


@given(
    st.lists(
        st.tuples(
            st.lists(st.integers(0, 30), unique=True, max_size=8), st.lists(st.integers(0, 30), min_size=1, max_size=12)
        ),
        min_size=1,
        max_size=6,
    )
)
@settings(max_examples=40, deadline=None)
def test_like_a_dictionary(tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[list[int], list[int]]]) -> None:
    model: set[int] = set()
    with VectorCache(tmp_path_factory.mktemp("cache")) as cache:
        for put, get in steps:
            cache.put_many([key(n) for n in put], vectors(*put), WHO)
            model |= set(put)
            got = cache.get_many([key(n) for n in get], WHO)
            assert got.missing.tolist() == [at for at, n in enumerate(get) if n not in model]
            for at, number in enumerate(get):
                if number in model:
                    np.testing.assert_array_equal(got.vectors[at], vectors(number)[0])


WRITER = """
import hashlib, sys
import numpy as np
from types import SimpleNamespace
from sightline.models.embedders.vector_cache import VectorCache
who = SimpleNamespace(name="tiny", revision="1")
with VectorCache(sys.argv[1]) as cache:
    start = int(sys.argv[2])
    for first in range(start, start + 100_000, 50):
        numbers = np.arange(first, first + 50)
        rows = (numbers[:, None] + np.arange(256) / 1000).astype(np.float32)
        cache.put_many([hashlib.sha256(str(n).encode()).digest() for n in numbers], rows, who)
        print(first + 50, flush=True)
"""


def start_writer(workspace: Path, first: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(workspace), str(first)], stdout=subprocess.PIPE, text=True
    )


def check_rows(cache: VectorCache, numbers: list[int]) -> None:
    got = cache.get_many([key(n) for n in numbers], WHO)
    assert not len(got.missing)
    expected = (np.array(numbers)[:, None] + np.arange(256) / 1000).astype(np.float32)
    np.testing.assert_array_equal(got.vectors, expected)


def test_killed_writers_lose_nothing_that_they_told_of(tmp_path: Path) -> None:
    told = 0
    for round_ in range(5):
        writer = start_writer(tmp_path, told)
        assert writer.stdout is not None
        for _ in range(3 + round_):
            told = int(writer.stdout.readline())
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        rest = writer.stdout.read().split()  # Acknowledged before the kill, not yet read by us.
        told = int(rest[-1]) if rest else told
        writer.stdout.close()
        with VectorCache(tmp_path) as cache:
            check_rows(cache, list(range(told)))
            assert cache.database.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_two_writers_and_a_reader_at_once(tmp_path: Path) -> None:
    writers = [start_writer(tmp_path, first) for first in (0, 1_000_000)]
    try:
        with VectorCache(tmp_path) as cache:
            seen = 0
            until = time.monotonic() + 60
            while seen < 600 and time.monotonic() < until:
                told = [int(writer.stdout.readline()) for writer in writers if writer.stdout]
                check_rows(
                    cache, [n for first, last in zip((0, 1_000_000), told, strict=True) for n in range(first, last)]
                )
                seen = min(told[0], told[1] - 1_000_000)
            assert seen >= 600
    finally:
        for writer in writers:
            writer.kill()
            writer.communicate()
