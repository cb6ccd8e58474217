"""Back-ends for vectors, behind one protocol."""

from sightline.search.backends.base import BackendGoneError, Nearest, Rows, VectorIndex
from sightline.search.backends.registry import DEFAULT, backend_names, open_backend, public_spec

__all__ = [
    "DEFAULT",
    "BackendGoneError",
    "Nearest",
    "Rows",
    "VectorIndex",
    "backend_names",
    "open_backend",
    "public_spec",
]
