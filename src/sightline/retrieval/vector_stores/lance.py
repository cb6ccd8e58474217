"""LanceDB: embedded, on disk, for corpora past memory; flat until it is large, then with an index (IVF)."""

from __future__ import annotations

import math
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.errors import SightlineError, UserError, needs_extra
from sightline.models.protocols import Vectors
from sightline.retrieval.vector_stores.base import BackendKind, FoundVectors, Rows
from sightline.retrieval.vector_stores.service import ServiceIndex, collection_name

LARGE = 1_000_000
"""Rows from which on an index is built; below, every vector is compared."""
_INDEX = "vector_idx"
_PROBES, _REFINED = 64, 10


class LanceIndex(ServiceIndex):
    """Vectors in a Lance table in the index's folder; `least` is how many rows make an index worth while."""

    kind, label = "lance", "LanceDB"
    page = 50_000

    def __init__(self, folder: Path, dim: int, *, create: bool, least: int = LARGE) -> None:
        with needs_extra('the back-end "lance"', "lance"):
            import lancedb
            import pyarrow
            from lancedb.index import IvfFlat
        super().__init__(dim)
        self._arrow, self._index_kind, self._least = pyarrow, IvfFlat, least
        name = collection_name(folder, self.kind, dim, create=create)
        self._schema = pyarrow.schema([("row", pyarrow.int64()), ("vector", pyarrow.list_(pyarrow.float32(), dim))])
        with self._answering():
            self._table: Any = lancedb.connect(folder / "lance").create_table(name, schema=self._schema, exist_ok=True)
            self._indexed = self._has_index()

    @property
    def exact(self) -> bool:
        return not self._indexed

    def flush(self) -> None:
        """Put the pieces of many writes together, and build the index once there are enough rows."""
        with self._answering():
            self._table.optimize(cleanup_older_than=timedelta(hours=1))
            count = self._count()
            if not self._indexed and count >= self._least:
                lists = self._index_kind(distance_type="dot", num_partitions=max(1, round(math.sqrt(count))))
                self._table.create_index("vector", config=lists)
            self._indexed = self._has_index()

    def close(self) -> None:
        self._table = None

    # --- the questions ----------------------------------------------------------------------------------------

    def _count(self) -> int:
        return int(self._table.count_rows())

    def _upsert(self, rows: Rows, vectors: Vectors) -> None:
        arrow = self._arrow
        lists = arrow.FixedSizeListArray.from_arrays(arrow.array(vectors.ravel()), self._dim)
        batch = arrow.Table.from_arrays([arrow.array(rows), lists], schema=self._schema)
        self._table.merge_insert("row").when_matched_update_all().when_not_matched_insert_all().execute(batch)

    def _delete(self, rows: Rows) -> None:
        self._table.delete(_among(rows))

    def _all_rows(self) -> Rows:
        rows = self._table.search().select(["row"]).limit(self._count()).to_arrow()["row"]
        return np.asarray(rows.to_numpy(), dtype=np.int64)

    def _fetch(self, rows: Rows) -> FoundVectors:
        return self._found(self._table.search().where(_among(rows)).limit(len(rows)).to_arrow())

    def _closest(self, query: NDArray[np.float32], n: int, within: Rows | None) -> FoundVectors:
        search = (
            self._table.search(query, vector_column_name="vector")
            .metric("dot")
            .select(["row", "vector", "_distance"])
            .limit(n)
        )
        if within is not None:
            search = search.where(_among(within), prefilter=True).bypass_vector_index()
        elif self._indexed:
            search = search.nprobes(_PROBES).refine_factor(_REFINED)
        return self._found(search.to_arrow())

    # --- inside -----------------------------------------------------------------------------------------------

    def _has_index(self) -> bool:
        return any(index.name == _INDEX for index in self._table.list_indices())

    def _found(self, table: Any) -> FoundVectors:
        table = table.combine_chunks()
        flat = [chunk.flatten().to_numpy(zero_copy_only=False) for chunk in table["vector"].chunks]
        vectors = np.concatenate(flat) if flat else np.zeros(0, np.float32)
        return FoundVectors(table["row"].to_numpy().astype(np.int64), vectors.reshape(-1, self._dim))

    def _told(self, error: Exception) -> SightlineError | None:
        if not isinstance(error, OSError):
            return None
        return UserError(f"LanceDB can't use its files: {error}.", "check whether the disk is full or missing")


def _among(rows: Rows) -> str:
    return f"row IN ({', '.join(map(str, rows.tolist()))})"


KIND = BackendKind(LanceIndex, {"least": int})
