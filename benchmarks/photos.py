"""Time per picture and text of the embedder `photos`, and a plain torch pipeline with the same weights beside it.

Run: python benchmarks/photos.py. All in one run on the same files; read the ratios, not the milliseconds.
The torch pipeline needs torch, efficientnet-lite-pytorch and sentence-transformers; without them only ours is timed.
"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from scan import make_pictures
from sightline.corpus.pixels import MAX_PIXELS
from sightline.engine.worker_pool import cores
from sightline.models.embedders.pixels import load_pixels
from sightline.models.photos.embedder import Photos
from sightline.models.photos.onnx_session import on_all_cores
from sightline.models.photos.weights import CLASSIFIER, ENCODER
from sightline.models.protocols import Pixels

PICTURES, TEXTS, ROUNDS = 12, 200, 3
PIXELS = (4000, 3000)
PICTURE_LIMIT, TEXT_LIMIT, RATIO = 90.0, 20.0, 1.5
NEEDED = ("torch", "efficientnet_lite_pytorch", "sentence_transformers")


@dataclass(frozen=True)
class Cost:
    """Milliseconds for one input: of the clock, and of all cores together."""

    wall: float
    cpu: float

    def __str__(self) -> str:
        return f"{self.wall:7.1f} ms {self.cpu:7.1f} ms of a core"


def cost_of(work: Callable[[], object], inputs: int) -> Cost:
    """The best of a few rounds: others use this machine too."""
    work()
    rounds = []
    for _ in range(ROUNDS):
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        rounds.append((time.perf_counter() - wall, time.process_time() - cpu))
    return Cost(*(1000 * min(values) / inputs for values in zip(*rounds, strict=True)))


class TorchPipeline:
    """What a straightforward script does: Pillow, the classifier's own package, sentence-transformers."""

    def __init__(self) -> None:
        import torch
        from efficientnet_lite_pytorch import EfficientNet
        from sentence_transformers import SentenceTransformer

        self.torch = torch
        self.classifier = EfficientNet.from_pretrained("efficientnet-lite2", weights_path=str(CLASSIFIER.find())).eval()
        self.encoder = SentenceTransformer(str(ENCODER.find().parent), device="cpu")

    def pictures(self, paths: Sequence[Path]) -> Any:
        with self.torch.inference_mode():
            batch = self.torch.stack([self._read(path) for path in paths])
            return self.classifier.extract_features(batch).mean((2, 3))

    def texts(self, texts: Sequence[str], batch: int) -> Any:
        return self.encoder.encode(list(texts), batch_size=batch, show_progress_bar=False)

    def _read(self, path: Path) -> Any:
        image = Image.open(path).convert("RGB")
        scale = 292 / min(image.size)
        image = image.resize((round(image.width * scale), round(image.height * scale)), Image.Resampling.BICUBIC)
        left, top = (image.width - 260) // 2, (image.height - 260) // 2
        pixels = np.asarray(image.crop((left, top, left + 260, top + 260)), np.float32)
        return self.torch.from_numpy((pixels / 255 - 0.498) / 0.502).permute(2, 0, 1)


def _read(paths: Sequence[Path], threads: int | None = None) -> list[Pixels]:
    return on_all_cores(lambda path: load_pixels(path.read_bytes(), Photos.side, MAX_PIXELS), paths, threads)


def time_ours(paths: Sequence[Path], texts: Sequence[str]) -> dict[str, Cost]:
    one, all_cores = Photos(threads=1), Photos()
    one.texts(["the networks are made before the clock runs"])
    return {
        "picture, one core": cost_of(lambda: one.pictures(_read(paths, 1)), len(paths)),
        "picture, all cores": cost_of(lambda: all_cores.pictures(_read(paths)), len(paths)),
        "text, one core": cost_of(lambda: one.texts(texts), len(texts)),
        "text, all cores": cost_of(lambda: all_cores.texts(texts), len(texts)),
    }


def time_torch(paths: Sequence[Path], texts: Sequence[str]) -> dict[str, Cost]:
    plain = TorchPipeline()
    return {
        "picture, all cores": cost_of(lambda: plain.pictures(paths), len(paths)),
        "text, one by one": cost_of(lambda: plain.texts(texts, 1), len(texts)),
        "text, 32 at a time": cost_of(lambda: plain.texts(texts, 32), len(texts)),
    }


def show(who: str, costs: dict[str, Cost]) -> None:
    for what, cost in costs.items():
        print(f"{who:8} {what:20} {cost}")


def main() -> int:
    texts = [f"a brown dog number {n} runs along the beach with a red ball in its mouth" for n in range(TEXTS)]
    with tempfile.TemporaryDirectory() as folder:
        paths = make_pictures(Path(folder) / "pictures", PIXELS, PICTURES)
        size = sum(path.stat().st_size for path in paths) / len(paths) / 1e6
        print(f"{PICTURES} JPEGs of 12 megapixels, {size:.1f} MB each; {TEXTS} texts of 16 words; {cores()} cores")
        ours = time_ours(paths, texts)
        show("photos", ours)
        picture, text = ours["picture, one core"].cpu, ours["text, one core"].cpu
        good = picture <= PICTURE_LIMIT and text <= TEXT_LIMIT
        print(f"of one core: {picture:.0f} ms a picture (at most {PICTURE_LIMIT:.0f})", end=", ")
        print(f"{text:.1f} ms a text (at most {TEXT_LIMIT:.0f})")
        missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
        if missing:
            print(f"torch pipeline skipped: {', '.join(missing)} not installed")
            return 0 if good else 1
        plain = time_torch(paths, texts)
    show("torch", plain)
    # Ratios of work, not of the clock: the cores are shared with others.
    faster = plain["picture, all cores"].cpu / ours["picture, all cores"].cpu
    print(f"pictures: {faster:.1f} times as fast as the torch pipeline (at least {RATIO})")
    for what in ("text, one by one", "text, 32 at a time"):
        print(f"{what}: {plain[what].cpu / ours['text, all cores'].cpu:.1f} times as fast")
    return 0 if good and faster >= RATIO else 1


if __name__ == "__main__":
    sys.exit(main())
