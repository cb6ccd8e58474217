"""A bounded memory of what was made before."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Cache(Generic[Value]):
    """Keeps what was used last, up to a number of bytes; what is made must depend on the key alone."""

    def __init__(self, limit: int, size: Callable[[Value], int]) -> None:
        self._limit = limit
        self._size = size
        self._held = 0
        self._values: OrderedDict[Hashable, Value] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """The value for the key, made now if it is not known."""
        with self._lock:
            value = self._values.get(key)
            if value is not None:
                self._values.move_to_end(key)
                return value
        made = make()
        with self._lock:
            if key not in self._values:
                self._values[key] = made
                self._held += self._size(made)
            while self._held > self._limit and len(self._values) > 1:
                self._held -= self._size(self._values.popitem(last=False)[1])
        return made
