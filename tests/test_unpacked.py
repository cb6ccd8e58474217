"""Packed files that unpack to far more than they are: refused by every reader, with what to do."""

from __future__ import annotations

import gzip
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sightline.benchmark.formats import inspect_documents
from sightline.benchmark.formats.base import Complaints, FormatOptions
from sightline.benchmark.formats.parquet import read_table
from sightline.benchmark.formats.vlmevalkit_rows import open_rows
from sightline.corpus.metadata_table import read_metadata_rows
from sightline.errors import UserError
from sightline.io.jsonl import read_jsonl
from sightline.metrics.trec.files import read_qrels
from sightline.models.embedders.vector_file import read_vectors

MIB = 1 << 20
TOO_MUCH = 120 * MIB


def gzipped(path: Path, line: bytes, total: int = TOO_MUCH) -> Path:
    with gzip.open(path, "wb", 6) as file:
        for _ in range(total // MIB):
            file.write(line * (MIB // len(line)))
    return path


def jsonl(folder: Path) -> Any:
    return sum(1 for _ in read_jsonl(gzipped(folder / "a.jsonl.gz", b'{"a": "%s"}\n' % (b"x" * 1000))))


def qrels(folder: Path) -> Any:
    return read_qrels(gzipped(folder / "qrels.gz", b"q1 0 d1 1\n" * 100))


def npz(folder: Path) -> Any:
    np.savez_compressed(folder / "v.npz", ids=np.array(["a"]), vectors=np.zeros((1, TOO_MUCH // 4), np.float32))
    return read_vectors(folder / "v.npz")


def xlsx(folder: Path) -> Any:
    pytest.importorskip("openpyxl")
    with zipfile.ZipFile(folder / "t.xlsx", "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("xl/sharedStrings.xml", bytes(TOO_MUCH))
    return list(open_rows(folder / "t.xlsx", Complaints(FormatOptions())))


def parquet(folder: Path) -> Path:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = pa.table({"image_id": ["a.jpg"] * 2000, "text": ["x" * 100_000] * 2000})
    pq.write_table(table, folder / "t.parquet", compression="zstd")
    return folder / "t.parquet"


def eval_log(folder: Path, compression: int = zipfile.ZIP_DEFLATED) -> Any:
    """Half a megabyte of samples, each of which is small enough by itself."""
    with zipfile.ZipFile(folder / "log.eval", "w", compression) as file:
        file.writestr("header.json", json.dumps({"eval": {}}))
        for number in range(12):
            file.writestr(f"samples/{number}_epoch_1.json", json.dumps({"a": "x" * (10 * MIB)}))
    assert (folder / "log.eval").stat().st_size < MIB // 2
    with inspect_documents.open_eval(folder / "log.eval") as log:
        return sum(1 for _ in log.samples())


@pytest.mark.parametrize(
    "read",
    [
        jsonl,
        qrels,
        npz,
        xlsx,
        lambda folder: list(read_table(parquet(folder))),
        lambda folder: list(read_metadata_rows(parquet(folder))),
        eval_log,
    ],
    ids=["jsonl", "qrels", "npz", "xlsx", "parquet", "metadata", "inspect"],
)
def test_a_bomb_is_refused(read: Callable[[Path], Any], tmp_path: Path) -> None:
    with pytest.raises(UserError, match="unpacks to over 100 times its size") as refused:
        read(tmp_path)
    assert refused.value.fix


def test_what_shrinks_well_is_read(tmp_path: Path) -> None:
    """64 MiB are free: a small file of much the same is no bomb."""
    path = gzipped(tmp_path / "a.jsonl.gz", b'{"a": "%s"}\n' % (b"x" * 1000), 30 * MIB)
    assert path.stat().st_size * 100 < 30 * MIB and sum(1 for _ in read_jsonl(path)) == 30 * (MIB // 1010)
