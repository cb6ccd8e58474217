"""EfficientNet-Lite2 as an ONNX graph: a square of pixels to 1,280 pooled features and 1,000 class scores.

The square is the middle of the picture, upright, 260 × 260 pixels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sightline.errors import UserError
from sightline.models.photos.onnx_graph import Graph, dtype_number
from sightline.models.photos.weight_files import Tensors
from sightline.models.protocols import Pixels

SIDE = 260
POOLED, CLASSES = 1280, 1000
_MEAN, _SPREAD = 0.498, 0.502
"""Of pixels between 0 and 1, as the network was trained."""
_STAGES = ((1, 1), (3, 2), (3, 2), (4, 2), (4, 1), (5, 2), (1, 1))
"""Blocks of each stage, and the stride of the first of them; the weights say the rest."""
_EPSILON = 1e-3
SHORTER = 292
"""The shorter side is brought to this length; the middle 260 of it are looked at."""
_LONGEST = 4
_GAP = 3.0
"""A picture more than this many times as large is first averaged over whole pixels; the eye sees no difference."""


def build_classifier(weights: Tensors) -> Graph:
    """Input `pixels` (n × 260 × 260 × 3, uint8); outputs `pooled` and `logits`."""
    graph = Graph("efficientnet-lite2")
    pixels = graph.input("pixels", "uint8", ("n", SIDE, SIDE, 3))
    net = _Network(graph, weights)
    x = graph.add("Cast", pixels, to=dtype_number("float32"))
    x = graph.add("Transpose", x, perm=(0, 3, 1, 2))
    x = graph.add("Mul", x, graph.floats(1 / (255 * _SPREAD)))
    x = graph.add("Sub", x, graph.floats(_MEAN / _SPREAD))
    x = net.clip(net.convolve(x, "_conv_stem", "_bn0", SIDE, 2))
    x = net.blocks(x, (SIDE + 1) // 2)
    x = net.clip(net.convolve(x, "_conv_head", "_bn1", 1, 1))
    pooled = graph.add("Flatten", graph.add("GlobalAveragePool", x), axis=1)
    weight, bias = graph.floats(weights["_fc.weight"]), graph.floats(weights["_fc.bias"])
    graph.output("pooled", pooled, ("n", POOLED))
    graph.output("logits", graph.add("Gemm", pooled, weight, bias, transB=1), ("n", CLASSES))
    return graph


class _Network:
    """Adds layers to the graph."""

    def __init__(self, graph: Graph, weights: Tensors) -> None:
        self._graph, self._weights = graph, weights
        self._zero, self._six = graph.floats(0.0), graph.floats(6.0)

    def blocks(self, x: str, side: int) -> str:
        strides = [stride if first else 1 for repeats, stride in _STAGES for first in _firsts(repeats)]
        for number, stride in enumerate(strides):
            x = self._block(x, f"_blocks.{number}", side, stride)
            side = -(-side // stride)
        return x

    def _block(self, x: str, name: str, side: int, stride: int) -> str:
        """Widen, convolve each channel by itself, narrow; with a way round where the shape stays the same."""
        before, width = x, self._weights[f"{name}._depthwise_conv.weight"].shape[0]
        if f"{name}._expand_conv.weight" in self._weights:
            width = self._weights[f"{name}._expand_conv.weight"].shape[1]
            x = self.clip(self.convolve(x, f"{name}._expand_conv", f"{name}._bn0", side, 1))
        x = self.clip(self.convolve(x, f"{name}._depthwise_conv", f"{name}._bn1", side, stride))
        x = self.convolve(x, f"{name}._project_conv", f"{name}._bn2", side, 1)
        same = stride == 1 and self._weights[f"{name}._project_conv.weight"].shape[0] == width
        return self._graph.add("Add", x, before) if same else x

    def convolve(self, x: str, convolution: str, norm: str, side: int, stride: int) -> str:
        """A convolution with its batch norm folded in; padded as TensorFlow does, more at the end than the start."""
        weight, bias = _folded(self._weights, convolution, norm)
        kernel = weight.shape[-1]
        padding = max((-(-side // stride) - 1) * stride + kernel - side, 0)
        start, end = padding // 2, padding - padding // 2
        inputs = x, self._graph.floats(weight), self._graph.floats(bias)
        groups = weight.shape[0] if "depthwise" in convolution else 1
        return self._graph.add(
            "Conv",
            *inputs,
            kernel_shape=(kernel,) * 2,
            strides=(stride,) * 2,
            pads=(start, start, end, end),
            group=groups,
        )

    def clip(self, x: str) -> str:
        """ReLU6."""
        return self._graph.add("Clip", x, self._zero, self._six)


def _firsts(repeats: int) -> Sequence[bool]:
    return [True] + [False] * (repeats - 1)


def _folded(weights: Tensors, convolution: str, norm: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """A convolution and the batch norm after it as one convolution with a bias; worked out in float64, once."""
    part = {
        key: weights[f"{norm}.{key}"].astype(np.float64) for key in ("weight", "bias", "running_mean", "running_var")
    }
    scale = part["weight"] / np.sqrt(part["running_var"] + _EPSILON)
    return weights[f"{convolution}.weight"] * scale[:, None, None, None], part["bias"] - part["running_mean"] * scale


def square_of(pixels: Pixels) -> Pixels:
    """The square of an array of height × width × 3; anything else is a `UserError`."""
    array = np.asarray(pixels)
    if array.ndim != 3 or array.shape[2] != 3 or array.dtype != np.uint8:
        shape = " × ".join(map(str, array.shape)) or "a single value"
        raise UserError(
            f"a picture is {shape} of {array.dtype}; height × width × 3 of uint8 is needed.",
            'grey, transparent or deeper pictures: Image.convert("RGB") first',
        )
    if array.size == 0:
        raise UserError(f"a picture has no pixels ({array.shape[0]} × {array.shape[1]}).", "leave it out")
    return _middle(Image.fromarray(np.ascontiguousarray(array)))


def _middle(image: Image.Image) -> Pixels:
    """Resized, then cropped, exactly as the pictures that the head was trained on."""
    image = _trimmed(image)
    scale = SHORTER / min(image.size)
    size = (round(image.width * scale), round(image.height * scale))
    small = image.resize(size, Image.Resampling.BICUBIC, reducing_gap=_GAP)
    left, top = (small.width - SIDE) // 2, (small.height - SIDE) // 2
    return np.asarray(small.crop((left, top, left + SIDE, top + SIDE)))


def _trimmed(image: Image.Image) -> Image.Image:
    """The middle of a very long picture: of 30,000 × 10 pixels, the whole would take gigabytes to resize."""
    longest = _LONGEST * min(image.size)
    if max(image.size) <= longest:
        return image
    width, height = min(image.width, longest), min(image.height, longest)
    left, top = (image.width - width) // 2, (image.height - height) // 2
    return image.crop((left, top, left + width, top + height))
