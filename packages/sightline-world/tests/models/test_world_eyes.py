"""What the built-in models see in lives that they were not trained on; training/world/evaluate.py has the measures."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from sightline.errors import UserError
from sightline.models.embedders.registry import find_embedder
from sightline_world.models import networks
from sightline_world.models.declaration import endpoint
from sightline_world.models.embedder import WorldEmbedder
from sightline_world.models.networks import Network

ROOT = Path(__file__).parents[4]


def _evaluate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("world_evaluate", ROOT / "training/world/evaluate.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # Scenes are drawn in other processes, which look for it by name.
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def evaluate() -> ModuleType:
    return _evaluate()


def test_a_few_scenes_are_read_and_found(evaluate: ModuleType) -> None:
    shown = evaluate._scenes_of(90_001, 45)
    scores = evaluate.reading_scores(shown)
    assert scores["object_colour_f1"] > 0.85
    assert scores["place"] > 0.9
    captions = evaluate.captions_of(shown)
    assert all(len(text.split()) <= 12 for text in captions)
    ranks = evaluate.ranks_of(WorldEmbedder().pictures([scene.pixels for scene in shown]), captions)
    assert (ranks <= 10).mean() > 0.85


@pytest.mark.slow
def test_a_thousand_held_out_scenes(evaluate: ModuleType) -> None:
    """The bars that the models were trained for."""
    shown = evaluate._scenes_of(90_001, 500) + evaluate._scenes_of(90_002, 500)
    read = evaluate.reading_scores(shown)
    assert read["object_colour_f1"] >= 0.9
    assert read["count"] >= 0.85
    assert read["signs"] >= 0.85 and read["signs_read"] > 100
    captions = evaluate.captions_of(shown)
    ranks = evaluate.ranks_of(WorldEmbedder().pictures([scene.pixels for scene in shown]), captions)
    possible = evaluate.times_true(shown, captions) <= 10
    assert possible.mean() > 0.85
    assert (ranks[possible] <= 10).mean() >= 0.9
    assert (ranks <= 10).mean() >= 0.88  # Some captions are true of so many scenes that nobody could put theirs first.


def test_every_third_scene_is_a_twin(evaluate: ModuleType) -> None:
    shown = evaluate._scenes_of(90_001, 9)
    for at in (2, 5, 8):
        assert (
            shown[at].graph.place == shown[at - 1].graph.place or shown[at].graph.things == shown[at - 1].graph.things
        )
        assert not np.array_equal(shown[at].pixels, shown[at - 1].pixels)


def test_the_embedder_has_a_name_and_options(evaluate: ModuleType) -> None:
    model = find_embedder("world", threads=1)
    (scene,) = evaluate._scenes_of(90_002, 1)
    vectors = model.pictures([scene.pixels, scene.pixels[:, ::-1].copy()])
    assert vectors.shape == (2, model.dim)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-4)
    assert model.texts(["a red car"]).shape == (1, model.dim)


def test_missing_weights_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(networks, "__file__", str(tmp_path / "networks.py"))
    with pytest.raises(UserError, match=r"reader\.onnx is missing"):
        Network("reader")


def test_weights_are_small() -> None:
    folder = ROOT / "packages/sightline-world/src/sightline_world/models/weights"
    assert sum(file.stat().st_size for file in folder.glob("*.onnx")) <= 25_000_000


def test_other_weights_are_another_revision(monkeypatch: pytest.MonkeyPatch) -> None:
    before, chat_before = networks.revision_of("reader", "text"), endpoint()
    assert WorldEmbedder().revision == networks.revision_of("reader", "signs", "scene", "text")
    weights = networks._weights
    monkeypatch.setattr(networks, "_weights", lambda name: weights(name) + b"!" * (name == "reader"))
    networks.revision_of.cache_clear()
    try:
        assert networks.revision_of("reader", "text") != before
        assert endpoint() != chat_before
    finally:
        networks.revision_of.cache_clear()
