"""Embedders by name: what each name means, and what a wrong one is told."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sightline import plugins
from sightline.calls.session import Session
from sightline.config import Config
from sightline.errors import MissingExtraError, UserError
from sightline.models.embedders import registry
from sightline.models.embedders.known_models import KNOWN, find_known
from sightline.models.embedders.registry import embedder_names, find_embedder, parse_value
from tiny_clip import write_tiny_clip


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("fotos", 'Did you mean "photos"'),
        ("clip-vit-b23", 'Did you mean "clip-vit-b32"'),
        ("onnx:clip-vit-b23", 'Did you mean "clip-vit-b32"'),
        pytest.param("opneai/text-embedding-3-small", "Known: photos, world, clip-vit-b32", marks=pytest.mark.world),
        ("BAAI/bge-m3", "transformers:BAAI/bge-m3"),
        ("anthropic/claude", "Known: photos"),
        ("openai/", "Known: photos"),
        ("http:http://localhost:1/v1", "does not say which model"),
        ("http:localhost#m", "not an address of a model server"),
    ],
)
def test_a_wrong_name_gets_the_nearest_and_the_list(name: str, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with pytest.raises(UserError) as told:
        find_embedder(name)
    assert says in str(told.value)


def test_all_names_are_listed() -> None:
    names = embedder_names()
    assert names[0] == "photos" and {*KNOWN, "onnx:FOLDER", "transformers:NAME", "vllm/MODEL"} <= set(names)


def test_known_models_are_pinned_completely() -> None:
    for model in KNOWN.values():
        assert len(model.revision) == 40 and int(model.revision, 16) and model.licence
        assert {"tokenizer.json"} < {file.path for file in model.files}
        for file in model.files:
            assert len(file.sha256) == 64 and int(file.sha256, 16) and file.size > 1000
            assert model.url(file).startswith(f"https://huggingface.co/{model.repo}/resolve/{model.revision}/")
    assert find_known("openai/clip-vit-base-patch32") is KNOWN["clip-vit-b32"]


def test_the_configured_embedder_is_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = Config.model_validate({"models": {"embedder": f"onnx:{write_tiny_clip(tmp_path / 'm')}"}})
    assert find_embedder(session=Session(config=config)).name == "onnx:m"
    asked: list[str] = []
    monkeypatch.setitem(registry.BUILDERS, "photos", lambda rest, *_: asked.append(rest))
    find_embedder()
    assert asked == [""]


def test_options_are_checked(tmp_path: Path) -> None:
    name = f"onnx:{write_tiny_clip(tmp_path)}"
    find_embedder(name, device="cpu", threads=1)
    for options, says in (
        ({"devise": "cpu"}, 'has no option "devise"'),
        ({"threads": "many"}, "option threads"),
        ({"threads": 0}, "option threads"),
    ):
        with pytest.raises(UserError, match=says):
            find_embedder(name, **options)
    with pytest.raises(UserError, match='Did you mean "dimensions"'):
        find_embedder("vllm/m", dimension=3)


@pytest.mark.parametrize(
    ("text", "value"),
    [("256", 256), ("true", True), ('{"a": [1]}', {"a": [1]}), ("cuda:1", "cuda:1"), ("0.5", 0.5), ("", "")],
)
def test_values_on_the_command_line(text: str, value: object) -> None:
    assert parse_value(text) == value


class Plugged:
    """What somebody else's package offers."""

    name, revision, dim = "plugged", "7", 2

    def __init__(self, rest: str, **options: Any) -> None:
        self.rest, self.options = rest, options

    def pictures(self, batch: Any) -> np.ndarray:
        return np.ones((len(batch), 2), dtype=np.float32)

    texts = pictures


def test_plugged_in_by_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("mine", f"{__name__}:Plugged", "sightline.embedders")

    def points(*, group: str) -> list[EntryPoint]:
        return [point] if group == point.group else []

    monkeypatch.setattr(plugins, "entry_points", points)
    found = find_embedder("mine:big/model", device="cpu")
    assert isinstance(found, Plugged) and (found.rest, found.options) == ("big/model", {"device": "cpu"})
    assert "mine" in embedder_names()


@pytest.mark.parametrize(("module", "extra"), [("onnxruntime", "onnx"), ("tokenizers", "onnx")])
def test_a_missing_package_names_its_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, extra: str
) -> None:
    write_tiny_clip(tmp_path)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=rf"pip install 'sightline\[{extra}\]'"):
        find_embedder(f"onnx:{tmp_path}").texts(["red"])


def test_transformers_without_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingExtraError, match=r"sightline\[transformers\]"):
        find_embedder("transformers:some/model")


def test_finding_an_embedder_imports_nothing_heavy() -> None:
    code = (
        "import sys, sightline.models.embedders.registry as e; e.embedder_names();"
        "print([m for m in ('onnxruntime', 'tokenizers', 'torch', 'transformers', 'aiohttp', 'onnx',"
        " 'huggingface_hub') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_options_can_stand_in_the_name() -> None:
    with_head, without = find_embedder("photos"), find_embedder("photos:head=false,threads=1")
    assert with_head.revision != without.revision
    assert without.dim < with_head.dim
    with pytest.raises(UserError, match='no option "haed"'):
        find_embedder("photos:haed=false")
