"""What is written is what is read: every noun, every form, any text."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import orjson
import pytest
from hypothesis import given, settings

from sightline.benchmark.folder import read_benchmark, write_benchmark
from sightline.benchmark.validation import validate_benchmark
from sightline.errors import UserError
from sightline.metrics.evaluation import evaluate
from sightline.types import Attempt, Benchmark, Corpus, Picture, Ranking, Relevance, Review, Run, Task
from sightline.types.task_table import Tasks
from strategies import benchmarks

modest = settings(deadline=None, max_examples=60)


def files_of(folder: Path) -> dict[str, bytes]:
    return {entry.name: entry.read_bytes() for entry in sorted(folder.iterdir())}


@modest
@given(benchmarks())
def test_a_benchmark_comes_back_equal_and_with_its_checksum(benchmark: Benchmark) -> None:
    with TemporaryDirectory() as temporary:
        folder = Path(temporary) / "bench"
        written = write_benchmark(benchmark, folder)
        assert written == replace(benchmark, checksum=written.checksum)
        assert read_benchmark(folder) == written
        assert validate_benchmark(folder) == ()


@modest
@given(benchmarks())
def test_equal_benchmarks_have_equal_bytes(benchmark: Benchmark) -> None:
    with TemporaryDirectory() as temporary:
        first, second = Path(temporary) / "first", Path(temporary) / "second"
        one = write_benchmark(benchmark, first)
        two = write_benchmark(read_benchmark(first), second)
        assert one.checksum == two.checksum
        assert files_of(first) == files_of(second)


def example() -> Benchmark:
    pictures = {name: Picture(name, f"https://example.org/{name}") for name in ("a.jpg", "b.jpg")}
    task = Task("q1", "rank", ("a red boat",), labels={"kind": ("boat",), "colours": ("red", "blue")})
    return Benchmark("boats", Corpus("harbour", pictures), {"q1": task}, {"q1": Relevance({"b.jpg": 0, "a.jpg": 2})})


def test_the_order_of_keys_does_not_change_the_checksum(tmp_path: Path) -> None:
    one = example()
    task = replace(one.tasks["q1"], labels={"colours": ("red", "blue"), "kind": ("boat",)})
    other = replace(one, tasks=Tasks({"q1": task}), truth={"q1": Relevance({"a.jpg": 2, "b.jpg": 0})})
    assert write_benchmark(one, tmp_path / "one").checksum == write_benchmark(other, tmp_path / "other").checksum


def test_any_change_of_content_changes_the_checksum(tmp_path: Path) -> None:
    one = example()
    other = replace(one, truth={"q1": Relevance({"a.jpg": 1, "b.jpg": 0})})
    assert write_benchmark(one, tmp_path / "one").checksum != write_benchmark(other, tmp_path / "other").checksum


def test_a_shell_computes_the_same_checksum(tmp_path: Path) -> None:
    written = write_benchmark(example(), tmp_path / "b")
    command = "export LC_ALL=C; ls *.jsonl | grep -v reviews | xargs sha256sum | sha256sum"
    shell = subprocess.run(command, shell=True, cwd=tmp_path / "b", capture_output=True, text=True, check=True)
    assert shell.stdout.split()[0] == written.checksum


def test_a_review_makes_no_other_version_and_its_damage_is_noticed(tmp_path: Path) -> None:
    def said(number: int) -> Review:
        return Review("q1", "ann", "keep", datetime(2024, 5, 31, tzinfo=UTC) + timedelta(days=number), "a.jpg")

    plain = write_benchmark(example(), tmp_path / "b")
    for count in range(1, 4):
        write_benchmark(replace(example(), reviews=tuple(map(said, range(count)))), tmp_path / "b")
    found = read_benchmark(tmp_path / "b")
    assert found.checksum == plain.checksum and not found.is_version("0" * 64)
    run = Run("boats", "old", (Attempt("q1", Ranking(("a.jpg",))),), benchmark_checksum=plain.checksum)
    assert evaluate(found, run).overall["ndcg@10"].mean == 1.0
    other = write_benchmark(replace(found, truth={"q1": Relevance({"a.jpg": 1})}), tmp_path / "c")
    with pytest.raises(UserError, match="another version"):
        evaluate(other, run)
    path = tmp_path / "b" / "reviews.jsonl"
    path.write_bytes(path.read_bytes().replace(b"keep", b"drop", 1))
    assert [problem.file for problem in validate_benchmark(tmp_path / "b")] == ["reviews.jsonl"]


def test_the_files_are_pleasant_to_read(tmp_path: Path) -> None:
    write_benchmark(example(), tmp_path / "b")
    assert (tmp_path / "b" / "tasks.jsonl").read_text() == (
        '{"id":"q1","kind":"rank","prompt":["a red boat"],"labels":{"colours":["red","blue"],"kind":"boat"}}\n'
    )
    assert (tmp_path / "b" / "truth.jsonl").read_text() == (
        '{"task":"q1","form":"relevance","grades":{"a.jpg":2,"b.jpg":0}}\n'
    )
    header = orjson.loads((tmp_path / "b" / "benchmark.json").read_bytes())
    assert list(header) == [
        "schema",
        "name",
        "version",
        "corpus",
        "metrics",
        "card",
        "grade",
        "grade_basis",
        "checksums",
    ]
    assert list(header["checksums"]) == ["pictures.jsonl", "tasks.jsonl", "truth.jsonl"]
