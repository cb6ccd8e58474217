"""A database that can't be written is read where that will do; whatever would write is refused in words."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sightline.errors import UserError
from sightline.io.sqlite import ReadOnlyError, open_database, transaction

SCRIPTS = ("CREATE TABLE things (name TEXT)",)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with open_database(tmp_path / "things.sqlite", SCRIPTS) as database:
        database.execute("INSERT INTO things VALUES ('a')")
    database.close()
    return tmp_path / "things.sqlite"


@pytest.fixture
def locked(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a disk that is mounted read-only: SQLite can't make the files that WAL needs."""
    real: Callable[..., sqlite3.Connection] = sqlite3.connect

    def connect(database: Any, **more: Any) -> sqlite3.Connection:
        if not more.get("uri"):
            raise sqlite3.OperationalError("unable to open database file")
        return real(database, **more)

    monkeypatch.setattr(sqlite3, "connect", connect)


@pytest.mark.usefixtures("locked")
def test_it_is_read_and_not_written(path: Path) -> None:
    database = open_database(path, SCRIPTS, reading=True)
    assert database.execute("SELECT name FROM things").fetchall() == [("a",)]
    with pytest.raises(ReadOnlyError, match="can't be written"), transaction(database):
        database.execute("INSERT INTO things VALUES ('b')")
    assert database.execute("SELECT count(*) FROM things").fetchone() == (1,)
    database.close()
    assert [each.name for each in path.parent.iterdir()] == ["things.sqlite"]


@pytest.mark.usefixtures("locked")
def test_who_means_to_write_is_told_at_once(path: Path) -> None:
    with pytest.raises(UserError, match="can't be written"):
        open_database(path, SCRIPTS)
    with pytest.raises(UserError, match="can't be written"):
        open_database(path.with_name("none.sqlite"), SCRIPTS, reading=True)


@pytest.mark.usefixtures("locked")
def test_another_version_can_not_be_brought_up_to_date(path: Path) -> None:
    with pytest.raises(UserError, match="schema 1, not 2"):
        open_database(path, (*SCRIPTS, "DROP TABLE things"), reading=True)


def test_other_faults_of_a_transaction_stay_what_they_are(path: Path) -> None:
    database = open_database(path, SCRIPTS, reading=True)
    with pytest.raises(sqlite3.OperationalError, match="no such table"), transaction(database):
        database.execute("INSERT INTO others VALUES (1)")
    with transaction(database):
        database.execute("INSERT INTO things VALUES ('b')")
    assert database.execute("SELECT count(*) FROM things").fetchone() == (2,)
    database.close()


def test_what_can_not_be_committed_is_undone(tmp_path: Path) -> None:
    late = "CREATE TABLE parts (whole INTEGER REFERENCES wholes (id) DEFERRABLE INITIALLY DEFERRED)"
    database = open_database(tmp_path / "wholes.sqlite", (f"CREATE TABLE wholes (id INTEGER PRIMARY KEY); {late}",))
    with pytest.raises(sqlite3.IntegrityError), transaction(database):
        database.execute("INSERT INTO parts VALUES (1)")  # Refused by COMMIT, which leaves it open.
    assert not database.in_transaction
    with transaction(database):
        database.execute("INSERT INTO wholes VALUES (2)")
    database.close()


def test_a_disk_without_room_for_a_new_database_is_said(tmp_path: Path) -> None:
    code = (
        "import resource, sys; from pathlib import Path; from sightline.io.sqlite import open_database\n"
        "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (12_000, 12_000))\n"
        "open_database(Path(sys.argv[1]), ['CREATE TABLE a (b); ' + 'INSERT INTO a VALUES (zeroblob(9000)); ' * 9])"
    )
    words = [sys.executable, "-c", code, str(tmp_path / "x.sqlite")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert "StorageError" in done.stderr and "make room on its disk" in done.stderr
