"""Vector stores, behind one protocol."""

from sightline.retrieval.vector_stores.base import Nearest, Rows, VectorIndex, VectorStoreGoneError
from sightline.retrieval.vector_stores.registry import DEFAULT, open_vector_store, public_spec, vector_store_names

__all__ = [
    "DEFAULT",
    "Nearest",
    "Rows",
    "VectorIndex",
    "VectorStoreGoneError",
    "open_vector_store",
    "public_spec",
    "vector_store_names",
]
