"""The workspace's database: its tables, version by version. Documented for other readers in docs/workspace.md."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from sightline.io.sqlite import open_database

FILE_NAME = "corpus.sqlite"

MIGRATIONS = ("schema_1.sql",)
"""Script n brings a database from version n to n + 1; never edit one that has been released."""


def connect(workspace: Path, *, reading: bool = False) -> sqlite3.Connection:
    """Open the workspace's database, made or brought up to date as needed; to be read only, where `reading` will do."""
    scripts = [Path(__file__).with_name(name).read_text("utf-8") for name in MIGRATIONS]
    return open_database(workspace / FILE_NAME, scripts, reading=reading)
