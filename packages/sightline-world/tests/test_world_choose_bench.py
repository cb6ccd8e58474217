"""Tasks of choice as a benchmark folder, and on to MIR's records and back."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from sightline.benchmark.folder import read_benchmark
from sightline.benchmark.formats.base import FormatOptions
from sightline.benchmark.formats.mir import FORMATS
from sightline.errors import UserError
from sightline.exchange import validate
from sightline.types import Benchmark, Choice, StepKind
from sightline_world.choose import ChooseTask, choose_tasks
from sightline_world.choose.benchmark import write_choose_benchmark

FIVE: tuple[StepKind, ...] = ("summary", "caption", "text-to-region", "region-to-region", "conclusion")


@pytest.fixture(scope="module")
def tasks() -> list[ChooseTask]:
    return choose_tasks(36, "bench", size=(160, 120))


@pytest.fixture(scope="module")
def folder(tasks: list[ChooseTask], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("choose") / "bench"
    write_choose_benchmark(iter(tasks), path)
    return path


def test_the_folder_holds_tasks_truth_and_pictures(tasks: list[ChooseTask], folder: Path) -> None:
    benchmark = read_benchmark(folder)
    assert list(benchmark.tasks.values()) == [one.task for one in tasks]
    assert dict(benchmark.truth) == {one.task.id: one.truth for one in tasks}
    for one in tasks:
        for picture in one.pictures:
            about = benchmark.corpus.pictures[picture.id]
            content = (folder / about.uri).read_bytes()
            assert content == picture.file
            assert about.sha256 == sha256(content).hexdigest()
            assert (about.width, about.height) == picture.size


def test_the_folder_is_valid_also_where_it_is_moved(folder: Path, tmp_path: Path) -> None:
    moved = tmp_path / "moved"
    moved.symlink_to(folder, target_is_directory=True)
    for path in (folder, moved):
        assert validate(path, check_pictures=True) == ()


def test_mir_records_come_back_as_they_were(tasks: list[ChooseTask], folder: Path, tmp_path: Path) -> None:
    mir = FORMATS["mir"]
    assert mir.write is not None and mir.read is not None
    out = tmp_path / "mir"
    mir.write(read_benchmark(folder), out, FormatOptions(pictures=folder))
    content = mir.read(out, FormatOptions(pictures=out)).content
    assert isinstance(content, Benchmark)
    for one in tasks:
        task, truth = content.tasks[one.task.id], content.truth[one.task.id]
        assert isinstance(truth, Choice)
        assert (task.prompt, task.options) == (one.task.prompt, one.task.options)
        assert task.labels == {name: one.task.labels[name] for name in ("category", "subtask")}
        assert truth.option == one.truth.option
        for kind in FIVE:
            before, after = ([step.text for step in t.steps if step.kind == kind] for t in (one.truth, truth))
            assert after == before
        for picture in one.pictures:
            assert (out / picture.id).read_bytes() == picture.file


def test_a_benchmark_is_replaced_and_other_folders_are_left_alone(tasks: list[ChooseTask], tmp_path: Path) -> None:
    write_choose_benchmark(tasks[:3], tmp_path / "bench")
    write_choose_benchmark(tasks[:2], tmp_path / "bench")
    assert len(read_benchmark(tmp_path / "bench").tasks) == 2
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    with pytest.raises(UserError, match="holds other things"):
        write_choose_benchmark(tasks[:2], tmp_path / "mine")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["letter.txt"]
