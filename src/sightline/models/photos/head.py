"""The trained part: corrections to MiniLM's layers, and the maps of pictures and texts into one space."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.models.photos.encoder import LAYERS, LINEAR_PARTS, WIDTH
from sightline.models.photos.onnx_graph import Graph
from sightline.models.photos.tensors import Tensors

FILE = Path(__file__).with_name("head.npz")
"""Eight bits a weight with a scale for each row; made by training/photos/train.py."""


@dataclass(frozen=True)
class Head:
    """Several small networks over the same features; their similarities are averaged."""

    arrays: Tensors

    @classmethod
    def read(cls, path: Path = FILE) -> Head:
        with np.load(path, allow_pickle=False) as file:
            return cls({name: file[name] for name in file.files})

    @cached_property
    def members(self) -> int:
        return sum(name.startswith("text_heads.") and name.endswith(".bias") for name in self.arrays)

    @cached_property
    def dim(self) -> int:
        """Length of the joined vector."""
        return self.members * len(self.arrays["text_heads.0.bias"])

    def corrected(self, encoder: Tensors) -> Tensors:
        """MiniLM's weights with the low-rank corrections added."""
        changed = dict(encoder)
        for name in (f"encoder.layer.{layer}.{part}" for layer in range(LAYERS) for part in LINEAR_PARTS):
            key = f"text.linears.{name.replace('.', '_')}"
            changed[f"{name}.weight"] = encoder[f"{name}.weight"] + self._get(f"{key}.up") @ self._get(f"{key}.down")
        return changed

    def add_to_pictures(self, graph: Graph, pooled: str) -> str:
        """Pooled features → the space; the name of the result."""
        parts = []
        for member in range(self.members):
            name = f"picture_heads.{member}"
            # Features are brought to mean 0 and spread 1 by the first layer itself.
            into = self._get(f"{name}.into.weight") / self.arrays["sd"]
            bias = self.arrays[f"{name}.into.bias"] - into @ self.arrays["mean"]
            hidden = graph.add("Gelu", _linear(graph, pooled, into, bias))
            parts.append(_linear(graph, hidden, self._get(f"{name}.out.weight"), self.arrays[f"{name}.out.bias"]))
        return self._joined(graph, parts)

    def add_to_texts(self, graph: Graph, words: str) -> str:
        """A text's unit-length vector → the space; the name of the result."""
        names = [f"text_heads.{member}" for member in range(self.members)]
        return self._joined(
            graph,
            [
                _linear(graph, words, self._get(f"{name}.weight") * np.sqrt(WIDTH), self.arrays[f"{name}.bias"])
                for name in names
            ],
        )

    def _joined(self, graph: Graph, parts: list[str]) -> str:
        """Unit-length parts beside each other, as one of unit length: its products are the mean of theirs."""
        parts = [graph.add("LpNormalization", part, axis=-1, p=2) for part in parts]
        return graph.add("Mul", graph.add("Concat", *parts, axis=-1), graph.floats(self.members**-0.5))

    def _get(self, name: str) -> NDArray[Any]:
        weights: NDArray[Any] = self.arrays[name] * self.arrays[f"{name}.scale"]
        return weights


def _linear(graph: Graph, x: str, weight: NDArray[Any], bias: NDArray[Any]) -> str:
    return graph.add("Gemm", x, graph.floats(weight), graph.floats(bias), transB=1)
