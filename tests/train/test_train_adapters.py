"""What LoRA adds to a model: trained alone, opened again, and trained on."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from huggingface_hub import constants

from hub_unreachable import cut_off
from sightline.errors import UserError
from sightline.reason.train.models import open_model, save
from sightline.reason.train.trainer import run_training
from sightline_world.models.glimpse import GlimpseProcessor
from train_tools import SETTINGS, course_in, losses_of, stages_of

REVISION = "0123456789abcdef0123456789abcdef01234567"


def test_lora_trains_only_what_it_adds(tmp_path: Path) -> None:
    done = run_training(course_in(tmp_path, lora=2, stages=("easy",)), SETTINGS)
    files = {file.name for file in done.model.iterdir()}
    assert "adapter_model.safetensors" in files and "model.safetensors" not in files
    assert set(stages_of(done.model.parent)) == {"easy"}


def test_what_lora_adds_can_be_opened_again(tmp_path: Path) -> None:
    """Also to a model that was made here: its base is saved beside."""
    done = run_training(course_in(tmp_path, lora=2, stages=("easy",)), SETTINGS)
    named = json.loads((done.model / "adapter_config.json").read_text())["base_model_name_or_path"]
    assert Path(named) == (tmp_path / "out/base").resolve()
    model, processor = open_model(str(done.model), ())
    base, _ = open_model(named, ())
    moved = [name for name, weight in model.named_parameters() if not weight.equal(base.get_parameter(name))]
    assert len(moved) > 4 and all(".weight" in name for name in moved), "what was added is in the weights now"
    assert processor.tokenizer.eos_token == "<end>"


@pytest.mark.parametrize("lora", [None, 2])
def test_what_lora_added_can_be_trained_on_after_a_move(tmp_path: Path, lora: int | None) -> None:
    first = run_training(course_in(tmp_path, lora=2, stages=("easy",)), SETTINGS)
    begun = losses_of(tmp_path / "out")[0][1]
    moved = tmp_path / "moved"
    first.model.parent.rename(moved)
    again = course_in(tmp_path, model=str(moved / "model"), lora=lora, out=tmp_path / "second", stages=("hard",))
    done = run_training(again, SETTINGS)
    assert losses_of(tmp_path / "second")[0][1] < begun - 0.02, "it knows what it learnt before"
    model, _ = open_model(str(done.model), ())
    assert all(weight.isfinite().all() for weight in model.parameters())


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stands in for the hub: what it keeps on this machine of models that were fetched once, with no way out."""
    folder = tmp_path / "hub"
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(folder))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    return folder


def put(hub: Path, name: str, source: Path, branch: str = "main", revision: str = REVISION) -> None:
    """Have a folder known by a name on the hub."""
    place = hub / f"models--{name.replace('/', '--')}"
    (place / "refs").mkdir(parents=True, exist_ok=True)
    (place / "refs" / branch).write_text(revision)
    shutil.copytree(source, place / "snapshots" / revision)


@pytest.mark.parametrize("lora", [None, 2])
def test_an_adapter_of_the_hub_is_trained_on_as_one_in_a_folder(tmp_path: Path, hub: Path, lora: int | None) -> None:
    first = run_training(course_in(tmp_path, lora=2, stages=("easy",)), SETTINGS)
    again = course_in(tmp_path, model=str(first.model), lora=lora, out=tmp_path / "of-folder", stages=("hard",))
    run_training(again, SETTINGS)
    put(hub, "someone/base", tmp_path / "out/base")
    named = first.model / "adapter_config.json"
    named.write_text(json.dumps({**json.loads(named.read_text()), "base_model_name_or_path": "someone/base"}))
    put(hub, "someone/adapter", first.model)
    shutil.rmtree(tmp_path / "out")
    run_training(replace(again, model="someone/adapter", out=tmp_path / "of-hub"), SETTINGS)
    assert losses_of(tmp_path / "of-hub") == losses_of(tmp_path / "of-folder")
    assert (tmp_path / "of-hub/base").is_dir() == (lora is not None), "what was merged is nowhere else"
    model, _ = open_model("someone/adapter", ())
    assert all(weight.requires_grad for weight in model.parameters())


@pytest.mark.parametrize("revision", ["earlier", "f" * 40])
def test_an_adapter_is_added_to_the_revision_that_it_names(tmp_path: Path, hub: Path, revision: str) -> None:
    model = run_training(course_in(tmp_path, lora=2, stages=("easy",)), SETTINGS).model
    wanted, processor = open_model(str(model), ())
    put(hub, "someone/base", tmp_path / "out/base", "earlier", "f" * 40)
    save(*open_model("glimpse-tiny", ["Other words."], seed=1), tmp_path / "later")
    put(hub, "someone/base", tmp_path / "later")
    shutil.rmtree(tmp_path / "out/base")
    bare = tmp_path / "bare"
    bare.mkdir()
    (model / "adapter_model.safetensors").rename(bare / "adapter_model.safetensors")
    settings = json.loads((model / "adapter_config.json").read_text())
    settings |= {"base_model_name_or_path": "someone/base", "revision": revision}
    (bare / "adapter_config.json").write_text(json.dumps(settings))
    found, read_by = open_model(str(bare), ())
    assert all(weight.equal(found.get_parameter(name)) for name, weight in wanted.named_parameters())
    assert read_by.tokenizer.get_vocab() == processor.tokenizer.get_vocab()


def test_an_adapter_without_a_processor_has_that_of_its_base(tmp_path: Path, hub: Path) -> None:
    done = run_training(course_in(tmp_path, lora=2, stages=("easy",)), SETTINGS)
    put(hub, "someone/whole", done.model)
    for file in done.model.iterdir():
        if not file.name.startswith("adapter"):
            file.unlink()
    put(hub, "someone/bare", done.model)
    (_, whole), (_, bare) = open_model("someone/whole", ()), open_model("someone/bare", ())
    assert type(whole) is type(bare) is GlimpseProcessor
    assert bare.tokenizer.get_vocab() == whole.tokenizer.get_vocab()


def test_an_adapter_names_the_folder_of_its_base_wherever_it_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = run_training(course_in(tmp_path, stages=("easy",)), SETTINGS).model
    whole.rename(tmp_path / "whole")
    monkeypatch.chdir(tmp_path)
    done = run_training(course_in(tmp_path, model="whole", lora=2, out=tmp_path / "second"), SETTINGS)
    named = json.loads((done.model / "adapter_config.json").read_text())["base_model_name_or_path"]
    assert named == str((tmp_path / "whole").resolve())


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Whoever is asked over the network, where none answers."""
    return cut_off(monkeypatch, tmp_path / "hub")


def test_local_only_asks_nobody_for_a_model(tmp_path: Path, asked: list[str]) -> None:
    adapter = tmp_path / "adapter"
    adapter.mkdir()
    (adapter / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": "someone/base"}))
    for name in ("someone/model", str(adapter)):
        with pytest.raises(UserError, match=r"not on this machine, and --local-only"):
            run_training(course_in(tmp_path, model=name, lora=2, local_only=True), SETTINGS)
    assert not asked
    assert not constants.HF_HUB_OFFLINE, "others may ask again"


def test_local_only_trains_what_was_fetched_before(tmp_path: Path, asked: list[str]) -> None:
    whole = run_training(course_in(tmp_path, stages=("easy",)), SETTINGS).model
    put(tmp_path / "hub", "someone/model", whole)
    again = course_in(tmp_path, model="someone/model", lora=2, out=tmp_path / "second", local_only=True)
    done = run_training(again, SETTINGS)
    named = json.loads((done.model / "adapter_config.json").read_text())["base_model_name_or_path"]
    assert named == "someone/model" and not asked


def test_an_adapter_to_nothing_is_said(tmp_path: Path) -> None:
    (tmp_path / "adapter_config.json").write_text("{}")
    with pytest.raises(UserError, match=r"can't be opened: .*adapter_config\.json does not say which model"):
        open_model(str(tmp_path), ())
