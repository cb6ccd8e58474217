"""Tiny models of CLIP's form that really embed: a picture by its mean colour, a text by the colours it names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

COLOURS = {
    "black": (0, 0, 0),
    "white": (255, 255, 255),
    "red": (230, 20, 20),
    "green": (20, 200, 30),
    "blue": (30, 30, 220),
    "yellow": (240, 230, 20),
}
MEAN, STD = (0.48, 0.46, 0.41), (0.27, 0.26, 0.28)
DIM = 8
WORDS = ["<pad>", "<bos>", "<eos>", "<unk>", "a", "picture", "of", *COLOURS]
LIMIT = 8
"""Tokens of the longest text, with one before it and one after it."""


def write_tiny_clip(
    folder: Path,
    *,
    side: int = 16,
    half: bool = False,
    mask: bool = True,
    fixed_length: bool = False,
    fixed_batch: int | None = None,
    towers: tuple[str, ...] = ("vision", "text"),
    suffix: str = "",
) -> Path:
    """A folder laid out as transformers.js does it; the options change what the graphs look like, not what they do."""
    (folder / "onnx").mkdir(parents=True, exist_ok=True)
    weights = np.random.default_rng(0).standard_normal((3, DIM)).astype(np.float32)
    if "vision" in towers:
        _write_vision(folder / "onnx" / f"vision_model{suffix}.onnx", weights, side, half, fixed_batch)
    if "text" in towers:
        _write_text(folder / "onnx" / f"text_model{suffix}.onnx", weights, mask, fixed_length)
        _write_tokenizer(folder / "tokenizer.json")
    settings: dict[str, Any] = {
        "preprocessor_config.json": {
            "do_resize": True,
            "size": {"shortest_edge": side},
            "do_center_crop": True,
            "crop_size": {"height": side, "width": side},
            "resample": 3,
            "do_rescale": True,
            "rescale_factor": 1 / 255,
            "do_normalize": True,
            "image_mean": list(MEAN),
            "image_std": list(STD),
        },
        "tokenizer_config.json": {"model_max_length": LIMIT, "pad_token": "<pad>"},
        "config.json": {"model_type": "clip", "projection_dim": DIM},
    }
    for name, value in settings.items():
        (folder / name).write_text(json.dumps(value), "utf-8")
    return folder


def write_colours(folder: Path, size: tuple[int, int] = (40, 30)) -> Path:
    """One plain picture for each colour, named after it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, colour in COLOURS.items():
        Image.new("RGB", size, colour).save(folder / f"{name}.png")
    return folder


def expected_picture(pixels: np.ndarray) -> np.ndarray:
    """What the picture tower gives for a picture of one colour."""
    weights = np.random.default_rng(0).standard_normal((3, DIM)).astype(np.float32)
    raw = ((pixels.reshape(-1, 3).mean(axis=0) / 255 - np.array(MEAN)) / np.array(STD)) @ weights
    return np.asarray(raw / np.linalg.norm(raw))


def _write_vision(path: Path, weights: np.ndarray, side: int, half: bool, fixed_batch: int | None) -> None:
    from onnx import TensorProto, helper, numpy_helper

    kind = TensorProto.FLOAT16 if half else TensorProto.FLOAT
    typed = weights.astype(np.float16 if half else np.float32)
    batch = fixed_batch or "batch"
    graph = helper.make_graph(
        [
            helper.make_node("ReduceMean", ["pixel_values", "axes"], ["colour"], keepdims=0),
            helper.make_node("MatMul", ["colour", "weights"], ["image_embeds"]),
            helper.make_node("Identity", ["pixel_values"], ["last_hidden_state"]),
        ],
        "vision",
        [helper.make_tensor_value_info("pixel_values", kind, [batch, 3, side, side])],
        [
            helper.make_tensor_value_info("last_hidden_state", kind, [batch, 3, side, side]),
            helper.make_tensor_value_info("image_embeds", kind, [batch, DIM]),
        ],
        [numpy_helper.from_array(typed, "weights"), numpy_helper.from_array(np.array([2, 3]), "axes")],
    )
    _save(graph, path)


def _write_text(path: Path, weights: np.ndarray, mask: bool, fixed_length: bool) -> None:
    from onnx import TensorProto, helper, numpy_helper

    table = np.zeros((len(WORDS), 3), dtype=np.float32)
    for name, colour in COLOURS.items():
        table[WORDS.index(name)] = (np.array(colour) / 255 - np.array(MEAN)) / np.array(STD)
    length = LIMIT if fixed_length else "length"
    inputs = [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", length])]
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["words"])]
    if mask:
        inputs.append(helper.make_tensor_value_info("attention_mask", TensorProto.INT64, ["batch", length]))
        nodes += [
            helper.make_node("Cast", ["attention_mask"], ["seen"], to=TensorProto.FLOAT),
            helper.make_node("Unsqueeze", ["seen", "last"], ["wide"]),
            helper.make_node("Mul", ["words", "wide"], ["heard"]),
        ]
    nodes += [
        helper.make_node("ReduceSum", ["heard" if mask else "words", "axes"], ["sum"], keepdims=0),
        helper.make_node("MatMul", ["sum", "weights"], ["pooler_output"]),
    ]
    graph = helper.make_graph(
        nodes,
        "text",
        inputs,
        [helper.make_tensor_value_info("pooler_output", TensorProto.FLOAT, ["batch", DIM])],
        [
            numpy_helper.from_array(table, "table"),
            numpy_helper.from_array(weights, "weights"),
            numpy_helper.from_array(np.array([1]), "axes"),
            numpy_helper.from_array(np.array([-1]), "last"),
        ],
    )
    _save(graph, path)


def _save(graph: Any, path: Path) -> None:
    import onnx
    from onnx import helper

    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    onnx.checker.check_model(model)
    onnx.save(model, path)


def _write_tokenizer(path: Path) -> None:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    tokenizer = Tokenizer(models.WordLevel({word: at for at, word in enumerate(WORDS)}, unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<bos> $A <eos>", special_tokens=[("<bos>", 1), ("<eos>", 2)]
    )
    tokenizer.save(str(path))
