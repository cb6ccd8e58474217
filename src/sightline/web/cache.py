"""Values that are kept until what they were made from changes: made while one waits, or in the background."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from pathlib import Path
from typing import Generic, TypeVar

T = TypeVar("T")
_PATIENCE = 0.5


def stamp_of(path: Path) -> tuple[int, int]:
    """Changes whenever a file does."""
    state = path.stat()
    return state.st_mtime_ns, state.st_size


class StampedCache(Generic[T]):
    """Values by name, each made again when its stamp changes; who waits for one is not in the way of another."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._locks: dict[Hashable, threading.Lock] = {}
        self._held: dict[Hashable, tuple[object, T]] = {}

    def get(self, name: Hashable, stamp: object, make: Callable[[], T]) -> T:
        with self._lock:
            lock = self._locks.setdefault(name, threading.Lock())
        with lock:  # Two people who open the same benchmark read it once.
            held = self._held.get(name)
            if held is None or held[0] != stamp:
                held = self._held[name] = (stamp, make())
            return held[1]


class BackgroundCache(Generic[T]):
    """Values by name, each made in a thread of its own, once for each stamp.

    For what takes long to make: a page says that it is being made, rather than keep somebody waiting.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: dict[Hashable, tuple[object, Future[T]]] = {}

    def get(self, name: Hashable, stamp: object, make: Callable[[], T], patience: float | None = _PATIENCE) -> T | None:
        """The value; None while it is being made. What stopped the making is raised; who asks next tries again."""
        with self._lock:
            held = self._held.get(name)
            if held is None or held[0] != stamp:
                held = self._held[name] = (stamp, Future())
                threading.Thread(target=_fill, args=(held[1], make), daemon=True).start()
        try:
            return held[1].result(patience)
        except TimeoutError:
            return None
        except BaseException:
            with self._lock:
                if self._held.get(name) is held:
                    del self._held[name]
            raise


def _fill(future: Future[T], make: Callable[[], T]) -> None:
    try:
        future.set_result(make())
    except BaseException as error:  # It belongs to whoever asked.
        future.set_exception(error)
