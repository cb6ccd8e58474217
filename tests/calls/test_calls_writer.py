"""The group writer: what is handed in is written or refused, also while it is being closed."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from sightline.calls.journal_writer import GroupWriter, WriterClosedError


def writer(path: Path) -> GroupWriter[int]:
    def connect() -> sqlite3.Connection:
        database = sqlite3.connect(path, isolation_level=None)
        database.execute("CREATE TABLE IF NOT EXISTS t (n INTEGER)")
        return database

    def write(database: sqlite3.Connection, rows: Sequence[int]) -> None:
        database.executemany("INSERT INTO t VALUES (?)", [(row,) for row in rows])

    return GroupWriter(connect, write)


def written(path: Path) -> set[int]:
    return {row[0] for row in sqlite3.connect(path).execute("SELECT n FROM t")}


def test_after_the_end_everything_is_refused(tmp_path: Path) -> None:
    found = writer(tmp_path / "a")
    asyncio.run(found.put(1, 2))
    found.close()
    found.close()
    with pytest.raises(WriterClosedError):
        asyncio.run(found.put(3))
    with pytest.raises(WriterClosedError):
        found.put_later(4)
    assert written(tmp_path / "a") == {1, 2}


@pytest.mark.parametrize("trial", range(20))
def test_a_row_that_races_with_the_end_is_written_or_refused_and_nobody_hangs(tmp_path: Path, trial: int) -> None:
    found = writer(tmp_path / "a")
    accepted: list[int] = []

    def work(start: int) -> None:
        for number in range(start, start + 1000):
            try:
                found.put_later(number)
            except WriterClosedError:
                return
            accepted.append(number)

    asyncio.run(found.put(-1))
    threads = [threading.Thread(target=work, args=(1000 * place,), daemon=True) for place in range(4)]
    for thread in threads:
        thread.start()
    found.close()
    for thread in threads:
        thread.join(10)
        assert not thread.is_alive()
    assert written(tmp_path / "a") == {-1, *accepted}
