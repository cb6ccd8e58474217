"""`sightline embed pictures` on a CPU, beside a bare onnxruntime loop: python benchmarks/embed_cpu.py FOLDER.

The bare loop decodes each picture of the folder as `photos` wants it (scaled while decoding), and runs the same network
on it, one thread. CPU of all processes, the start of workers included; in turns, medians of three.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path

import sightline
from scan import cpu_of
from sightline.corpus.pixels import MAX_PIXELS
from sightline.models.embedders.pixels import load_pixels
from sightline.models.photos.classifier import square_of
from sightline.models.photos.embedder import Photos
from sightline.models.photos.networks import find_networks
from sightline.models.photos.onnx_session import OnnxNetwork


def bare(paths: list[Path]) -> None:
    network = OnnxNetwork(find_networks(with_head=True).pictures)
    for path in paths:
        network(square_of(load_pixels(path.read_bytes(), Photos.side, MAX_PIXELS))[None])


def ours(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as workspace:
        sightline.embed(folder, embedder="photos", workspace=workspace)


def main(folder: Path) -> None:
    paths = sorted(path for path in folder.rglob("*.jpg"))
    times: dict[str, list[float]] = {"bare onnxruntime loop": [], "sightline embed": []}
    for _ in range(3):
        times["bare onnxruntime loop"].append(cpu_of(lambda: bare(paths)))
        times["sightline embed"].append(cpu_of(lambda: ours(folder)))
    medians = {name: statistics.median(values) for name, values in times.items()}
    for name, seconds in medians.items():
        each = seconds / len(paths) * 1000
        print(f"{name:<24} {each:.1f} ms of CPU a picture, {seconds / medians['bare onnxruntime loop']:.2f} ×")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
