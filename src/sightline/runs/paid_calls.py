"""What was asked of models for a task: from the workspace's journal into the ledger of the run."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import threading
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from sightline.benchmark.problems import stop
from sightline.calls.journal_tables import JOURNAL_FILE
from sightline.calls.session import reused_keys
from sightline.io.jsonl import read_json, write_json
from sightline.runs.folder import LEDGER, open_run
from sightline.types import LedgerEntry

BEGUN = "journal.json"
"""In the folder of a run: the journal that it uses, and the last call there before the run began."""
_COLUMNS = "id, key, stage, model, input, cached, output, reasoning, image, usd, seconds, failure IS NULL"
_KEY_BYTES = 32
_CALLS = f"SELECT {_COLUMNS} FROM calls WHERE id > ? AND task = ? ORDER BY id"
_REUSED = f"""SELECT {_COLUMNS} FROM calls
    WHERE key = ? AND reusable = 1 AND id > ? AND id <= ? AND task = ? ORDER BY id DESC LIMIT 1"""


class PaidCalls:
    """Calls that are made for tasks from now on, each told once; those that the journal answered cost nothing.

    Of a run that goes on in `folder`, calls that it made before and that are not in its ledger, because the attempt was
    cut off, are told when they are reused, and marked.
    """

    def __init__(self, workspace: Path, folder: Path | None = None) -> None:
        self._path, self._folder = workspace / JOURNAL_FILE, folder
        self._database: sqlite3.Connection | None = None
        self._lock = threading.Lock()
        self._told: dict[str, int] = {}
        self._known: set[bytes] = set()
        self._in_ledger: Counter[LedgerEntry] | None = None
        self._start = self._last()
        self._begun = self._start if folder is None else _begun(folder, self._path, self._start)

    def begin(self) -> None:
        """Note in the run's folder where the journal stands, unless the run began before."""
        if self._folder is not None and not (self._folder / BEGUN).is_file():
            write_json(self._folder / BEGUN, {"journal": _name_of(self._path), "after": self._start})

    def of(self, task: str) -> tuple[LedgerEntry, ...]:
        """The calls for a task that were not told before."""
        with self._lock:
            database = self._opened()
            if database is None:
                return ()
            rows = database.execute(_CALLS, (self._told.get(task, self._start), task)).fetchall()
            if rows:
                self._told[task] = rows[-1][0]
            return (*self._reused(database, task), *(_entry(task, row) for row in rows))

    def close(self) -> None:
        if self._database is not None:
            self._database.close()

    def _reused(self, database: sqlite3.Connection, task: str) -> list[LedgerEntry]:
        """Calls of this run that were cut off, in the order in which they are reused."""
        if self._begun >= self._start:
            return []
        found: list[LedgerEntry] = []
        for key in reused_keys():
            row = None
            if key not in self._known:
                row = database.execute(_REUSED, (key, self._begun, self._start, task)).fetchone()
            self._known.add(key)
            if row is not None and not self._is_in_ledger(entry := _entry(task, row)):
                found.append(replace(entry, from_journal=True))
        return found

    def _is_in_ledger(self, entry: LedgerEntry) -> bool:
        """Was a call told before the run was stopped? Tokens and the time to the last digit tell calls apart."""
        if self._in_ledger is None:
            assert self._folder is not None
            rows = open_run(self._folder, stop).source.rows(LEDGER)
            self._in_ledger = Counter(replace(row, from_journal=False, key=None) for _, row in rows)
        told = replace(entry, key=None)  # Ledgers of before have no keys.
        self._in_ledger[told] -= 1
        return self._in_ledger[told] >= 0

    def _last(self) -> int:
        database = self._opened()
        return 0 if database is None else int(database.execute("SELECT coalesce(max(id), 0) FROM calls").fetchone()[0])

    def _opened(self) -> sqlite3.Connection | None:
        """The journal, to be read only; None as long as nobody was asked."""
        if self._database is None and self._path.is_file():
            address = f"{self._path.absolute().as_uri()}?mode=ro"
            self._database = sqlite3.connect(address, uri=True, check_same_thread=False)
        return self._database


def _begun(folder: Path, journal: Path, otherwise: int) -> int:
    """The last call before the run in a folder began; another journal knows nothing of it."""
    path = folder / BEGUN
    told: dict[str, Any] = read_json(path) if path.is_file() else {}
    after = told.get("after")
    # Runs of before name the journal by its path.
    ours = told.get("journal") in (_name_of(journal), str(journal.absolute()))
    return after if isinstance(after, int) and ours else otherwise


def _name_of(journal: Path) -> str:
    """A journal as a run knows it again: a hash, since runs are passed on and paths are nobody else's business."""
    return hashlib.sha256(os.fsencode(journal.absolute())).hexdigest()[:32]


def _entry(task: str, row: tuple[Any, ...]) -> LedgerEntry:
    _, key, stage, model, sent, cached, output, reasoning, image, usd, seconds, ok = row
    return LedgerEntry(
        stage=stage,
        model=model,
        task_id=task,
        tokens_in=sent,
        tokens_cached=cached,
        tokens_out=output,
        tokens_reasoning=reasoning,
        tokens_image=image,
        usd=usd,
        seconds=seconds,
        ok=bool(ok),
        key=key.hex() if len(key) == _KEY_BYTES else None,
    )
