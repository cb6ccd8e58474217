"""Where vectors lie: what every back-end can do, and what it is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sightline.errors import SightlineError, UserError
from sightline.models.protocols import Vectors

Rows: TypeAlias = NDArray[np.int64]
"""Numbers of pictures in an index, from 0 on."""
Queries: TypeAlias = Callable[[], Mapping[str, Vectors]]
"""Queries by kind, made when they are needed."""


class DamagedError(UserError):
    """The files of a back-end are not what was written to them; they can be made anew from the workspace's vectors."""


class BackendGoneError(SightlineError):
    """The server did not answer; nothing is known to be wrong with the question, so asking again may help."""

    retryable = True

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"the {name} server went away: {why}.", "see whether it runs and can be reached, then go on")


class Nearest(NamedTuple):
    """For each query, rows and their scores (cosine), best first; among equal scores the lower row."""

    rows: list[Rows]
    scores: list[NDArray[np.float32]]


class VectorIndex(Protocol):
    """Unit-length vectors by row number; exact unless `exact` says otherwise.

    A row that is put again replaces what was there. `within` limits a search to those rows (ascending, no row twice):
    the answer is then exact too, whatever the back-end. Only rows that are there are ever returned, so an answer may be
    shorter than `k`.
    """

    @property
    def name(self) -> str: ...

    @property
    def exact(self) -> bool: ...

    @property
    def dim(self) -> int: ...

    def __len__(self) -> int: ...

    def put(self, batches: Iterable[tuple[Rows, Vectors]]) -> None: ...

    def remove(self, rows: Rows) -> None: ...

    def rows(self) -> Rows:
        """All row numbers that are there, ascending."""
        ...

    def get(self, rows: Rows) -> Vectors:
        """The vectors of rows that are there."""
        ...

    def nearest(self, queries: Vectors, k: int, within: Rows | None = None) -> Nearest: ...

    def flush(self) -> None:
        """Make what was put durable, and build what an approximate search needs."""
        ...

    def close(self) -> None: ...


@runtime_checkable
class Probing(Protocol):
    """A back-end that tries queries when it builds, and says what share of their true neighbours it finds."""

    @property
    def recalls(self) -> Mapping[str, float]: ...

    def expect(self, queries: Queries) -> None: ...


@dataclass(frozen=True, slots=True)
class BackendKind:
    """How a back-end is opened; `address` is what it takes for one where none is given, None if it takes none."""

    open: Callable[..., VectorIndex]
    options: Mapping[str, type]
    address: str | None = None
