"""Qdrant: a server by its address, or its local mode in a folder of the index (which holds all in memory)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.errors import SightlineError, UserError, needs_extra
from sightline.models.protocols import Vectors
from sightline.retrieval.vector_stores.base import BackendKind, FoundVectors, Rows
from sightline.retrieval.vector_stores.service import ServiceIndex, collection_name, found_vectors

LOCAL = "local"
KEY = "QDRANT_API_KEY"
"""The environment variable that holds a server's key."""
_SCROLLED = 10_000
_NO_KEY, _THEIR_FAULT = (401, 403), 500


class QdrantIndex(ServiceIndex):
    """Vectors as points of one collection; exact unless `hnsw`, which only a server has."""

    kind, label = "qdrant", "Qdrant"

    def __init__(self, address: str, folder: Path, dim: int, *, create: bool, hnsw: bool = False) -> None:
        with needs_extra('the back-end "qdrant"', "qdrant"):
            import qdrant_client
            from qdrant_client import models
        super().__init__(dim, address, hnsw=hnsw and address != LOCAL)
        self._models = models
        self._collection = collection_name(folder, self.kind, dim, create=create)
        with self._answering():
            if address == LOCAL:
                self._client = qdrant_client.QdrantClient(path=str(folder / "qdrant"))
            else:
                self._client = qdrant_client.QdrantClient(
                    url=address, api_key=os.environ.get(KEY), timeout=60, check_compatibility=False
                )
            self._prepare()

    def close(self) -> None:
        self._client.close()

    # --- the questions ----------------------------------------------------------------------------------------

    def _count(self) -> int:
        return int(self._client.count(self._collection, exact=True).count)

    def _upsert(self, rows: Rows, vectors: Vectors) -> None:
        points = self._models.Batch(ids=rows.tolist(), vectors=vectors.tolist())
        self._client.upsert(self._collection, points=points, wait=True)

    def _delete(self, rows: Rows) -> None:
        selector = self._models.PointIdsList(points=rows.tolist())
        self._client.delete(self._collection, points_selector=selector, wait=True)

    def _all_rows(self) -> Rows:
        ids: list[int] = []
        offset: Any = None
        while True:
            points, offset = self._client.scroll(
                self._collection, limit=_SCROLLED, offset=offset, with_payload=False, with_vectors=False
            )
            ids += [int(point.id) for point in points]
            if offset is None:
                return np.array(ids, np.int64)

    def _fetch(self, rows: Rows) -> FoundVectors:
        return self._found(
            self._client.retrieve(self._collection, ids=rows.tolist(), with_payload=False, with_vectors=True)
        )

    def _closest(self, query: NDArray[np.float32], n: int, within: Rows | None) -> FoundVectors:
        models = self._models
        # Local mode is always exact, and warns of being told so.
        how = None if self._address == LOCAL else models.SearchParams(exact=self.exact or within is not None)
        only = None if within is None else models.Filter(must=[models.HasIdCondition(has_id=within.tolist())])
        answer = self._client.query_points(
            self._collection,
            query=query.tolist(),
            limit=n,
            query_filter=only,
            search_params=how,
            with_payload=False,
            with_vectors=True,
        )
        return self._found(answer.points)

    # --- inside -----------------------------------------------------------------------------------------------

    def _found(self, points: list[Any]) -> FoundVectors:
        return found_vectors((point.id for point in points), (point.vector for point in points), self._dim)

    def _prepare(self) -> None:
        if not self._client.collection_exists(self._collection):
            # Dot product: cosine would make Qdrant scale what it is given, and change its last bits.
            size = self._models.VectorParams(size=self._dim, distance=self._models.Distance.DOT)
            self._client.create_collection(self._collection, vectors_config=size)

    def _told(self, error: Exception) -> SightlineError | None:
        from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

        if isinstance(error, UnexpectedResponse):
            if error.status_code in _NO_KEY:
                return UserError("Qdrant wants a key, or another one.", f"put it into the variable {KEY}")
            if error.status_code is None or error.status_code >= _THEIR_FAULT:
                return self._gone(error)
            return self._refused(error)
        return self._gone(error) if isinstance(error, ResponseHandlingException | ConnectionError) else None


KIND = BackendKind(QdrantIndex, {"hnsw": bool}, address="local")
