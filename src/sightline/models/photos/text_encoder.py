"""all-MiniLM-L6-v2: as an ONNX graph, and texts through it to vectors of meaning, on all cores.

One text at a time: no padding, and a text's vector never depends on its neighbours. In float32, the table of words in
float16: eight bits would be 2.7 times as fast, but change the ranking (docs/photos.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.errors import needs_extra
from sightline.models.photos.onnx_graph import Graph, dtype_number
from sightline.models.photos.onnx_session import OnnxNetwork, on_all_cores
from sightline.models.photos.weight_files import Tensors
from sightline.models.photos.weights import EXTRA, FEATURE

WIDTH, LAYERS, HEADS = 384, 6, 12
LONGEST = 256
"""Word pieces that the model reads of a text, its two markers included."""
LINEAR_PARTS = (
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "intermediate.dense",
    "output.dense",
)
_EPSILON = 1e-12


def build_encoder(weights: Tensors) -> tuple[Graph, str]:
    """The graph, with its input `ids` (int64), and the name in it of the text's unit-length vector (1 × 384)."""
    graph = Graph("all-minilm-l6-v2")
    ids = graph.input("ids", "int64", ("length",))
    net = _Encoder(graph, weights)
    x = net.embed(ids)
    for layer in range(LAYERS):
        x = net.layer(x, f"encoder.layer.{layer}")
    mean = graph.add("ReduceMean", x, graph.integers(0), keepdims=1)
    return graph, graph.add("LpNormalization", mean, axis=-1, p=2)


class _Encoder:
    """Adds layers to the graph; all values are length × width."""

    def __init__(self, graph: Graph, weights: Tensors) -> None:
        self._graph, self._weights = graph, weights

    def embed(self, ids: str) -> str:
        graph = self._graph
        words = graph.constant(self._weights["embeddings.word_embeddings.weight"].astype(np.float16))
        x = graph.add("Cast", graph.add("Gather", words, ids), to=dtype_number("float32"))
        kind = self._weights["embeddings.token_type_embeddings.weight"][0]
        places = graph.floats(self._weights["embeddings.position_embeddings.weight"][:LONGEST] + kind)
        length = graph.add("Shape", ids)
        x = graph.add("Add", x, graph.add("Slice", places, graph.integers(0), length, graph.integers(0)))
        return self._norm(x, "embeddings.LayerNorm")

    def layer(self, x: str, name: str) -> str:
        mixed = self._linear(self._attend(x, f"{name}.attention.self"), f"{name}.attention.output.dense")
        x = self._norm(self._graph.add("Add", x, mixed), f"{name}.attention.output.LayerNorm")
        wide = self._graph.add("Gelu", self._linear(x, f"{name}.intermediate.dense"))
        return self._norm(
            self._graph.add("Add", x, self._linear(wide, f"{name}.output.dense")), f"{name}.output.LayerNorm"
        )

    def _attend(self, x: str, name: str) -> str:
        graph, size = self._graph, WIDTH // HEADS
        # Query, key and value in one product; the query carries the scale of the scores.
        shape = graph.integers(-1, 3, HEADS, size)
        parts = graph.add("Transpose", graph.add("Reshape", self._linear_three(x, name), shape), perm=(1, 2, 0, 3))
        query, key, value = (
            graph.add("Gather", parts, graph.constant(np.array(at, np.int64)), axis=0) for at in range(3)
        )
        scores = graph.add("MatMul", query, graph.add("Transpose", key, perm=(0, 2, 1)))
        mixed = graph.add("MatMul", graph.add("Softmax", scores, axis=-1), value)
        return graph.add("Reshape", graph.add("Transpose", mixed, perm=(1, 0, 2)), graph.integers(-1, WIDTH))

    def _linear_three(self, x: str, name: str) -> str:
        scale = {"query": (WIDTH // HEADS) ** -0.5, "key": 1.0, "value": 1.0}
        weight = [self._weights[f"{name}.{part}.weight"] * by for part, by in scale.items()]
        bias = [self._weights[f"{name}.{part}.bias"] * by for part, by in scale.items()]
        return self._multiply(x, np.concatenate(weight), np.concatenate(bias))

    def _linear(self, x: str, name: str) -> str:
        return self._multiply(x, self._weights[f"{name}.weight"], self._weights[f"{name}.bias"])

    def _multiply(self, x: str, weight: NDArray[Any], bias: NDArray[Any]) -> str:
        return self._graph.add("Gemm", x, self._graph.floats(weight), self._graph.floats(bias), transB=1)

    def _norm(self, x: str, name: str) -> str:
        weight, bias = (self._graph.floats(self._weights[f"{name}.{part}"]) for part in ("weight", "bias"))
        return self._graph.add("LayerNormalization", x, weight, bias, axis=-1, epsilon=_EPSILON)


@dataclass(frozen=True, slots=True)
class EncodedTexts:
    """A row for each text: its meaning by MiniLM, its place in the trained space if there is one, was it cut?"""

    words: NDArray[np.float32]
    head: NDArray[np.float32] | None
    cut: NDArray[np.bool_]


class TextEncoder:
    """MiniLM with its tokenizer."""

    def __init__(self, tokenizer: Path, network: Path, threads: int | None = None) -> None:
        with needs_extra(FEATURE, EXTRA):
            from tokenizers import Tokenizer
        self._tokenizer = Tokenizer.from_file(str(tokenizer))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(LONGEST)
        self._network = OnnxNetwork(network)
        self._threads = threads

    def __call__(self, texts: Sequence[str]) -> EncodedTexts:
        pieces = self._tokenizer.encode_batch([text.strip() for text in texts])
        found = on_all_cores(self._run, pieces, self._threads)
        cut = np.array([bool(piece.overflowing) for piece in pieces], dtype=bool)
        if not found:
            return EncodedTexts(np.zeros((0, WIDTH), np.float32), None, cut)
        words = np.concatenate([outputs["words"] for outputs in found])
        head = np.concatenate([outputs["head"] for outputs in found]) if "head" in found[0] else None
        return EncodedTexts(words, head, cut)

    def _run(self, pieces: Any) -> dict[str, NDArray[np.float32]]:
        return self._network(np.array(pieces.ids, np.int64))
