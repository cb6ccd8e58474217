"""Group commit: many tasks hand rows to one thread, which writes what has gathered in one transaction."""

from __future__ import annotations

import asyncio
import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from typing import Generic, TypeAlias, TypeVar

from sightline.io.sqlite import transaction

Row = TypeVar("Row")
Waiting: TypeAlias = "asyncio.Future[None] | None"
LINGER_SECONDS = 0.004
"""How long the first row of a batch waits for others: about as long as a commit takes."""
_MOST_ENTRIES = 2000


class WriterClosedError(Exception):
    """Something was handed in after the end."""


class GroupWriter(Generic[Row]):
    """Writes rows in the order in which they come; they are acknowledged only when they are on disk."""

    def __init__(
        self,
        connect: Callable[[], sqlite3.Connection],
        write: Callable[[sqlite3.Connection, Sequence[Row]], None],
        rescue: Callable[[sqlite3.Error], bool] = lambda _: False,
    ) -> None:
        """`rescue` is told of each write that failed, in the thread, and whether it is worth trying once more."""
        self._connect, self._write, self._rescue = connect, write, rescue
        self.has_failed = False
        self._queue: queue.SimpleQueue[tuple[Sequence[Row], Waiting] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self.is_closed = False

    async def put(self, *rows: Row) -> None:
        """Hand in rows, and wait until they are committed together; a cancelled wait does not take them back."""
        written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._hand_in(rows, written)
        await written

    def put_later(self, row: Row) -> None:
        """Hand in a row that nobody waits for; it is on disk when `close` returns."""
        self._hand_in((row,), None)

    def close(self) -> None:
        """Write what is left, and end the thread; what is handed in later is refused. Safe to call twice."""
        with self._lock:
            first, self.is_closed = not self.is_closed, True
            if first and self._thread is not None:
                self._queue.put(None)
        if self._thread is not None:
            self._thread.join()

    def _hand_in(self, rows: Sequence[Row], waiting: Waiting) -> None:
        with self._lock:  # So that nothing is handed in behind the mark that ends the thread: nobody would see it.
            if self.is_closed:
                raise WriterClosedError("nothing can be written any more: the file was closed")
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="group writer", daemon=True)
                self._thread.start()
            self._queue.put((rows, waiting))

    def _run(self) -> None:
        database: sqlite3.Connection | None = None
        try:
            while (batch := self._gather()) is not None:
                error: BaseException | None = None
                try:
                    database = database or self._connect()
                    self._commit(database, [row for rows, _ in batch for row in rows])
                except BaseException as caught:  # Whoever waits for these rows has to hear of it.
                    error, self.has_failed = caught, True
                _acknowledge([waiting for _, waiting in batch], error)
        finally:
            if database is not None:
                database.close()

    def _commit(self, database: sqlite3.Connection, rows: Sequence[Row]) -> None:
        try:
            with transaction(database):
                self._write(database, rows)
        except sqlite3.Error as error:
            if not self._rescue(error):
                raise
            with transaction(database):
                self._write(database, rows)

    def _gather(self) -> list[tuple[Sequence[Row], Waiting]] | None:
        """Rows for one transaction; None when there is nothing more to come."""
        first = self._queue.get()
        if first is None:
            return None
        time.sleep(LINGER_SECONDS)
        batch = [first]
        while len(batch) < _MOST_ENTRIES:
            try:
                entry = self._queue.get_nowait()
            except queue.Empty:
                break
            if entry is None:
                self._queue.put(None)  # Seen again once this batch is written.
                break
            batch.append(entry)
        return batch


def _acknowledge(waiting: Sequence[Waiting], error: BaseException | None) -> None:
    """Wake whoever waits: one call into each event loop, however many tasks wait there."""
    by_loop: dict[asyncio.AbstractEventLoop, list[asyncio.Future[None]]] = {}
    for one in waiting:
        if one is not None:
            by_loop.setdefault(one.get_loop(), []).append(one)
    for loop, futures in by_loop.items():
        try:
            loop.call_soon_threadsafe(_settle, futures, error)
        except RuntimeError:  # The loop was closed: its tasks no longer wait.
            continue


def _settle(futures: Sequence[asyncio.Future[None]], error: BaseException | None) -> None:
    for future in futures:
        if future.done():  # Cancelled meanwhile.
            continue
        if error is None:
            future.set_result(None)
        else:
            future.set_exception(error)
