"""Benchmarks as Hugging Face data sets: nothing lost, and what the real `datasets` makes of them."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from benchmark.formats.format_tools import benchmark_in, exporting, importing
from sightline.benchmark.formats import FormatOptions
from sightline.benchmark.problems import ProblemsError
from sightline.errors import UserError
from sightline.io.files import picture_path, sha256_of
from sightline.types import Answer, Benchmark, Choice
from strategies import benchmarks

pa: Any = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
pq: Any = pytest.importorskip("pyarrow.parquet")


@pytest.fixture(scope="module")
def exported(sampled: Benchmark, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return exporting("hf-parquet", sampled, tmp_path_factory.mktemp("hf") / "out")


def edit(file: Path, column: str, row: int, value: object) -> None:
    table = pq.read_table(file)
    values = table[column].to_pylist()
    values[row] = value
    place = table.column_names.index(column)
    pq.write_table(table.set_column(place, column, pa.array(values, table.schema.field(column).type)), file)


def test_nothing_is_lost(sampled: Benchmark, exported: Path) -> None:
    assert benchmark_in("hf-parquet", exported) == sampled


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(benchmarks())
def test_nothing_is_lost_of_any_benchmark(tmp_path_factory: pytest.TempPathFactory, made: Benchmark) -> None:
    folder = exporting("hf-parquet", made, tmp_path_factory.mktemp("any") / "out")
    assert benchmark_in("hf-parquet", folder) == replace(made, checksum=None)


def test_what_readers_of_the_tables_see(sampled: Benchmark, exported: Path) -> None:
    tasks = {row["id"]: row for row in pq.read_table(exported / "tasks").to_pylist()}
    task = sampled.tasks["choose-02"]
    assert tasks["choose-02"]["text"] == task.text
    assert tasks["choose-02"]["pictures"] == [ref.id for ref in task.pictures]
    answers = {row["task"]: row["answer"] for row in pq.read_table(exported / "truth").to_pylist()}
    chosen, answer = sampled.truth["choose-02"], sampled.truth["answer-02"]
    assert isinstance(chosen, Choice) and isinstance(answer, Answer)
    assert answers["choose-02"] == [chosen.option] and answers["answer-02"] == [answer.text, *answer.aliases]


def test_pictures_are_inside_and_can_be_had_as_files(sampled: Benchmark, exported: Path, tmp_path: Path) -> None:
    found = benchmark_in("hf-parquet", exported, FormatOptions(extra={"extract": str(tmp_path / "out")}))
    for name, picture in found.corpus.pictures.items():
        place = picture_path(picture.uri, Path())
        assert place is not None and place.is_relative_to(tmp_path / "out")
        assert sha256_of(place) == picture.sha256 == sampled.corpus.pictures[name].sha256


def test_pictures_that_are_only_inside_are_counted(sampled: Benchmark, tmp_path: Path) -> None:
    moved = {
        name: replace(picture, uri=picture.uri.replace("file:///", "file:///gone/"), sha256=None)
        for name, picture in sampled.corpus.pictures.items()
    }
    folder = exporting("hf-parquet", sampled, tmp_path / "out")
    rows = pq.read_table(folder / "pictures").to_pylist()
    for row in rows:
        row |= {"uri": moved[row["id"]].uri, "sha256": None}
    (file,) = (folder / "pictures").glob("*.parquet")
    pq.write_table(pa.Table.from_pylist(rows, pq.read_schema(file)), file)
    imported = importing("hf-parquet", folder)
    assert imported.warnings == ("60 pictures are inside the table; add --option extract=DIR to have them as files",)
    assert isinstance(imported.content, Benchmark)
    name = next(iter(moved))
    assert imported.content.corpus.pictures[name].uri == moved[name].uri
    assert imported.content.corpus.pictures[name].sha256 == sampled.corpus.pictures[name].sha256


def test_missing_pictures_are_said(sampled: Benchmark, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    first = next(iter(sampled.corpus.pictures.values()))
    away = replace(first, uri="https://example.org/x.jpg")
    corpus = replace(sampled.corpus, pictures={**sampled.corpus.pictures, first.id: away})
    with caplog.at_level(logging.WARNING):
        folder = exporting("hf-parquet", replace(sampled, corpus=corpus), tmp_path / "out")
    assert "1 picture is not here" in caplog.text
    assert benchmark_in("hf-parquet", folder).corpus.pictures[first.id] == away


def test_the_limit_keeps_what_belongs_to_the_tasks(sampled: Benchmark, exported: Path) -> None:
    found = benchmark_in("hf-parquet", exported, FormatOptions(limit=2))
    assert list(found.tasks) == list(found.truth) == list(sampled.tasks)[:2]


@pytest.mark.parametrize(
    ("table", "column", "value", "message"),
    [
        ("tasks", "kind", "guess", "line 2, kind: expected 'rank', 'select'"),
        ("tasks", "prompt", "[", "line 2: expected JSON text"),
        ("tasks", "id", "rank-01", 'line 2, id: "rank-01" is there twice'),
        ("truth", "truth", '{"grades":{"x":-1}}', "line 2, grades.x: expected greater than or equal to 0, got -1"),
        ("pictures", "width", 0, "line 2, width: expected greater than or equal to 1, got 0"),
    ],
)
def test_a_wrong_row_is_refused_or_left_out(
    sampled: Benchmark, tmp_path: Path, table: str, column: str, value: object, message: str
) -> None:
    folder = exporting("hf-parquet", sampled, tmp_path / "out")
    edit(folder / table / "test-00000.parquet", column, 1, value)
    with pytest.raises(ProblemsError) as caught:
        importing("hf-parquet", folder)
    assert f"{table}/test-00000.parquet, {message}" in str(caught.value)
    assert len(importing("hf-parquet", folder, FormatOptions(keep_going=True)).problems) == 1


def test_another_folder_is_refused(sampled: Benchmark, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"has no pictures/\*\.parquet"):
        importing("hf-parquet", tmp_path)
    folder = exporting("hf-parquet", sampled, tmp_path / "out")
    (folder / "sightline.json").write_text("[]")
    with pytest.raises(UserError, match=r"sightline\.json: expected an object"):
        importing("hf-parquet", folder)
    (folder / "sightline.json").unlink()
    assert benchmark_in("hf-parquet", folder).name == "out"


@pytest.mark.slow
def test_the_real_loader_reads_every_table(
    sampled: Benchmark, exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    datasets = pytest.importorskip("datasets", reason="the interop extra has the real loader")
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)

    def load(*config: str) -> Any:
        return datasets.load_dataset(str(exported), *config, split="test", cache_dir=str(tmp_path))

    assert datasets.get_dataset_config_names(str(exported)) == ["pictures", "tasks", "truth", "groups", "annotations"]
    assert load()["id"][:] == load("tasks")["id"][:] == list(sampled.tasks)
    assert load("truth").num_rows == len(sampled.truth)
    pictures = load("pictures")
    assert pictures["id"][:] == list(sampled.corpus.pictures)
    assert pictures[0]["image"].size[0] > 0
