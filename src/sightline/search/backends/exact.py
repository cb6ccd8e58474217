"""The default: every vector compared, in this process, from files of the index; after a quantised pass if asked for."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from sightline.models.protocols import Vectors
from sightline.search.backends.base import BackendKind, Nearest, Rows
from sightline.search.backends.checks import as_rows, checked_batches, checked_queries
from sightline.search.backends.codes import Codes
from sightline.search.backends.ranking import Ranked
from sightline.search.backends.scan import ALMOST_ALL, Places, nearest_slots
from sightline.search.backends.slots import Slots

_FEW_QUERIES = 4
"""More queries at once share one product in single precision, which is then the faster way."""


class ExactIndex:
    """Vectors in memory-mapped files; what `put` was given is kept when it returns."""

    exact = True

    def __init__(self, folder: Path, dim: int, *, create: bool, quantised: bool = False) -> None:
        self.slots = Slots(folder, dim, create=create)
        self._codes = Codes(self.slots, whole=create) if quantised else None

    @property
    def name(self) -> str:
        return "exact" if self._codes is None else "exact:quantised"

    @property
    def dim(self) -> int:
        return self.slots.dim

    def __len__(self) -> int:
        self.slots.refresh()
        return len(self.slots)

    def put(self, batches: Iterable[tuple[Rows, Vectors]]) -> None:
        """Keep vectors, batch by batch: each batch whole, and known to all, before the next is taken."""
        for rows, vectors in checked_batches(batches, self.dim):
            self.slots.append(rows, vectors)

    def remove(self, rows: Rows) -> None:
        """Forget rows; those that are not there are passed over."""
        self.slots.remove(as_rows(rows))

    def rows(self) -> Rows:
        """All row numbers that are there, ascending."""
        self.slots.refresh()
        return self.slots.rows()

    def get(self, rows: Rows) -> Vectors:
        """The vectors of rows that are there; a KeyError names one that is not."""
        self.slots.refresh()
        wanted = as_rows(rows)
        found = self.slots.find(wanted)
        if len(found) and int(found.min()) < 0:
            raise KeyError(f"row {int(wanted[found < 0][0])} is not in the index")
        return self.slots.vectors[found]

    def nearest(self, queries: Vectors, k: int, within: Rows | None = None) -> Nearest:
        """The k nearest of all, or of the rows `within`, for each query."""
        asked = checked_queries(queries, self.dim, k)
        self.slots.refresh()
        places = None if within is None else self.places(within)
        best = self._ranked(asked, k, places)
        return Nearest([each.rows for each in best], [each.scores for each in best])

    def places(self, within: Rows) -> Places:
        """The living slots of rows, ascending."""
        found = self.slots.find(as_rows(within))
        found = found[found >= 0]
        found.sort()
        return found

    def flush(self) -> None:
        """Give back the room of what was removed, and quantise what is new."""
        self.slots.refresh()
        self.slots.compact()
        if self._codes is not None:
            self._codes.catch_up()

    def close(self) -> None:
        self.slots.database.close()

    def _ranked(self, queries: Vectors, k: int, within: Places | None) -> list[Ranked]:
        many = within is None or len(within) >= ALMOST_ALL * self.slots.used
        if self._codes is not None and many and len(queries) <= _FEW_QUERIES:
            return [self._codes.nearest(query, k, within) for query in queries]
        return nearest_slots(self.slots, queries, k, within)


KIND = BackendKind(ExactIndex, {"quantised": bool})
