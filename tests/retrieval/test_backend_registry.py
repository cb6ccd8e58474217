"""Back-ends by name, what they are told, and what is never told."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from sightline import plugins
from sightline.errors import MissingExtraError, SightlineError, UserError
from sightline.retrieval.vector_stores.registry import open_vector_store, public_spec, vector_store_names
from sightline.retrieval.vector_stores.service import collection_name, without_secrets
from vector_backends import DIM, files_below, unit


@pytest.mark.parametrize(
    ("spec", "message", "fix"),
    [
        ("exat", 'unknown back-end "exat"', 'Did you mean "exact"?'),
        ("", 'unknown back-end ""', "Known: exact, faiss"),
        ("exact:quantized", 'no option "quantized"', 'Did you mean "quantised"?'),
        ("faiss:nprobe=many", 'nprobe="many" is not a whole number', "for example"),
        ("exact:quantised=perhaps", "is not true or false", "for example"),
        ("postgres:host=x#hnws=true", 'no option "hnws"', 'Did you mean "hnsw"?'),
        ("faiss:recall=2", "recall=2.0 is not a share", "at most 1"),
        ("weaviate:localhost", "is not an http address", "http://localhost:8080"),
    ],
)
def test_a_spec_with_a_mistake(tmp_path: Path, spec: str, message: str, fix: str) -> None:
    if spec.startswith(("faiss:recall", "weaviate")):
        pytest.importorskip(spec[:5] if spec[0] == "f" else "weaviate")
    with pytest.raises(UserError) as caught:
        open_vector_store(spec, tmp_path, DIM, create=True)
    assert message in caught.value.message
    assert fix in (caught.value.fix or "")


@pytest.mark.parametrize(
    ("spec", "package", "extra"),
    [
        ("exact:quantised", "numkong", "quantised"),
        ("faiss", "faiss", "ann"),
        ("lance", "lancedb", "lance"),
        ("postgres:", "psycopg", "postgres"),
        ("qdrant:local", "qdrant_client", "qdrant"),
        ("milvus:file", "pymilvus", "milvus"),
        ("weaviate:http://localhost:1", "weaviate", "weaviate"),
    ],
)
def test_a_missing_package_names_its_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spec: str, package: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError) as caught:
        open_vector_store(spec, tmp_path, DIM, create=True)
    assert caught.value.fix == f"pip install 'sightline[{extra}]'"


def test_options_reach_the_back_end(tmp_path: Path) -> None:
    pytest.importorskip("faiss")
    index = open_vector_store("faiss:nlist=4,nprobe=2,least=20", tmp_path, DIM, create=True)
    index.put([(range(40), unit(40, 0))])  # type: ignore[list-item]
    index.flush()
    built = index.built  # type: ignore[attr-defined]
    assert (built.nlist, built.nprobe, built.slots) == (4, 2, 40)
    assert 0 < built.recalls["pictures"] <= 1
    assert not index.exact


def test_a_plugged_back_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Point:
        name = "mine"

        def load(self) -> object:
            return lambda rest, folder, dim, create: (rest, folder, dim, create)

    monkeypatch.setattr(
        plugins,
        "entry_points",
        lambda group: [Point()] if group == "sightline.indexes" else [],
    )
    assert open_vector_store("mine:a=b", tmp_path, 3, create=True) == ("a=b", tmp_path, 3, True)  # type: ignore[comparison-overlap]
    assert "mine" in vector_store_names()


def test_an_index_knows_its_kind(tmp_path: Path) -> None:
    name = collection_name(tmp_path, "lance", DIM, create=True)
    assert collection_name(tmp_path, "lance", DIM, create=False) == name
    with pytest.raises(UserError, match="is kept in lance, not in qdrant"):
        collection_name(tmp_path, "qdrant", DIM, create=True)


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://me:s3cret@host:5432/db",
        "postgresql://me:s3cret%21@host/db?sslmode=require",
        "postgresql://host/db?user=me&password=s3cret!&x=1",
        "host=there user=me password=s3cret! dbname=x",
        "host=there password = 's3cret! \\' more' dbname=x",
        "https://me:s3cret@host:6333",
        "http://host:6333?api_key=s3cret",
    ],
)
def test_no_secret_leaves(address: str) -> None:
    assert "host" in public_spec(f"postgres:{address}")
    assert "s3cret" not in public_spec(f"postgres:{address}")
    assert "more" not in public_spec(f"postgres:{address}")
    assert "s3cret" not in without_secrets(f"could not connect to {address}", address)


def test_a_message_that_repeats_the_password_is_cleaned() -> None:
    address = "postgresql://me:s3cret%21@host/db"
    assert without_secrets('no entry for "s3cret!"\n  or s3cret%21.', address) == 'no entry for "…" or …'


@pytest.mark.parametrize("address", ["postgresql://me:s3cret@127.0.0.1:1/db", "hots=there password=s3cret"])
def test_postgres_errors_and_files_hold_no_password(tmp_path: Path, address: str) -> None:
    pytest.importorskip("psycopg")
    pytest.importorskip("pgvector")
    with pytest.raises(SightlineError) as caught:
        open_vector_store(f"postgres:{address}", tmp_path, DIM, create=True)
    assert "s3cret" not in f"{caught.value} {caught.value!r} {caught.value.__cause__}"
    assert files_below(tmp_path)
    assert all(b"s3cret" not in path.read_bytes() for path in files_below(tmp_path))
