"""Names of classes that are hashed, kept on disk or shown: fixed, so that a class can be renamed or moved at will.

The repr of a frozen dataclass is part of several hashes (batch jobs, indexes of runs, revisions of an embedder), and
the name of a class is the kind of a column on disk. What they say is what `known_as` was given, now and later.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
_NAMES: dict[type, str] = {}


def known_as(name: str) -> Callable[[type[T]], type[T]]:
    """Decorates a class: `name_of` and its repr say this name, whatever the class is called."""

    def fix(kind: type[T]) -> type[T]:
        _NAMES[kind] = name
        if kind.__repr__ is not object.__repr__:
            kind.__repr__ = _named(kind.__repr__, kind.__qualname__, name)  # type: ignore[method-assign]
        return kind

    return fix


def name_of(kind: type) -> str:
    """The fixed name of a class; of others, what they are called."""
    return _NAMES.get(kind, kind.__name__)


def _named(plain: Callable[[T], str], called: str, name: str) -> Callable[[T], str]:
    """The repr with the fixed name in place of the class's own, with which it begins."""

    def shown(self: T) -> str:
        text = plain(self)
        return name + text.removeprefix(called) if text.startswith(f"{called}(") else text

    return shown
