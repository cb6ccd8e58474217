"""Servers that go away in the middle, and come back."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

from sightline.errors import SightlineError, UserError
from sightline.retrieval.vector_stores.base import VectorIndex, VectorStoreGoneError
from sightline.retrieval.vector_stores.registry import open_vector_store
from vector_backends import DIM, rows_of, unit


def every_call_tells(index: VectorIndex, who: str) -> None:
    calls = (
        lambda: index.put([(rows_of(1), unit(1, 0))]),
        lambda: index.remove(rows_of(1)),
        index.rows,
        lambda: index.get(rows_of(1)),
        lambda: index.nearest(unit(1, 0), 3),
        lambda: len(index),
    )
    for call in calls:
        with pytest.raises(VectorStoreGoneError, match=f"the {who} server went away") as caught:
            call()
        assert caught.value.retryable
        assert caught.value.exit_code == 2


def test_postgres_ends_the_connection_and_is_found_again(postgres_address: str, tmp_path: Path) -> None:
    psycopg = pytest.importorskip("psycopg")
    index = open_vector_store(f"postgres:{postgres_address}", tmp_path, DIM, create=True)
    index.put([(np.arange(5), unit(5, 0))])
    with psycopg.connect(postgres_address, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
    with pytest.raises(VectorStoreGoneError, match="PostgreSQL"):
        index.nearest(unit(1, 0), 3)
    assert len(index.nearest(unit(1, 0), 3).rows[0]) == 3
    index.close()


def test_postgres_that_is_not_there(tmp_path: Path) -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(VectorStoreGoneError, match="PostgreSQL"):
        open_vector_store("postgres:postgresql://me@127.0.0.1:1/db", tmp_path, DIM, create=True)


def test_a_postgres_table_that_was_dropped(postgres_address: str, tmp_path: Path) -> None:
    psycopg = pytest.importorskip("psycopg")
    index = open_vector_store(f"postgres:{postgres_address}", tmp_path, DIM, create=True)
    table = json.loads((tmp_path / "backend.json").read_text())["collection"]
    with psycopg.connect(postgres_address, autocommit=True) as other:
        other.execute(psycopg.sql.SQL("DROP TABLE {}").format(psycopg.sql.Identifier(table)))
    with pytest.raises(UserError, match="PostgreSQL refused"):
        len(index)
    index.close()


def test_milvus_stops(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    server = pytest.importorskip("milvus_lite.adapter.grpc.server")
    running, database, port = server.start_server_in_thread(str(tmp_path_factory.mktemp("milvus")))
    index = open_vector_store(f"milvus:http://127.0.0.1:{port}", tmp_path, DIM, create=True)
    index.put([(np.arange(5), unit(5, 0))])
    running.stop(0).wait()
    database.close()
    every_call_tells(index, "Milvus")


def test_weaviate_stops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("weaviate")
    import weaviate.retry

    from weaviate_stand_in import StandIn

    server = StandIn()
    index = open_vector_store(server.spec, tmp_path, DIM, create=True)
    index.put([(np.arange(5), unit(5, 0))])
    server.stop()
    monkeypatch.setattr(weaviate.retry.time, "sleep", lambda seconds: None)
    every_call_tells(index, "Weaviate")
    index.close()


class _Qdrant(BaseHTTPRequestHandler):
    status = 200

    def do_GET(self) -> None:
        body = json.dumps({"result": {"exists": True}, "status": "ok", "time": 0.0}).encode()
        self.send_response(self.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        return


@pytest.mark.parametrize(("status", "error"), [(403, UserError), (404, SightlineError), (503, VectorStoreGoneError)])
def test_qdrant_refuses(tmp_path: Path, status: int, error: type[SightlineError]) -> None:
    pytest.importorskip("qdrant_client")
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Refusing", (_Qdrant,), {"status": status}))
    Thread(target=server.serve_forever, daemon=True).start()
    with pytest.raises(SightlineError) as caught:
        open_vector_store(f"qdrant:http://127.0.0.1:{server.server_port}", tmp_path, DIM, create=True)
    assert type(caught.value) is error
    server.shutdown()
    server.server_close()


def test_qdrant_stops(tmp_path: Path) -> None:
    pytest.importorskip("qdrant_client")
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Qdrant)
    Thread(target=server.serve_forever, daemon=True).start()
    index = open_vector_store(f"qdrant:http://127.0.0.1:{server.server_port}", tmp_path, DIM, create=True)
    server.shutdown()
    server.server_close()
    every_call_tells(index, "Qdrant")
    index.close()
