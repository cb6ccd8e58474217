"""Milvus: a server by its address, or Milvus Lite in a file of the index."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.errors import SightlineError, needs_extra
from sightline.models.protocols import Vectors
from sightline.retrieval.vector_stores.base import BackendKind, FoundVectors, Rows
from sightline.retrieval.vector_stores.service import ServiceIndex, collection_name, found_vectors

LOCAL = "file"
KEY = "MILVUS_TOKEN"
"""The environment variable that holds a server's token."""
_SCROLLED = 10_000
_GONE = (2,)
"""Milvus's code for a connection that failed."""


class MilvusIndex(ServiceIndex):
    """Vectors in a collection with a flat index (exact), or, on a server, with HNSW."""

    kind, label = "milvus", "Milvus"
    span = 5000
    most = 16_384

    def __init__(self, address: str, folder: Path, dim: int, *, create: bool, hnsw: bool = False) -> None:
        with needs_extra('the back-end "milvus"', "milvus"):
            import pymilvus

            if address == LOCAL:
                import milvus_lite  # noqa: F401
        super().__init__(dim, address, hnsw=hnsw and address != LOCAL)
        # Its errors are raised here, and need no second voice.
        logging.getLogger("pymilvus").setLevel(logging.CRITICAL)
        self._pymilvus = pymilvus
        self._collection = collection_name(folder, self.kind, dim, create=create)
        uri = str(folder / "milvus.db") if address == LOCAL else address
        with self._answering():
            self._client: Any = pymilvus.MilvusClient(uri=uri, token=os.environ.get(KEY, ""), timeout=60)
            self._prepare()

    def close(self) -> None:
        self._client.close()

    # --- the questions ----------------------------------------------------------------------------------------

    def _count(self) -> int:
        answer = self._client.query(self._collection, output_fields=["count(*)"], consistency_level="Strong")
        return int(answer[0]["count(*)"])

    def _upsert(self, rows: Rows, vectors: Vectors) -> None:
        entries = [{"row": row, "vector": vector} for row, vector in zip(rows.tolist(), vectors, strict=True)]
        self._client.upsert(self._collection, entries)

    def _delete(self, rows: Rows) -> None:
        self._client.delete(self._collection, ids=rows.tolist())

    def _all_rows(self) -> Rows:
        ids: list[int] = []
        last = -1
        while True:
            page = self._client.query(
                self._collection,
                filter=f"row > {last}",
                output_fields=["row"],
                limit=_SCROLLED,
                consistency_level="Strong",
            )
            ids += [int(entry["row"]) for entry in page]
            if len(page) < _SCROLLED:
                return np.array(ids, np.int64)
            last = max(ids)

    def _fetch(self, rows: Rows) -> FoundVectors:
        return self._found(self._client.get(self._collection, ids=rows.tolist(), output_fields=["row", "vector"]))

    def _closest(self, query: NDArray[np.float32], n: int, within: Rows | None) -> FoundVectors:
        limit = {} if within is None else {"filter": f"row in {within.tolist()}"}
        answer = self._client.search(
            self._collection,
            data=[query],
            limit=n,
            output_fields=["row", "vector"],
            search_params={"metric_type": "IP"},
            consistency_level="Strong",
            **limit,
        )
        return self._found([hit["entity"] for hit in answer[0]])

    # --- inside -----------------------------------------------------------------------------------------------

    def _found(self, entries: list[Any]) -> FoundVectors:
        return found_vectors((entry["row"] for entry in entries), (entry["vector"] for entry in entries), self._dim)

    def _prepare(self) -> None:
        if not self._client.has_collection(self._collection):
            kinds = self._pymilvus.DataType
            schema = self._client.create_schema(auto_id=False, enable_dynamic_field=False)
            schema.add_field("row", kinds.INT64, is_primary=True)
            schema.add_field("vector", kinds.FLOAT_VECTOR, dim=self._dim)
            index = self._client.prepare_index_params()
            index.add_index("vector", index_type="HNSW" if self._hnsw else "FLAT", metric_type="IP")
            self._client.create_collection(self._collection, schema=schema, index_params=index)
        self._client.load_collection(self._collection)

    def _told(self, error: Exception) -> SightlineError | None:
        exceptions = self._pymilvus.exceptions
        if not isinstance(error, exceptions.MilvusException):
            return None
        gone = exceptions.ConnectError, exceptions.ConnectionNotExistException, exceptions.MilvusUnavailableException
        is_gone = error.code in _GONE or isinstance(error, gone)
        return (self._gone if is_gone else self._refused)(error.message or error)


KIND = BackendKind(MilvusIndex, {"hnsw": bool}, address="file")
