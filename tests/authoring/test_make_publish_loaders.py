"""The published folder as others read it: our own importers, and the real loaders."""

from __future__ import annotations

from pathlib import Path

import pytest

from make_publishing import make_project, publish, rows
from sightline.authoring.dataset.ids import FILE as IDS
from sightline.authoring.dataset.ids import read_names
from sightline.authoring.dataset.manifest import PublishTerms
from sightline.authoring.project import Project
from sightline.authoring.project_benchmark import read_project_benchmark
from sightline.benchmark.formats import hf_parquet
from sightline.benchmark.formats.base import FormatOptions
from sightline.benchmark.formats.benchmaker import read_flat
from sightline.benchmark.formats.mteb import read as read_mteb
from sightline.types import Benchmark, Relevance

pytest.importorskip("pyarrow")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path)


def test_benchmakers_rows_come_back_the_same(project: Project) -> None:
    folder, _ = publish(project, PublishTerms(layout="rows", licences=("cc-by-4.0", "unknown")))
    content = read_flat(folder, FormatOptions()).content
    assert isinstance(content, Benchmark)
    names = read_names(project.folder / IDS).pictures
    assert dict(content.truth) == {
        task: Relevance({names[id_]: grade for id_, grade in truth.grades.items()})  # type: ignore[union-attr]
        for task, truth in read_project_benchmark(project).benchmark.truth.items()
    }
    first = rows(folder, "data")[0]
    assert first["relevance_label"] == 1
    assert b"Secret Camera" not in first["image"]["bytes"]


def test_the_full_layout_loses_no_table(project: Project) -> None:
    folder, _ = publish(project, PublishTerms(layout="full"))
    (folder / "benchmark.json").rename(folder / "sightline.json")
    content = hf_parquet.read(folder, FormatOptions()).content
    assert isinstance(content, Benchmark)
    pairs = 0
    for truth in content.truth.values():
        assert isinstance(truth, Relevance)
        pairs += len(truth.grades)
    assert len(content.judgments) == pairs
    assert not any(str(project.folder) in picture.uri for picture in content.corpus.pictures.values())


def test_our_own_importer_reads_the_folder(project: Project) -> None:
    folder, manifest = publish(project)
    content = read_mteb(folder, FormatOptions()).content
    assert isinstance(content, Benchmark)
    assert len(content.tasks) == manifest.counts["queries"]


@pytest.mark.slow
@pytest.mark.parametrize("splits", ["test", "train=0.5,test=0.5"])
def test_the_real_datasets_library_loads_the_folder(project: Project, tmp_path: Path, splits: str) -> None:
    datasets = pytest.importorskip("datasets", reason="the interop extra has the real loader")
    folder, manifest = publish(project, PublishTerms(splits=splits))
    cache = str(tmp_path / "cache")
    loaded = {
        name: datasets.load_dataset(str(folder), name, cache_dir=cache) for name in ("corpus", "queries", "qrels")
    }
    assert sum(part.num_rows for part in loaded["corpus"].values()) == manifest.counts["pictures"]
    assert sum(part.num_rows for part in loaded["qrels"].values()) == manifest.counts["judged pairs"]
    assert loaded["corpus"]["test"][0]["image"].size == (160, 120)


@pytest.mark.slow
def test_the_real_datasets_library_loads_benchmakers_rows(project: Project, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets", reason="the interop extra has the real loader")
    folder, manifest = publish(project, PublishTerms(layout="rows"))
    loaded = datasets.load_dataset(str(folder), split="train", cache_dir=str(tmp_path / "cache"))
    assert loaded.num_rows == manifest.counts["judged pairs"]
    assert loaded[0]["image"].size == (160, 120)


@pytest.mark.slow
def test_the_real_mteb_loads_its_task(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mteb", reason="the interop extra has the real tool")
    folder, manifest = publish(project)
    monkeypatch.syspath_prepend(str(folder))
    import importlib

    module = importlib.import_module("mteb_task")
    task = module.HarbourLightsRetrieval()
    task.load_data()
    found = task.dataset["default"]["test"]
    assert len(found["queries"]) == manifest.counts["queries"]
    assert len(found["corpus"]) == manifest.counts["pictures"]
