"""ONNX models of CLIP's form, in every shape that such graphs come in."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sightline.errors import UserError
from sightline.models.embedders.onnx_clip import OnnxClip, find_providers
from sightline.models.embedders.registry import find_embedder
from tiny_clip import COLOURS, DIM, WORDS, expected_picture, write_tiny_clip


def plain(name: str, height: int = 30, width: int = 40) -> np.ndarray:
    return np.full((height, width, 3), COLOURS[name], dtype=np.uint8)


def open_tiny(folder: Path, **options: Any) -> OnnxClip:
    found = find_embedder(f"onnx:{folder}", **options)
    assert isinstance(found, OnnxClip)
    return found


@pytest.mark.parametrize(
    "form",
    [
        {},
        {"half": True},
        {"mask": False},
        {"fixed_length": True},
        {"mask": False, "fixed_length": True},
        {"fixed_batch": 1},
        {"fixed_batch": 4},
        {"suffix": "_int8"},
    ],
    ids=lambda form: " ".join(form) or "usual",
)
def test_pictures_and_texts_meet_in_one_space(tmp_path: Path, form: dict[str, Any]) -> None:
    precision = {"precision": "int8"} if "suffix" in form else {}
    embedder = open_tiny(write_tiny_clip(tmp_path, **form), **precision)
    names = list(COLOURS)
    pictures = embedder.pictures([plain(name) for name in names])
    texts = embedder.texts([f"A picture of {name}" for name in names])
    assert pictures.dtype == texts.dtype == np.float32 and pictures.shape == (len(names), DIM)
    assert embedder.dim == DIM
    np.testing.assert_allclose(np.linalg.norm(pictures, axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(pictures, [expected_picture(plain(name)) for name in names], atol=3e-3)
    assert (pictures @ texts.T).argmax(axis=1).tolist() == list(range(len(names)))


def test_a_batch_is_its_pictures_one_by_one(tmp_path: Path) -> None:
    embedder = open_tiny(write_tiny_clip(tmp_path), batch=3)
    rng = np.random.default_rng(1)
    pictures = [rng.integers(0, 256, (20 + n, 50 - n, 3), dtype=np.uint8) for n in range(8)]
    together = embedder.pictures(pictures)
    apart = np.concatenate([embedder.pictures([picture]) for picture in pictures])
    np.testing.assert_allclose(together, apart, atol=1e-6)
    assert embedder.pictures([]).shape[0] == embedder.texts([]).shape[0] == 0
    embedder.close()


def test_long_texts_are_cut_and_counted(tmp_path: Path) -> None:
    embedder = open_tiny(write_tiny_clip(tmp_path))
    fits = "red " * 6  # With one token before and one after it: eight.
    attempt = embedder.attempt_texts([fits, fits + "blue", "blue", "blue blue blue blue blue blue blue red"])
    assert attempt.cut is not None and attempt.cut.tolist() == [False, True, False, True]
    np.testing.assert_allclose(attempt.vectors[0], attempt.vectors[1], atol=1e-6)
    np.testing.assert_allclose(attempt.vectors[2], attempt.vectors[3], atol=1e-6)


def test_padding_changes_nothing(tmp_path: Path) -> None:
    embedder = open_tiny(write_tiny_clip(tmp_path))
    alone = embedder.texts(["red"])[0]
    beside = embedder.texts(["red", "red blue green white"])[0]
    np.testing.assert_allclose(alone, beside, atol=1e-6)


def test_a_text_without_direction_is_a_failure_not_a_vector(tmp_path: Path) -> None:
    embedder = open_tiny(write_tiny_clip(tmp_path))
    attempt = embedder.attempt_texts(["of a picture", "red"])  # No colour: the sum is zero.
    assert set(attempt.failures) == {0} and not attempt.vectors[0].any()
    with pytest.raises(Exception, match="input 1 of 2 gave no vector"):
        embedder.texts(["of a picture", "red"])


def test_each_tower_works_alone(tmp_path: Path) -> None:
    sees = open_tiny(write_tiny_clip(tmp_path / "sees", towers=("vision",)))
    reads = open_tiny(write_tiny_clip(tmp_path / "reads", towers=("text",)))
    assert sees.pictures([plain("red")]).shape == reads.texts(["red"]).shape == (1, DIM)
    with pytest.raises(UserError, match=r"can't embed texts: .* has no text tower"):
        sees.texts(["red"])
    with pytest.raises(UserError, match="can't embed pictures"):
        reads.pictures([plain("red")])


def test_one_folder_for_each_tower(tmp_path: Path) -> None:
    """As Immich lays out OpenCLIP models."""
    made = write_tiny_clip(tmp_path / "made", side=16, mask=False, fixed_length=True)
    folder = tmp_path / "immich"
    for tower, name in (("visual", "vision"), ("textual", "text")):
        (folder / tower).mkdir(parents=True)
        (made / "onnx" / f"{name}_model.onnx").rename(folder / tower / "model.onnx")
    (made / "tokenizer.json").rename(folder / "textual" / "tokenizer.json")
    settings = {"size": [16, 16], "mean": [0.48, 0.46, 0.41], "std": [0.27, 0.26, 0.28], "interpolation": "bicubic"}
    (folder / "visual" / "preprocess_cfg.json").write_text(json.dumps(settings), "utf-8")
    embedder = open_tiny(folder)
    similarity = embedder.pictures([plain("blue"), plain("red")]) @ embedder.texts(["red"]).T
    assert similarity.argmax() == 1 and similarity.max() > 0.99


def test_revision_changes_with_whatever_changes_a_vector(tmp_path: Path) -> None:
    first = open_tiny(write_tiny_clip(tmp_path / "m")).revision
    assert open_tiny(tmp_path / "m").revision == first
    other = json.loads((tmp_path / "m" / "preprocessor_config.json").read_text())
    (tmp_path / "m" / "preprocessor_config.json").write_text(json.dumps({**other, "resample": 2}))
    second = open_tiny(tmp_path / "m").revision
    write_tiny_clip(tmp_path / "m", half=True)
    assert len({first, second, open_tiny(tmp_path / "m").revision}) == 3


def write_settings_of(folder: Path, side: int) -> Path:
    """The settings of another model."""
    settings = json.loads((folder / "preprocessor_config.json").read_text("utf-8"))
    changed = {**settings, "size": {"shortest_edge": side}, "crop_size": side}
    (folder / "preprocessor_config.json").write_text(json.dumps(changed), "utf-8")
    return folder


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda f: (f / "onnx/vision_model.onnx").write_bytes(b"no graph"), "can't be loaded"),
        (lambda f: (f / "preprocessor_config.json").unlink(), "has no preprocessor_config.json"),
        (lambda f: (f / "preprocessor_config.json").write_text("[]"), "one JSON object"),
        (lambda f: (f / "preprocessor_config.json").write_text("{"), "expected JSON"),
        (lambda f: write_settings_of(write_tiny_clip(f, side=20), 24), "takes pictures of 20 × 20"),
        (lambda f: (f / "onnx/text_model.onnx").replace(f / "onnx/vision_model.onnx"), "one input was expected"),
    ],
)
def test_a_broken_picture_half(tmp_path: Path, spoil: Callable[[Path], object], says: str) -> None:
    spoil(write_tiny_clip(tmp_path))
    with pytest.raises(UserError, match=says):
        open_tiny(tmp_path).pictures([plain("red")])


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda f: (f / "tokenizer.json").unlink(), "has no tokenizer.json"),
        (lambda f: (f / "tokenizer.json").write_text("{}"), "is not a tokenizer"),
        (lambda f: (f / "tokenizer_config.json").write_text("{}"), "does not say how long a text may be"),
    ],
)
def test_a_broken_text_half(tmp_path: Path, spoil: Callable[[Path], object], says: str) -> None:
    spoil(write_tiny_clip(tmp_path))
    with pytest.raises(UserError, match=says):
        open_tiny(tmp_path).texts(["red"])


def test_no_model_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no folder"):
        find_embedder(f"onnx:{tmp_path / 'nowhere'}")
    (tmp_path / "decoder.onnx").touch()
    with pytest.raises(UserError, match="holds no picture tower") as told:
        find_embedder(f"onnx:{tmp_path}")
    assert "decoder.onnx" in str(told.value) and "onnx/vision_model.onnx" in str(told.value)


def test_devices() -> None:
    assert find_providers("cpu") == ["CPUExecutionProvider"]
    assert find_providers("auto")[-1] == "CPUExecutionProvider"
    with pytest.raises(UserError, match='no device "gpu"'):
        find_providers("gpu")
    with pytest.raises(UserError, match="can't use the device"):
        find_providers("rocm")


def test_words_are_those_of_the_tokenizer(tmp_path: Path) -> None:
    from sightline.models.embedders.preprocessor import ClipTokenizer

    write_tiny_clip(tmp_path)
    made = ClipTokenizer(tmp_path / "tokenizer.json", {"pad_token": {"content": "<pad>"}}, 6)(["Red", "a blue picture"])
    assert made.ids.tolist() == [[1, WORDS.index("red"), 2, 0, 0], [1, 4, WORDS.index("blue"), 5, 2]]
    assert made.mask.tolist() == [[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]]
