"""What stores that keep vectors in a service of their own have in common; each adds only how its service is asked.

Addresses go into manifests, messages and logs without what is secret in them.
"""

from __future__ import annotations

import re
import secrets
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import ClassVar
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from sightline.errors import SightlineError, UserError
from sightline.io.jsonl import read_json, write_json
from sightline.models.protocols import Vectors
from sightline.retrieval.vector_stores.base import (
    NOTHING,
    FoundVectors,
    Nearest,
    RankedRows,
    Rows,
    VectorStoreGoneError,
    as_rows,
    checked_batches,
    checked_queries,
    in_order,
    joined,
    scores_of,
    settled,
)

_IN_URL = re.compile(r"(?P<before>\w+://[^/\s:@]*):(?P<secret>[^\s/?#]*)@")
_IN_PAIRS = re.compile(
    r"(?P<before>\b(?:password|sslpassword|api_?key|token)\s*=\s*)(?P<secret>'(?:[^'\\]|\\.)*'|[^\s&,#]+)", re.I
)
FILE_NAME = "backend.json"


def public(address: str) -> str:
    """The address with every password and key taken out."""
    return _IN_PAIRS.sub(r"\g<before>…", _IN_URL.sub(r"\g<before>@", address))


def without_secrets(message: str, address: str) -> str:
    """One line of a message about an address, with no secret of it in there."""
    line = public(" ".join(message.split()).rstrip("."))
    for pattern in (_IN_URL, _IN_PAIRS):
        for match in pattern.finditer(address):
            secret = match["secret"].strip("'")
            for form in {secret, unquote(secret)} - {""}:
                line = line.replace(form, "…")
    return line


def collection_name(folder: Path, kind: str, dim: int, *, create: bool) -> str:
    """What the index is called at its service: random, made once, kept in the index's folder; no secret in it."""
    path = folder / FILE_NAME
    if not path.is_file():
        if not create:
            raise UserError(f"{folder} holds no index kept in {kind}.", "build the index first: sightline index")
        folder.mkdir(parents=True, exist_ok=True)
        write_json(path, {"kind": kind, "dim": dim, "collection": f"sightline_{secrets.token_hex(8)}"})
    known = read_json(path)
    if known["kind"] != kind:
        raise UserError(
            f"the index in {folder} is kept in {known['kind']}, not in {kind}.", "name that back-end, or build it again"
        )
    if known["dim"] != dim:
        raise UserError(
            f"the index in {folder} holds vectors of {known['dim']} numbers, not of {dim}.",
            "another embedder built it: name that one, or build the index again",
        )
    return str(known["collection"])


class ServiceIndex(ABC):
    """A `VectorIndex` on six questions to a service."""

    kind: ClassVar[str]
    label: ClassVar[str]
    """The name of the service in messages."""
    page: ClassVar[int] = 1000
    """Vectors that travel at a time."""
    span: ClassVar[int] = 10_000
    """Rows of `within` that one question can carry."""
    most: ClassVar[int | None] = None
    """Neighbours that the service gives at once."""

    def __init__(self, dim: int, address: str = "", *, hnsw: bool = False) -> None:
        self._dim, self._address, self._hnsw = dim, address, hnsw

    @property
    def name(self) -> str:
        return self.kind

    @property
    def dim(self) -> int:
        return self._dim

    @property
    def exact(self) -> bool:
        return not self._hnsw

    def __len__(self) -> int:
        with self._answering():
            return self._count()

    def put(self, batches: Iterable[tuple[Rows, Vectors]]) -> None:
        """Keep vectors; those of a batch are there when the next is taken."""
        for rows, vectors in checked_batches(batches, self._dim):
            for part in _parts(len(rows), self.page):
                with self._answering():
                    self._upsert(rows[part], vectors[part])

    def remove(self, rows: Rows) -> None:
        """Forget rows; those that are not there are skipped."""
        unwanted = as_rows(rows)
        for part in _parts(len(unwanted), self.page):
            with self._answering():
                self._delete(unwanted[part])

    def rows(self) -> Rows:
        """All row numbers that are there, ascending."""
        with self._answering():
            return np.sort(self._all_rows())

    def get(self, rows: Rows) -> Vectors:
        """The vectors of rows that are there; a KeyError names one that is not."""
        wanted = as_rows(rows)
        pages = [np.zeros((0, self._dim), np.float32)]
        for part in _parts(len(wanted), self.page):
            with self._answering():
                found = self._fetch(wanted[part])
            pages.append(in_order(wanted[part], found.rows, found.vectors))
        return np.concatenate(pages)

    def nearest(self, queries: Vectors, k: int, within: Rows | None = None) -> Nearest:
        """The k nearest of all, or of the rows `within`, for each query."""
        asked = checked_queries(queries, self._dim, k)
        limits = [None] if within is None else [as_rows(within)[part] for part in _parts(len(within), self.span)]
        best = [self._best(query, k, limits) for query in asked]
        return Nearest([each.rows for each in best], [each.scores for each in best])

    def flush(self) -> None:
        """Nothing is left to do: services keep what they have acknowledged."""
        return

    @abstractmethod
    def close(self) -> None: ...

    def _best(self, query: NDArray[np.float32], k: int, limits: Iterable[Rows | None]) -> RankedRows:
        best = NOTHING
        for limit in limits:
            with self._answering():
                part = settled(partial(self._near, query, limit), query, k, self.most)
            best = joined(best, self._compared(query, k, limit) if part is None else part, k)
        return best

    def _near(self, query: NDArray[np.float32], within: Rows | None, n: int) -> FoundVectors:
        return self._closest(query, n, within)

    def _compared(self, query: NDArray[np.float32], k: int, within: Rows | None) -> RankedRows:
        """Every vector brought here and compared: where the service gives too few at once."""
        best, rows = NOTHING, self.rows() if within is None else within
        for part in _parts(len(rows), self.page):
            with self._answering():
                page = self._fetch(rows[part])
            best = joined(best, RankedRows(page.rows, scores_of(page.vectors, query)), k)
        return best

    # --- the questions ----------------------------------------------------------------------------------------

    @contextmanager
    def _answering(self) -> Iterator[None]:
        """Turns the errors of a service into ours."""
        try:
            yield
        except Exception as error:
            told = self._told(error)
            if told is None:
                raise
            raise told from None

    @abstractmethod
    def _told(self, error: Exception) -> SightlineError | None:
        """An error of the service in our words; None for any other error."""

    def _gone(self, why: object) -> VectorStoreGoneError:
        return VectorStoreGoneError(self.label, without_secrets(str(why), self._address))

    def _refused(self, why: object) -> SightlineError:
        return SightlineError(f"{self.label} refused: {without_secrets(str(why), self._address)}.")

    @abstractmethod
    def _count(self) -> int: ...

    @abstractmethod
    def _upsert(self, rows: Rows, vectors: Vectors) -> None: ...

    @abstractmethod
    def _delete(self, rows: Rows) -> None: ...

    @abstractmethod
    def _all_rows(self) -> Rows: ...

    @abstractmethod
    def _fetch(self, rows: Rows) -> FoundVectors:
        """Those of the rows that are there, in any order."""

    @abstractmethod
    def _closest(self, query: NDArray[np.float32], n: int, within: Rows | None) -> FoundVectors:
        """The n with the highest product with the query, of all or of `within`; fewer only where there are no more."""


def found_vectors(rows: Iterable[int], vectors: Iterable[object], dim: int) -> FoundVectors:
    """Rows and vectors as services give them, as arrays."""
    return FoundVectors(
        np.fromiter(rows, np.int64),
        np.array(list(vectors), dtype=np.float32).reshape(-1, dim),
    )


def _parts(count: int, size: int) -> Iterator[slice]:
    return (slice(at, at + size) for at in range(0, count, size))
