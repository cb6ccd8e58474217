"""Stored files load; those of other schema versions are refused with the way out."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import orjson
import pytest

from sightline.benchmark.folder import read_benchmark
from sightline.benchmark.problems import ProblemsError
from sightline.benchmark.validation import validate_benchmark
from sightline.errors import UserError
from sightline.runs import folder as runs
from sightline.types import Attempt, Box, Failure, PictureRef, Ranking, Text

STORED = Path(__file__).parent / "data" / "stored"


def test_a_stored_benchmark_loads() -> None:
    benchmark = read_benchmark(STORED / "bench")
    assert (benchmark.name, benchmark.version, benchmark.corpus.name) == ("harbour", "2", "harbour photos")
    assert benchmark.tasks["q1"].labels == {"subject": ("boat",), "colour": ("red", "orange")}
    assert benchmark.tasks["q2"].labels == {"subject": ()}
    assert benchmark.tasks["q2"].pictures == (PictureRef("boats/red.jpg", Box(0, 0, 0.5, 1)),)
    assert benchmark.tasks["q3"].labels == {}
    red, blue = benchmark.corpus.pictures.values()
    assert red.phash == 0x00FF00FF00FF00FF
    assert isinstance(red.taken_at, datetime)
    assert red.taken_at.utcoffset() == timedelta(hours=2)
    assert blue.taken_at_is_naive
    assert validate_benchmark(STORED / "bench") == ()


def test_a_stored_run_loads() -> None:
    loaded = runs.read_run(STORED / "run")
    assert loaded.attempts == (
        Attempt("q1", Ranking(("boats/red.jpg", "boats/blue.jpg"), (0.9, 0.2))),
        Attempt("q2", Failure("unknown", "timed out after 60 s")),
        Attempt("q3", Text("two"), 1),
    )
    assert (loaded.system, loaded.seed, loaded.benchmark_checksum) == ("hybrid", 7, None)


def test_a_wrong_line_is_named_by_its_number(tmp_path: Path) -> None:
    shutil.copytree(STORED / "bench", tmp_path / "b")
    with (tmp_path / "b" / "tasks.jsonl").open("a") as file:
        file.write('{"id": "q4", "kind": "dance", "prompt": []}\n[1]\n')
        file.write('{"id": "q6", "kind": "rank", "prompt": [], "slices": "boat"}\n')
    with pytest.raises(ProblemsError) as caught:
        read_benchmark(tmp_path / "b", keep_going=True)
    assert [(problem.line, problem.field) for problem in caught.value.problems] == [
        (4, "kind"),
        (5, None),
        (6, "slices"),
    ]


@pytest.mark.parametrize(("schema", "way_out"), [(3, "upgrade"), (1, "0.1.0")])
@pytest.mark.parametrize(("name", "reader"), [("bench", read_benchmark), ("run", runs.read_run)])
def test_another_version_is_refused_with_the_way_out(
    tmp_path: Path, name: str, reader: Callable[[Path], object], schema: int, way_out: str
) -> None:
    shutil.copytree(STORED / name, tmp_path / name)
    header = next((tmp_path / name).glob("*.json"))
    header.write_bytes(orjson.dumps({**orjson.loads(header.read_bytes()), "schema": schema}))
    with pytest.raises(UserError, match=f"schema {schema}; this Sightline reads 2") as caught:
        reader(tmp_path / name)
    assert way_out in str(caught.value.fix)


@pytest.mark.parametrize("header", ["{}", '{"schema": "2"}', '{"schema": true}', '{"schema": 0}', "[]"])
def test_a_header_without_a_version_is_refused(tmp_path: Path, header: str) -> None:
    (tmp_path / "benchmark.json").write_text(header)
    with pytest.raises(UserError, match="expected a schema version"):
        read_benchmark(tmp_path)
