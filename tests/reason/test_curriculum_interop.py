"""Curricula read back by the loaders of the tools they are for, in their order.

ms-swift, LLaMA-Factory and TRL pin each other's dependencies away, so `make test-interop` installs them without any,
and the few packages that their loaders then import.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import os
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from reason.curriculum_tools import drawn, lines
from sightline.reason.curriculum.compiler import curriculum
from sightline.reason.curriculum.formats import FormatName

pytestmark = pytest.mark.slow


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A benchmark to compile, and nothing that reaches out."""
    drawn(tmp_path / "bench", 24)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("DISABLE_VERSION_CHECK", "1")
    return tmp_path


def written(here: Path, name: FormatName) -> None:
    """A curriculum in a format; from now on in its folder, as its README says."""
    curriculum(here / "bench", "mir", here / "out", format=name)
    os.chdir(here / "out")


def loaded(here: Path, file: str) -> Any:
    datasets = pytest.importorskip("datasets")
    return datasets.load_dataset("json", data_files=file, split="train", cache_dir=str(here / "cache"))


def test_datasets_reads_trl_with_pictures_decoded(here: Path) -> None:
    datasets = pytest.importorskip("datasets")
    written(here, "trl")
    data = loaded(here, "train.jsonl").cast_column("images", datasets.List(datasets.Image()))
    rows = lines(Path("train.jsonl"))
    assert [row["completion"][0]["content"][0]["text"] for row in data] == [
        row["completion"][0]["content"][0]["text"] for row in rows
    ]
    assert data[0]["images"][0].size == (64, 48)
    assert loaded(here, "stepwise.jsonl").features["labels"].feature.dtype == "bool"
    assert len(loaded(here, "messages.jsonl")) == len(rows)


def test_trl_puts_the_pictures_into_the_messages(here: Path) -> None:
    datasets = pytest.importorskip("datasets")
    tools = pytest.importorskip("trl.data_utils")
    written(here, "trl")
    data = loaded(here, "train.jsonl").cast_column("images", datasets.List(datasets.Image()))
    for row in data:
        assert tools.is_conversational(row)
        user, assistant = tools.prepare_multimodal_messages([*row["prompt"], *row["completion"]], row["images"])
        shown = [part["image"] for part in user["content"] if part["type"] == "image"]
        assert len(shown) == len(row["images"]) > 0
        assert [part["type"] for part in assistant["content"]] == ["text"]


def test_datasets_reads_sharegpt_in_order(here: Path) -> None:
    written(here, "sharegpt")
    assert [row["id"] for row in loaded(here, "train.jsonl")] == [row["id"] for row in lines(Path("train.jsonl"))]


def test_datasets_reads_llava_in_order(here: Path) -> None:
    written(here, "llava")
    for stage in json.loads(Path("stages.json").read_text()):
        rows = json.loads(Path(stage["file"]).read_text())
        assert [row["id"] for row in loaded(here, stage["file"])] == [row["id"] for row in rows]


@pytest.mark.parametrize("name", ["ms-swift", "sharegpt"])
def test_ms_swift_reads_messages_and_pictures_in_order(here: Path, name: FormatName) -> None:
    swift = pytest.importorskip("swift.dataset")
    written(here, name)
    data, _ = swift.load_dataset(["train.jsonl"], shuffle=False, load_from_cache_file=False)
    curriculum(here / "bench", "mir", here / "plain", format="ms-swift")
    wanted = lines(here / "plain/train.jsonl")
    assert [[message["content"] for message in row["messages"]] for row in data] == [
        [message["content"] for message in row["messages"]] for row in wanted
    ]
    assert [[image["path"] for image in row["images"]] for row in data] == [row["images"] for row in wanted]


def test_ms_swift_knows_the_flags_of_the_command(here: Path) -> None:
    arguments = pytest.importorskip("swift.arguments")
    written(here, "ms-swift")
    command = Path("README.md").read_text().partition("swift sft")[2].partition("```")[0]
    flags = {word.removeprefix("--") for word in command.split() if word.startswith("--")}
    assert {"dataset_shuffle", "train_dataloader_shuffle"} <= flags
    assert flags <= {field.name for field in dataclasses.fields(arguments.SftArguments)}


@pytest.fixture
def no_sound(monkeypatch: pytest.MonkeyPatch) -> None:
    """LLaMA-Factory imports a library of sound beside its readers of pictures, whose builds need CUDA."""
    if importlib.util.find_spec("torchaudio") is None:
        silent = ModuleType("torchaudio")
        silent.__spec__ = ModuleSpec("torchaudio", None)
        monkeypatch.setitem(sys.modules, "torchaudio", silent)


@pytest.mark.usefixtures("no_sound")
def test_llama_factory_reads_its_configuration_and_data_in_order(here: Path) -> None:
    yaml = pytest.importorskip("yaml")
    loader = pytest.importorskip("llamafactory.data.loader")
    hparams = pytest.importorskip("llamafactory.hparams")
    transformers = pytest.importorskip("transformers")
    written(here, "llama-factory")
    config = yaml.safe_load(Path("train.yaml").read_text())

    def arguments(kind: Any) -> Any:
        known = {field.name for field in dataclasses.fields(kind)}
        return kind(**{key: value for key, value in config.items() if key in known})

    data_arguments = arguments(hparams.DataArguments)
    assert arguments(hparams.FinetuningArguments).disable_shuffling
    data = loader._get_merged_dataset(
        data_arguments.dataset,
        hparams.ModelArguments(model_name_or_path="none"),
        data_arguments,
        transformers.Seq2SeqTrainingArguments(output_dir=str(here / "checkpoints"), report_to=[]),
        "sft",
    )
    rows = lines(Path("train.jsonl"))
    assert [row["_response"][0]["content"] for row in data] == [row["messages"][1]["content"] for row in rows]
    assert [row["_prompt"][0]["content"] for row in data] == [row["messages"][0]["content"] for row in rows]
    assert all(Path(image).is_file() for row in data for image in row["_images"])
