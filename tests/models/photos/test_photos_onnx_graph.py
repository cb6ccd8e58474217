"""Graphs are what the ONNX format says, and compute what they are meant to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sightline.models.photos.networks import find_networks
from sightline.models.photos.onnx_graph import Graph, dtype_number


def run(graph: Graph, **inputs: np.ndarray) -> np.ndarray:
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession(graph.to_bytes(), providers=["CPUExecutionProvider"])
    result: np.ndarray = session.run(None, inputs)[0]
    return result


def test_a_linear_map() -> None:
    rng = np.random.default_rng(0)
    weight, bias, x = rng.normal(size=(4, 3)), rng.normal(size=4), rng.normal(size=(5, 3)).astype(np.float32)
    graph = Graph("linear")
    value = graph.add("Gemm", graph.input("x", "float32", ("n", 3)), graph.floats(weight), graph.floats(bias), transB=1)
    graph.output("y", value, ("n", 4))
    np.testing.assert_allclose(run(graph, x=x), x @ weight.T + bias, rtol=1e-5)


def test_attributes_of_every_kind() -> None:
    x = np.arange(6, dtype=np.uint8).reshape(1, 2, 3)
    graph = Graph("attributes")
    value = graph.add("Cast", graph.input("x", "uint8", (1, 2, 3)), to=dtype_number("float32"))
    value = graph.add("LeakyRelu", graph.add("Sub", value, graph.floats(3.0)), alpha=0.5)
    value = graph.add("Transpose", value, perm=(0, 2, 1))
    value = graph.add("Softmax", value, axis=-1)
    graph.output("y", value, (1, 3, 2))
    shifted = np.where(x < 3, (x.astype(np.float32) - 3) * 0.5, x.astype(np.float32) - 3).transpose(0, 2, 1)
    expected = np.exp(shifted) / np.exp(shifted).sum(-1, keepdims=True)
    np.testing.assert_allclose(run(graph, x=x), expected, rtol=1e-5)


@pytest.mark.parametrize("name", ["pictures", "texts"])
def test_the_networks_pass_the_formats_own_checker(photos: Any, name: str) -> None:
    onnx = pytest.importorskip("onnx")
    path: Path = getattr(find_networks(with_head=True), name)
    onnx.checker.check_model(str(path), full_check=True)
