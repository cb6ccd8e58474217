"""A damaged table of an index: told from other faults, and said with its fix."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from sightline.errors import UserError
from sightline.search.backends.base import DamagedError
from sightline.search.checksums import rebuild_fix
from sightline.search.index.codec import ContentError

FILE_NAME = "index.sqlite"
_WORDS_CHECK = "INSERT INTO words (words) VALUES ('integrity-check')"


@contextmanager
def noticing_damage(folder: Path) -> Iterator[None]:
    """What can't be read from the table of an index is damage, if a look at the whole of it confirms that."""
    path = folder / FILE_NAME
    try:
        yield
    except ContentError as error:
        raise DamagedError(f"{path} is damaged: {error}.", rebuild_fix(folder)) from error
    except (sqlite3.DatabaseError, UserError) as error:
        # An error of ours may stand for one of SQLite.
        cause = error.__context__ if isinstance(error, UserError) else error
        if not isinstance(cause, sqlite3.DatabaseError) or not _is_damaged(path):
            raise
        raise DamagedError(f"{path} is damaged: {cause}.", rebuild_fix(folder)) from error


def quick_check(database: sqlite3.Connection) -> None:
    """Look at every page of a database; what is wrong is raised as SQLite would."""
    (said,) = database.execute("PRAGMA quick_check(1)").fetchone()
    if said != "ok":
        raise sqlite3.DatabaseError(" ".join(said.split()))


def _is_damaged(path: Path) -> bool:
    """A lock, a full disk, and another database that is damaged, are no damage of this one."""
    if not path.is_file():
        return False
    try:
        with closing(sqlite3.connect(path, timeout=60, isolation_level=None)) as database:
            quick_check(database)
            database.execute(_WORDS_CHECK)
    except sqlite3.OperationalError:
        return False
    except sqlite3.DatabaseError:
        return True
    return False
