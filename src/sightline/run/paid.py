"""What was asked of models for a task: from the workspace's journal into the ledger of the run."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

from sightline.engine.journal import FILE_NAME
from sightline.types import LedgerEntry

_CALLS = """SELECT id, stage, model, input, cached, output, reasoning, image, usd, seconds, failure IS NULL
    FROM calls WHERE id > ? AND task = ? ORDER BY id"""


class PaidCalls:
    """Calls that are made for tasks from now on, each told once; those that the journal answered cost nothing."""

    def __init__(self, workspace: Path) -> None:
        self._path = workspace / FILE_NAME
        self._database: sqlite3.Connection | None = None
        self._lock = threading.Lock()
        self._told: dict[str, int] = {}
        self._start = 0
        database = self._opened()
        if database is not None:
            self._start = database.execute("SELECT coalesce(max(id), 0) FROM calls").fetchone()[0]

    def of(self, task: str) -> tuple[LedgerEntry, ...]:
        """The calls for a task that were not told before."""
        with self._lock:
            database = self._opened()
            if database is None:
                return ()
            rows = database.execute(_CALLS, (self._told.get(task, self._start), task)).fetchall()
            if rows:
                self._told[task] = rows[-1][0]
        return tuple(
            LedgerEntry(
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
            )
            for _, stage, model, sent, cached, output, reasoning, image, usd, seconds, ok in rows
        )

    def close(self) -> None:
        if self._database is not None:
            self._database.close()

    def _opened(self) -> sqlite3.Connection | None:
        """The journal, to be read only; None as long as nobody was asked."""
        if self._database is None and self._path.is_file():
            address = f"{self._path.absolute().as_uri()}?mode=ro"
            self._database = sqlite3.connect(address, uri=True, check_same_thread=False)
        return self._database
