"""The examples in docs/data-model.md are read as they stand there, and no field is left undocumented."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from sightline import types
from sightline.benchmark.files import HEADER, TABLES
from sightline.benchmark.folder import read_benchmark
from sightline.benchmark.records import BenchmarkRecord
from sightline.benchmark.validation import validate_benchmark
from sightline.runs import folder as runs
from sightline.runs.folder import ATTEMPTS, LEDGER
from sightline.runs.records import RunRecord

PAGE = (Path(__file__).parents[2] / "docs" / "data-model.md").read_text(encoding="utf-8")
SECTION = re.compile(r"^### `([^`]+)`[^\n]*\n(.*?)(?=^##|\Z)", re.DOTALL | re.MULTILINE)
SECTIONS = {match[1]: match[2] for match in SECTION.finditer(PAGE)}
FIELDS = {table.name: table.fields for table in (*TABLES, ATTEMPTS, LEDGER)} | {
    HEADER: {field.alias or name for name, field in BenchmarkRecord.model_fields.items()},
    "run.json": {field.alias or name for name, field in RunRecord.model_fields.items()},
}


def examples(folder: Path, names: set[str]) -> Path:
    folder.mkdir()
    for name in names:
        found = re.search(r"```json\n(.*?)```", SECTIONS[name], re.DOTALL)
        assert found is not None, name
        (folder / name).write_text(found[1], encoding="utf-8")
    return folder


def test_the_example_is_one_sound_benchmark_and_a_run_on_it(tmp_path: Path) -> None:
    folder = examples(tmp_path / "bench", {HEADER, *(table.name for table in TABLES)})
    assert validate_benchmark(folder) == ()
    benchmark = read_benchmark(folder)
    assert {task.kind for task in benchmark.tasks.values()} == {"rank", "select", "answer", "choose", "describe"}
    documented = runs.read_run(examples(tmp_path / "run", {"run.json", ATTEMPTS.name, LEDGER.name}))
    assert documented.benchmark_checksum == benchmark.checksum
    assert {type(attempt.prediction) for attempt in documented.attempts} == {
        types.Ranking,
        types.PictureSet,
        types.Text,
        types.Choice,
        types.Trace,
        types.Failure,
    }


@pytest.mark.parametrize("name", sorted(FIELDS))
def test_every_field_of_a_file_is_documented(name: str) -> None:
    for field in FIELDS[name]:
        assert f"`{field}`" in SECTIONS[name], field


def test_every_noun_is_documented() -> None:
    for name in types.__all__:
        if inspect.isclass(getattr(types, name)):
            assert f"| `{name}` |" in PAGE
