"""Flickr8k's stored features as the vectors that the embedder makes of the pictures themselves."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sightline.models.photos.classifier import CLASSES, POOLED
from sightline.models.photos.joint_vectors import Joiner
from sightline.models.photos.networks import Head, find_networks
from sightline.models.photos.onnx_graph import Graph
from sightline.models.photos.onnx_session import OnnxNetwork

IMPOSSIBLE = -1e4
"""The score of a class that is not among the 32 likeliest, which are all that is stored."""


@dataclass(frozen=True)
class Split:
    """Pictures of one split: their vectors, class scores and captions, five to a picture."""

    files: list[str]
    vectors: NDArray[np.float32]
    logits: NDArray[np.float32]
    captions: list[list[str]]


def read_split(data: Path, split: str) -> Split:
    """The vectors of the default embedder, from features instead of pixels."""
    stored = np.load(data / f"{split}.npz")
    lines = (data / f"{split}-captions.jsonl").read_text("utf-8").splitlines()
    logits = np.full((len(stored["files"]), CLASSES), IMPOSSIBLE, np.float32)
    classes, scores = stored["efficientnet_lite2_top32_class"], stored["efficientnet_lite2_top32_logit"]
    np.put_along_axis(logits, classes.astype(np.int64), scores.astype(np.float32), axis=1)
    head = _head_network()(stored["efficientnet_lite2_pooled"].astype(np.float32))["head"]
    joiner = Joiner(np.load(find_networks(with_head=True).classes))
    captions = [json.loads(line)["captions"] for line in lines]
    return Split(stored["files"].tolist(), joiner.pictures(logits, head), logits, captions)


def _head_network() -> OnnxNetwork:
    trained, graph = Head.read(), Graph("head")
    pooled = graph.input("pooled", "float32", ("n", POOLED))
    graph.output("head", trained.add_to_pictures(graph, pooled), ("n", trained.dim))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "head.onnx"
        path.write_bytes(graph.to_bytes())
        return OnnxNetwork(path)
