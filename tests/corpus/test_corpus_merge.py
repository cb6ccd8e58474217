"""Metadata tables: the same rows out of JSONL, CSV and Parquet, and what is said of wrong ones."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.corpus.metadata_table import json_safe, read_metadata_rows
from sightline.errors import MissingExtraError, UserError
from sightline.types import Json


def rows(tmp_path: Path, name: str, content: str | bytes) -> list[tuple[str, Mapping[str, Json]]]:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return list(read_metadata_rows(path))


def parquet(tmp_path: Path, columns: dict[str, Any]) -> Path:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    path = tmp_path / "table.parquet"
    pq.write_table(pa.table(columns), path)
    return path


EXPECTED = [("a/b.jpg", {"zone": "north", "note": "x"}), ("ü.jpg", {"zone": "south", "note": None})]


def test_the_same_rows_out_of_each(tmp_path: Path) -> None:
    lines = (
        '\ufeff{"image_id": "a/b.jpg", "zone": "north", "note": "x"}\n\n'
        '{"zone": "south", "image_id": "u\u0308.jpg", "note": null}'
    )
    table = "\ufeffimage_id,zone,note\r\na/b.jpg,north,x\r\n\r\nu\u0308.jpg,south,\r\n"
    columns = {"image_id": ["a/b.jpg", "u\u0308.jpg"], "zone": ["north", "south"], "note": ["x", None]}
    assert rows(tmp_path, "x.jsonl", lines) == EXPECTED
    assert rows(tmp_path, "x.CSV", table) == EXPECTED
    assert list(read_metadata_rows(parquet(tmp_path, columns))) == EXPECTED


@pytest.mark.parametrize("key", ["image_id", "id", "file_name", "photo_id"])
def test_columns_that_hold_the_id(tmp_path: Path, key: str) -> None:
    assert rows(tmp_path, "x.csv", f"z,{key}\n1,a.jpg\n") == [("a.jpg", {"z": "1"})]


def test_the_first_of_several_ids_is_the_key(tmp_path: Path) -> None:
    assert rows(tmp_path, "x.csv", "id,image_id\n7,a.jpg\n") == [("a.jpg", {"id": "7"})]


def test_disbench_metadata(tmp_path: Path) -> None:
    line = '{"photo_id": 123, "metadata": {"taken_time": "2010-05-03 10:11:12", "longitude": 2.5}}'
    assert rows(tmp_path, "u.jsonl", line) == [
        ("123", {"metadata": {"taken_time": "2010-05-03 10:11:12", "longitude": 2.5}})
    ]


def test_ids_are_written_as_picture_ids_are(tmp_path: Path) -> None:
    assert [id_ for id_, _ in rows(tmp_path, "x.csv", "id\n./a.jpg\n a b.jpg\n")] == ["a.jpg", " a b.jpg"]


def test_csv_with_quotes_newlines_and_commas(tmp_path: Path) -> None:
    table = 'image_id,note\na.jpg,"one\ntwo, ""three"""\nb.jpg,x\n'
    assert rows(tmp_path, "x.csv", table) == [("a.jpg", {"note": 'one\ntwo, "three"'}), ("b.jpg", {"note": "x"})]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=5))
@settings(max_examples=60, deadline=None)
def test_csv_as_python_writes_it(tmp_path_factory: pytest.TempPathFactory, notes: list[str]) -> None:
    buffer = io.StringIO(newline="")
    csv.writer(buffer).writerows([("note", "file_name"), *((note, f"{n}.jpg") for n, note in enumerate(notes))])
    path = tmp_path_factory.getbasetemp() / "generated.csv"
    path.write_text(buffer.getvalue(), "utf-8", newline="")
    assert list(read_metadata_rows(path)) == [(f"{n}.jpg", {"note": note or None}) for n, note in enumerate(notes)]


def test_rows_come_one_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"id": "a"}\nnot json\n')
    reader = read_metadata_rows(path)
    assert isinstance(reader, Iterator)
    assert next(reader) == ("a", {})
    with pytest.raises(UserError, match="line 2"):
        next(reader)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.jsonl", '{"name": "a", "zone": 1}', "line 1: no column holds the picture's id (found: name, zone)"),
        ("x.jsonl", '{"id": "a"}\n[1]', "line 2: expected one JSON object"),
        ("x.jsonl", '{"image_id": "a"}\n{"id": "b"}', "line 2: image_id is missing"),
        ("x.jsonl", '{"id": "a"}\n\n{"id": 1.5}', "line 3: id is 1.5; expected a picture's id"),
        ("x.jsonl", '{"id": true}', "line 1: id is True"),
        ("x.jsonl", '{"id": "a"}\n{"id": "b"', "line 2: the file ends in the middle of a line"),
        ("x.csv", "name;zone\na;b\n", "line 1: no column holds the picture's id (found: name;zone)"),
        ("x.csv", "", "line 1: no column holds the picture's id (found: none)"),
        ("x.csv", "id,z\na,1\nb\n", "line 3: 1 cells, but the header has 2"),
        ("x.csv", 'id,z\na,"1\n2"\nb,1,2\n', "line 4: 3 cells, but the header has 2"),
        ("x.csv", "id,z,z\na,1,2\n", 'line 1: the column "z" is there twice'),
        ("x.csv", "id,z\n,1\n", "line 2: id is missing"),
        ("x.csv", 'id,z\na,"1\n', "line 2: not CSV"),
        ("x.csv", b"id,z\na,\xff\n", "not UTF-8"),
        ("x.txt", "", 'its ending ".txt" is not known'),
        ("x.parquet", "not parquet", "can't be read as Parquet"),
    ],
)
def test_wrong_files_are_explained(tmp_path: Path, name: str, content: str | bytes, message: str) -> None:
    with pytest.raises(UserError) as error:
        rows(tmp_path, name, content)
    assert message in error.value.message
    assert str(tmp_path / name) in error.value.message


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no metadata file"):
        read_metadata_rows(tmp_path / "x.csv")


def test_parquet_values(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    moment = 1_620_029_472_123_456_789
    path = parquet(
        tmp_path,
        {
            "id": [1],
            "when": pa.array([moment], pa.timestamp("ns", "UTC")),
            "day": [date(2021, 5, 3)],
            "raw": [b"\xff\x00"],
            "nested": [{"tags": ["a", None], "size": np.float32(0.5)}],
            "nan": [float("nan")],
            "exact": [Decimal("1.50")],
        },
    )
    assert list(read_metadata_rows(path)) == [
        (
            "1",
            {
                "when": "2021-05-03T08:11:12.123456+00:00",
                "day": "2021-05-03",
                "raw": "/wA=",
                "nested": {"tags": ["a", None], "size": 0.5},
                "nan": None,
                "exact": 1.5,
            },
        )
    ]


def test_parquet_without_an_id_names_its_columns(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"found: a, b"):
        list(read_metadata_rows(parquet(tmp_path, {"a": [1], "b": [2]})))
    with pytest.raises(UserError, match=r"row 2: id is missing"):
        list(read_metadata_rows(parquet(tmp_path, {"id": ["a", None]})))


def test_parquet_in_many_batches(tmp_path: Path) -> None:
    found = list(read_metadata_rows(parquet(tmp_path, {"id": range(3000), "n": range(3000)})))
    assert found == [(str(n), {"n": n}) for n in range(3000)]


def test_parquet_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.parquet").touch()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"sightline\[parquet\]"):
        list(read_metadata_rows(tmp_path / "x.parquet"))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.int64(3), 3),
        (np.float32(0.5), 0.5),
        (np.bool_(True), True),
        (np.array([[1, 2]]), [[1, 2]]),
        (np.str_("a"), "a"),
        (np.datetime64("2021-05-03T10:11:12.123456789"), "2021-05-03T10:11:12.123456789"),
        (np.array(["2021-05-03", "NaT"], "datetime64[ns]"), ["2021-05-03T00:00:00.000000000", None]),
        (np.array(7), 7),
        (np.longdouble(0.5), 0.5),
        (np.complex64(1j), "1j"),
        (float("inf"), None),
        (np.float64("nan"), None),
        (2**70, str(2**70)),
        (-(2**63), -(2**63)),
        (datetime(2021, 5, 3, 10, 11, 12, tzinfo=UTC), "2021-05-03T10:11:12+00:00"),
        (time(10, 11), "10:11:00"),
        (timedelta(minutes=1.5), 90.0),
        (b"\x00", "AA=="),
        (bytearray(b"\x00"), "AA=="),
        ({1: (2, {"x"})}, {"1": [2, ["x"]]}),
        (UUID(int=0), "00000000-0000-0000-0000-000000000000"),
        (Decimal("NaN"), None),
        (None, None),
        (True, True),
    ],
)
def test_json_safe(value: object, expected: Json) -> None:
    safe = json_safe(value)
    assert safe == expected
    assert type(safe) is type(expected)
    assert orjson.loads(orjson.dumps(safe)) == expected
