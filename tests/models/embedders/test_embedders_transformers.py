"""transformers' own models, tiny and random, as embedders; and the same weights as ONNX give the same vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sightline.calls.session import Session
from sightline.errors import UserError
from sightline.models.embedders.registry import find_embedder
from sightline.models.embedders.transformers_clip import TransformersClip
from tiny_transformers import SIDE, write_model

pytestmark = pytest.mark.slow
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

TEXTS = ["red", "a picture of blue", "green " * 30]


def pictures() -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.integers(0, 256, shape, dtype=np.uint8) for shape in ((20, 30, 3), (40, 25, 3), (16, 16, 3))]


@pytest.mark.parametrize("kind", ["clip", "siglip"])
def test_pictures_and_texts(tmp_path: Path, kind: str) -> None:
    embedder = find_embedder(f"transformers:{write_model(tmp_path / kind, kind)}", device="cpu", batch=2)
    assert isinstance(embedder, TransformersClip) and embedder.name == f"transformers:{kind}"
    made, words = embedder.pictures(pictures()), embedder.texts(TEXTS)
    assert made.shape == words.shape == (3, embedder.dim) and made.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm([*made, *words], axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(embedder.pictures(pictures()[1:2])[0], made[1], atol=1e-5)
    np.testing.assert_allclose(embedder.texts(TEXTS[:1])[0], words[0], atol=1e-5)
    attempt = embedder.attempt_texts(TEXTS)
    assert attempt.cut is not None and attempt.cut.tolist() == [False, False, True]
    assert embedder.side == 2 * SIDE
    again = find_embedder(f"transformers:{tmp_path / kind}", device="cpu")
    assert again.revision == embedder.revision and "float32" in embedder.revision
    half = find_embedder(f"transformers:{tmp_path / kind}", device="cpu", dtype="bfloat16")
    assert half.revision != embedder.revision and half.pictures(pictures()).dtype == np.float32


@pytest.mark.parametrize("kind", ["clip", "siglip"])
def test_the_same_weights_as_onnx_give_the_same_vectors(tmp_path: Path, kind: str) -> None:
    pytest.importorskip("onnxscript")
    folder = write_model(tmp_path / kind, kind)
    model = transformers.AutoModel.from_pretrained(folder)
    _export(model, folder, kind)
    (folder / "words" / "tokenizer_config.json").unlink()
    reference, ours = find_embedder(f"transformers:{folder}", device="cpu"), find_embedder(f"onnx:{folder}")
    np.testing.assert_allclose(ours.pictures(pictures()), reference.pictures(pictures()), atol=2e-5)
    np.testing.assert_allclose(ours.texts(TEXTS), reference.texts(TEXTS), atol=2e-5)


def _export(model: Any, folder: Path, kind: str) -> None:
    module: Any = torch.nn.Module

    class Sees(module):  # type: ignore[misc]
        def forward(self, pixel_values: Any) -> Any:
            found = model.get_image_features(pixel_values=pixel_values)
            return getattr(found, "pooler_output", found)

    class Reads(module):  # type: ignore[misc]
        def forward(self, input_ids: Any, attention_mask: Any = None) -> Any:
            found = model.get_text_features(input_ids=input_ids, attention_mask=attention_mask)
            return getattr(found, "pooler_output", found)

    (folder / "onnx").mkdir()
    batch = torch.export.Dim("batch", min=1, max=64)
    torch.onnx.export(
        Sees().eval(),
        (torch.zeros(2, 3, SIDE, SIDE),),
        folder / "onnx" / "vision_model.onnx",
        input_names=["pixel_values"],
        output_names=["image_embeds"],
        dynamic_shapes=({0: batch},),
        dynamo=True,
        verbose=False,
    )
    ids = torch.tensor([[1, 9, 4, 2, 0, 0, 0, 0], [1, 5, 6, 7, 8, 9, 10, 2]])
    given = (ids, (ids > 0).long()) if kind == "clip" else (ids,)
    torch.onnx.export(
        Reads().eval(),
        given,
        folder / "onnx" / "text_model.onnx",
        input_names=["input_ids", "attention_mask"][: len(given)],
        output_names=["text_embeds"],
        dynamic_shapes=tuple({0: batch} for _ in given),
        dynamo=True,
        verbose=False,
    )


def test_what_can_not_be_loaded_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="can't be loaded"):
        find_embedder(f"transformers:{tmp_path}")
    with pytest.raises(UserError, match="can't be loaded"):
        find_embedder("transformers:nobody/nothing", Session(local_only=True))
    config = transformers.BertConfig(
        vocab_size=10, hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8
    )
    transformers.BertModel(config).save_pretrained(tmp_path / "bert")
    with pytest.raises(UserError, match="is a BertModel, which embeds no pictures"):
        find_embedder(f"transformers:{tmp_path / 'bert'}")
