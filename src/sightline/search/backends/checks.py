"""What goes into a back-end is looked at before it goes there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from sightline.errors import UserError
from sightline.models.protocols import Vectors
from sightline.search.backends.base import Rows
from sightline.search.backends.ranking import LONGEST

_OTHER_MODEL = "the index was built by another embedder: name that one, or build the index again"


def checked_batches(batches: Iterable[tuple[Rows, Vectors]], dim: int) -> Iterator[tuple[Rows, Vectors]]:
    """The batches as int64 and float32, each row once (the last one given); empty ones are left out."""
    for rows, vectors in batches:
        rows, vectors = as_rows(rows), np.ascontiguousarray(vectors, dtype="<f4")
        if vectors.ndim != 2 or vectors.shape[1] != dim:
            raise UserError(f"a vector has {_width(vectors)} numbers; this index holds {dim}.", _OTHER_MODEL)
        if len(rows) != len(vectors):
            raise ValueError(f"{len(rows)} rows for {len(vectors)} vectors")
        _refuse_bad_numbers(rows, vectors)
        if len(rows):
            yield _last_of_each(rows, vectors)


def checked_queries(queries: Vectors, dim: int, k: int) -> Vectors:
    """The queries as float32, one a line; a single vector is one query."""
    asked = np.atleast_2d(np.ascontiguousarray(queries, dtype="<f4"))
    if asked.ndim != 2 or asked.shape[1] != dim:
        raise UserError(f"the query has {_width(asked)} numbers; this index holds {dim}.", _OTHER_MODEL)
    if not np.isfinite(asked).all():
        raise UserError("the query's vector holds NaN or infinity.", "the embedder is at fault: try another query")
    if k < 1:
        raise UserError(f"{k} neighbours are none.", "ask for 1 or more")
    return asked


def as_rows(rows: Rows) -> Rows:
    """Row numbers as int64; negative ones are refused."""
    numbers = np.ascontiguousarray(rows, dtype=np.int64)
    if len(numbers) and int(numbers.min()) < 0:
        raise ValueError(f"{int(numbers.min())} is no row: rows count from 0")
    return numbers


def in_order(asked: Rows, found: Rows, vectors: Vectors) -> Vectors:
    """The vectors of `asked`, in that order; `found` came in any order."""
    order = np.argsort(found)
    at = np.searchsorted(found, asked, sorter=order)
    there = at < len(found)
    there[there] = found[order[at[there]]] == asked[there]
    if not there.all():
        raise KeyError(f"row {int(asked[~there][0])} is not in the index")
    return vectors[order[at]]


def _width(vectors: NDArray[np.float32]) -> int:
    return int(vectors.shape[-1]) if vectors.ndim else 0


def _refuse_bad_numbers(rows: Rows, vectors: Vectors) -> None:
    lengths = np.sqrt(np.square(vectors).sum(axis=1))
    bad = np.flatnonzero(~(lengths <= LONGEST))  # NaN is not at most anything.
    if len(bad):
        length = float(lengths[bad[0]])
        what = f"has length {length:.4g}" if np.isfinite(length) else "holds NaN or infinity"
        raise UserError(
            f"the vector of row {int(rows[bad[0]])} {what}; vectors of unit length are kept.",
            "divide each vector by its length before it is put",
        )


def _last_of_each(rows: Rows, vectors: Vectors) -> tuple[Rows, Vectors]:
    unique, at = np.unique(rows[::-1], return_index=True)
    if len(unique) == len(rows):
        return rows, vectors
    kept = len(rows) - 1 - at
    return unique, vectors[kept]
