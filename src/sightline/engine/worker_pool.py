"""A function over many items, on all cores, in worker processes that may die without taking the work with them.

`concurrent.futures` loses the whole pool when one worker is killed by a hostile file; here only that item is lost,
and its result is a `Died`. Workers are started as `python -m`, so the caller's script is never imported again.
"""

from __future__ import annotations

import os
import pickle
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sightline.engine import worker
from sightline.engine.worker import receive, send

SECONDS_PER_ITEM = 120.0


def single_core_environment() -> dict[str, str]:
    """The environment of a process that is one of as many as there are cores: numpy need not start threads in it."""
    return {"OPENBLAS_NUM_THREADS": "1", **os.environ}


@dataclass(frozen=True, slots=True)
class Died:
    """The worker process ended, or had to be ended, while it worked on this item."""

    why: str


_most_cores: int | None = None


def use_cores(most: int) -> None:
    """This process is one of several on its machine: it may use so many cores."""
    global _most_cores  # noqa: PLW0603 (of the whole process, as affinity is)
    _most_cores = most


def cores() -> int:
    """The cores that this process may use."""
    there = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(there, _most_cores or there)


def map_in_processes(
    function: Callable[[Any], Any],
    items: Iterable[Any],
    *,
    workers: int,
    chunk: int = 16,
    seconds_per_item: float = SECONDS_PER_ITEM,
) -> Generator[tuple[Any, Any], None, None]:
    """Yield (item, result) as they finish, in no fixed order; `items` is drawn in this thread, only as fast as used.

    `function` stands at the top of a module. An item that kills its worker, or takes longer than `seconds_per_item`,
    yields `Died`.
    """
    todo: queue.SimpleQueue[list[Any] | None] = queue.SimpleQueue()
    done: queue.SimpleQueue[list[tuple[Any, Any]] | BaseException] = queue.SimpleQueue()
    lanes = [_Lane(GuardedWorker(function, seconds_per_item), todo, done) for _ in range(workers)]
    source = iter(items)
    waiting = 0
    try:
        while True:
            while waiting < 2 * workers and (batch := list(islice(source, chunk))):
                todo.put(batch)
                waiting += 1
            if waiting == 0:
                return
            result = done.get()
            if isinstance(result, BaseException):
                raise result
            waiting -= 1
            yield from result
    finally:
        for _ in lanes:
            todo.put(None)
        for lane in lanes:
            lane.stop()


class GuardedWorker:
    """One worker process, started when it is first used, and again when it died."""

    def __init__(self, function: Callable[[Any], Any], seconds_per_item: float = SECONDS_PER_ITEM) -> None:
        self._function, self._seconds = function, seconds_per_item
        self._process: _Process | None = None
        self._stopped = False

    def map(self, batch: list[Any]) -> list[tuple[Any, Any]]:
        """(item, result) for each; when the process dies, the items are tried one by one, and one is `Died`."""
        try:
            return list(zip(batch, self._call(batch), strict=True))
        except _WorkerDiedError as died:
            if len(batch) == 1 or self._stopped:
                return [(item, Died(str(died))) for item in batch]
            return [pair for item in batch for pair in self.map([item])]

    def stop(self) -> None:
        """End the process, whatever it does."""
        self._stopped = True
        if self._process is not None:
            self._process.end()

    def _call(self, batch: list[Any]) -> list[Any]:
        if self._process is None or not self._process.alive:
            self._process = _Process(self._function)
        return self._process.call(batch, self._seconds * len(batch))


class _Lane(threading.Thread):
    """Feeds one worker process."""

    def __init__(
        self,
        worker: GuardedWorker,
        todo: queue.SimpleQueue[list[Any] | None],
        done: queue.SimpleQueue[list[tuple[Any, Any]] | BaseException],
    ) -> None:
        super().__init__(daemon=True)
        self._worker, self._todo, self._done = worker, todo, done
        self._stopped = False
        self.start()

    def run(self) -> None:
        while (batch := self._todo.get()) is not None and not self._stopped:
            try:
                self._done.put(self._worker.map(batch))
            except BaseException as error:
                self._done.put(error)

    def stop(self) -> None:
        self._stopped = True
        self._worker.stop()


class _WorkerDiedError(Exception):
    """The worker is gone; the message says how."""


class _Process:
    """One worker process."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed by end())
        self._popen = subprocess.Popen(
            [sys.executable, "-m", worker.__name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=single_core_environment(),
        )
        try:
            self._exchange(function)
        except pickle.PicklingError as error:
            self.end()
            raise RuntimeError(f"a worker process could not start: {error}") from None
        except _WorkerDiedError as died:
            raise RuntimeError(f"a worker process could not start: {died}") from None

    @property
    def alive(self) -> bool:
        return self._popen.poll() is None

    def call(self, batch: list[Any], seconds: float) -> list[Any]:
        watchdog = threading.Timer(seconds, self._popen.kill)
        watchdog.start()
        try:
            results: list[Any] = self._exchange(batch)
        finally:
            watchdog.cancel()
        return results

    def end(self) -> None:
        self._popen.kill()
        self._popen.wait()
        for pipe in (self._popen.stdin, self._popen.stdout, self._errors):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:  # Closing flushes what the dead worker never read.
                    continue

    def _exchange(self, value: Any) -> Any:
        assert self._popen.stdin is not None and self._popen.stdout is not None
        try:
            send(self._popen.stdin, value)  # type: ignore[arg-type]
            return receive(self._popen.stdout)  # type: ignore[arg-type]
        except (EOFError, OSError, ValueError):
            code = self._popen.wait()
            tail = self._last_words()
            self.end()
            raise _WorkerDiedError(f"exit code {code}{': ' + tail if tail else ''}") from None

    def _last_words(self) -> str:
        self._errors.seek(0)
        lines = self._errors.read()[-4000:].decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else ""
