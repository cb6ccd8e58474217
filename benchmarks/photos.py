"""Time per picture and text of the embedder `photos`, and a plain torch pipeline with the same weights beside it.

Run: python benchmarks/photos.py. All in one run on the same files; read the ratios, not the milliseconds.
The torch pipeline needs torch, efficientnet-lite-pytorch and sentence-transformers; without them only ours is timed.
"""

from __future__ import annotations

import importlib.util
import os
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
from sightline.engine import cores
from sightline.models.photos import Photos
from sightline.models.photos.packages import CLASSIFIER, ENCODER

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

    def texts(self, texts: Sequence[str]) -> Any:
        return self.encoder.encode(list(texts), batch_size=32, show_progress_bar=False)

    def _read(self, path: Path) -> Any:
        image = Image.open(path).convert("RGB")
        scale = 292 / min(image.size)
        image = image.resize((round(image.width * scale), round(image.height * scale)), Image.Resampling.BICUBIC)
        left, top = (image.width - 260) // 2, (image.height - 260) // 2
        pixels = np.asarray(image.crop((left, top, left + 260, top + 260)), np.float32)
        return self.torch.from_numpy((pixels / 255 - 0.498) / 0.502).permute(2, 0, 1)


def main() -> int:
    texts = [
        f"a brown dog number {number} runs along the beach with a red ball in its mouth" for number in range(TEXTS)
    ]
    with tempfile.TemporaryDirectory() as folder:
        paths = make_pictures(Path(folder) / "pictures", PIXELS, PICTURES)
        size = sum(path.stat().st_size for path in paths) / len(paths) / 1e6
        print(f"{PICTURES} JPEGs of 12 megapixels, {size:.1f} MB each; {TEXTS} texts of 16 words; {cores()} cores")
        one, all_cores = Photos(threads=1), Photos()
        one.texts(["warm up"])
        picture = cost_of(lambda: one.picture_files(paths), len(paths))
        text = cost_of(lambda: one.texts(texts), len(texts))
        many = cost_of(lambda: all_cores.picture_files(paths), len(paths))
        many_texts = cost_of(lambda: all_cores.texts(texts), len(texts))
        print(f"photos, one core   picture {picture}   text {text}")
        print(f"photos, all cores  picture {many}   text {many_texts}")
        right = picture.cpu <= PICTURE_LIMIT and text.cpu <= TEXT_LIMIT
        print(
            f"at most {PICTURE_LIMIT:.0f} ms of a core a picture and {TEXT_LIMIT:.0f} ms a text: "
            f"{'yes' if right else 'NO'}"
        )
        missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
        if missing:
            print(f"torch pipeline skipped: {', '.join(missing)} not installed")
            return 0 if right else 1
        torch = TorchPipeline()
        torch_picture = cost_of(lambda: torch.pictures(paths), len(paths))
        torch_text = cost_of(lambda: torch.texts(texts), len(texts))
    print(f"torch, all cores   picture {torch_picture}   text {torch_text}")
    ratios = (torch_picture.wall / many.wall, torch_text.wall / many_texts.wall)
    print(f"photos is {ratios[0]:.1f}x as fast with pictures and {ratios[1]:.1f}x with texts (wanted: {RATIO}x)")
    return 0 if right and min(ratios) >= RATIO else 1


if __name__ == "__main__":
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    sys.exit(main())
