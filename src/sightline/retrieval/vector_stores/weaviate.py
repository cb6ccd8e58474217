"""Weaviate: a server by its address, through its own client. Tried on recorded calls only, on no real server."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from sightline.errors import SightlineError, UserError, needs_extra
from sightline.models.protocols import Vectors
from sightline.retrieval.vector_stores.base import BackendKind, FoundVectors, Rows
from sightline.retrieval.vector_stores.service import ServiceIndex, collection_name, found_vectors, without_secrets

KEY = "WEAVIATE_API_KEY"
"""The environment variable that holds a server's key."""
_GRPC_PORT = 50051
_IDS = 0x51670000_0000_4000_8000_000000000000


class WeaviateIndex(ServiceIndex):
    """Vectors as objects of one collection with a flat index (exact), or with HNSW."""

    kind, label = "weaviate", "Weaviate"
    span = 5000
    most = 10_000

    def __init__(
        self, address: str, folder: Path, dim: int, *, create: bool, hnsw: bool = False, grpc_port: int = _GRPC_PORT
    ) -> None:
        with needs_extra('the back-end "weaviate"', "weaviate"):
            import weaviate
        super().__init__(dim, address, hnsw=hnsw)
        self._weaviate = weaviate
        name = collection_name(folder, self.kind, dim, create=create).capitalize()
        with self._answering():
            self._client = self._connected(grpc_port)
            if not self._client.collections.exists(name):
                self._create(name)
            self._collection = self._client.collections.get(name)

    def close(self) -> None:
        self._client.close()

    # --- the questions ----------------------------------------------------------------------------------------

    def _count(self) -> int:
        return int(self._collection.aggregate.over_all(total_count=True).total_count or 0)

    def _upsert(self, rows: Rows, vectors: Vectors) -> None:
        entry = self._weaviate.classes.data.DataObject
        answer = self._collection.data.insert_many(
            [
                entry(properties={"row": row}, uuid=_id(row), vector=vector)
                for row, vector in zip(rows.tolist(), vectors.tolist(), strict=True)
            ]
        )
        if answer.has_errors:
            first = next(iter(answer.errors.values()))
            raise SightlineError(f"Weaviate refused a vector: {without_secrets(first.message, self._address)}.")

    def _delete(self, rows: Rows) -> None:
        self._collection.data.delete_many(where=self._among(rows))

    def _all_rows(self) -> Rows:
        entries = self._collection.iterator(return_properties=["row"])
        return np.fromiter((int(entry.properties["row"]) for entry in entries), np.int64)

    def _fetch(self, rows: Rows) -> FoundVectors:
        answer = self._collection.query.fetch_objects(
            filters=self._among(rows), limit=len(rows), include_vector=True, return_properties=["row"]
        )
        return self._found(answer.objects)

    def _closest(self, query: NDArray[np.float32], n: int, within: Rows | None) -> FoundVectors:
        answer = self._collection.query.near_vector(
            query.tolist(),
            limit=n,
            filters=None if within is None else self._among(within),
            include_vector=True,
            return_properties=["row"],
        )
        return self._found(answer.objects)

    # --- inside -----------------------------------------------------------------------------------------------

    def _among(self, rows: Rows) -> Any:
        return self._weaviate.classes.query.Filter.by_id().contains_any([_id(row) for row in rows.tolist()])

    def _found(self, entries: list[Any]) -> FoundVectors:
        rows = (int(entry.properties["row"]) for entry in entries)
        return found_vectors(rows, (entry.vector["default"] for entry in entries), self._dim)

    def _connected(self, grpc_port: int) -> Any:
        url = urlsplit(self._address)
        if url.scheme not in ("http", "https") or not url.hostname:
            raise UserError(
                "the address after weaviate: is no http address.", "for example weaviate:http://localhost:8080"
            )
        secure, key = url.scheme == "https", os.environ.get(KEY)
        return self._weaviate.connect_to_custom(
            http_host=url.hostname,
            http_port=url.port or (443 if secure else 8080),
            http_secure=secure,
            grpc_host=url.hostname,
            grpc_port=grpc_port,
            grpc_secure=secure,
            auth_credentials=self._weaviate.classes.init.Auth.api_key(key) if key else None,
        )

    def _create(self, name: str) -> None:
        config = self._weaviate.classes.config
        kind = config.Configure.VectorIndex.hnsw if self._hnsw else config.Configure.VectorIndex.flat
        self._client.collections.create(
            name,
            properties=[config.Property(name="row", data_type=config.DataType.INT)],
            vector_config=config.Configure.Vectors.self_provided(
                vector_index_config=kind(distance_metric=config.VectorDistances.DOT)
            ),
        )

    def _told(self, error: Exception) -> SightlineError | None:
        errors = self._weaviate.exceptions
        if isinstance(error, errors.AuthenticationFailedError | errors.InsufficientPermissionsError):
            return UserError("Weaviate wants a key, or another one.", f"put it into the variable {KEY}")
        if isinstance(error, errors.WeaviateBaseError):
            is_gone = isinstance(error, _gone_types(errors)) or "UNAVAILABLE" in str(error)
            return self._gone(error) if is_gone else self._refused(error)
        return self._gone(error) if isinstance(error, ConnectionError) else None


def _gone_types(errors: Any) -> tuple[type[Exception], ...]:
    return (
        errors.WeaviateConnectionError,
        errors.WeaviateGRPCUnavailableError,
        errors.WeaviateRetryError,
        errors.WeaviateStartUpError,
        errors.WeaviateTimeoutError,
    )


def _id(row: int) -> UUID:
    return UUID(int=_IDS | row)


KIND = BackendKind(WeaviateIndex, {"hnsw": bool, "grpc_port": int}, address="http://localhost:8080")
