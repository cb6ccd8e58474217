"""Pictures per second through CLIP ViT-B/32 on a GPU: `sightline.embed` beside a plain torch DataLoader.

Run: python benchmarks/embed_gpu.py [--small N] [--large N]   (needs torch, torchvision, transformers and an NVIDIA GPU;
without one, `--small 40 --large 0 --device cpu` tries the script). Weights are random, in half precision: the cost is
that of the trained model. Pictures are drawn (noise of several octaves), JPEGs of 500 × 375 and of 12 megapixels, each
with a comment of its own, so that no two files are the same. The files were just written, so they are in memory.
Figures are absolute, of one machine. The last part compares the vectors of both ways.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from PIL import Image
from torch.utils.data import DataLoader, Dataset

import sightline
from sightline.models.embedders.gpu_preprocessor import nvjpeg
from sightline.models.embedders.transformers_clip import TransformersClip, TransformersOptions

SIDE = 224
KINDS = 64
"""Drawn pictures; the others differ from them in a comment."""


def draw(rng: np.random.Generator, height: int, width: int) -> bytes:
    """Noise of several octaves and a few shapes, about as large as a photograph of that size."""
    pixels = np.zeros((height, width, 3), dtype=np.float32)
    for octave in range(2, 9):
        small = rng.normal(size=(min(height, 2**octave), min(width, 2**octave), 3)).astype(np.float32)
        scaled = [
            Image.fromarray(small[..., channel]).resize((width, height), Image.Resampling.BICUBIC)
            for channel in range(3)
        ]
        pixels += np.stack([np.asarray(channel) for channel in scaled], axis=-1) / octave
    for _ in range(6):
        top, left = rng.integers(0, height), rng.integers(0, width)
        pixels[top : top + height // 4, left : left + width // 4] += rng.normal(size=3).astype(np.float32)
    file = io.BytesIO()
    Image.fromarray((128 + 50 * pixels).clip(0, 255).astype(np.uint8)).save(file, "JPEG", quality=92)
    return file.getvalue()


def write_pictures(folder: Path, count: int, height: int, width: int) -> None:
    folder.mkdir()
    rng = np.random.default_rng(height)
    drawn = [draw(rng, height, width) for _ in range(min(count, KINDS))]
    for at in range(count):
        data, comment = drawn[at % len(drawn)], f"{at:08}".encode()
        (folder / f"{at:08}.jpg").write_bytes(data[:2] + b"\xff\xfe\x00\x0a" + comment + data[2:])


def write_model(folder: Path) -> Path:
    """CLIP ViT-B/32, as its configuration says without arguments, and its picture processor."""
    torch.manual_seed(0)
    model = transformers.CLIPModel(transformers.CLIPConfig()).half()
    model.save_pretrained(folder)
    transformers.CLIPImageProcessor().save_pretrained(folder)
    return folder


class Files(Dataset[torch.Tensor]):  # type: ignore[misc]
    """What a person writes: Pillow, scaled while decoding, resized and cropped."""

    def __init__(self, folder: Path) -> None:
        self.paths = sorted(folder.iterdir())
        self.mean, self.std = (np.array(t, np.float32) for t in ([0.481, 0.458, 0.408], [0.269, 0.261, 0.276]))

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, at: int) -> torch.Tensor:
        image = Image.open(self.paths[at])
        image.draft("RGB", (2 * SIDE, 2 * SIDE))
        rgb = image.convert("RGB")
        scale = SIDE / min(rgb.size)
        size = max(SIDE, round(rgb.width * scale)), max(SIDE, round(rgb.height * scale))
        rgb = rgb.resize(size, Image.Resampling.BICUBIC)
        left, top = (rgb.width - SIDE) // 2, (rgb.height - SIDE) // 2
        pixels = np.asarray(rgb.crop((left, top, left + SIDE, top + SIDE)), np.float32) / 255
        return torch.from_numpy((pixels - self.mean) / self.std).permute(2, 0, 1)


def plain(folder: Path, model: Any, device: str) -> int:
    loader = DataLoader(Files(folder), 256, num_workers=os.cpu_count() or 1, pin_memory=device != "cpu")
    done = 0
    with torch.inference_mode():
        for batch in loader:
            inputs = batch.to(device, dtype=model.dtype, non_blocking=True)
            done += len(features(model, inputs))
    return done


def features(model: Any, inputs: torch.Tensor) -> np.ndarray:
    found = model.get_image_features(pixel_values=inputs)
    vectors: np.ndarray = getattr(found, "pooler_output", found).float().cpu().numpy()
    return vectors


def decode_alone(folder: Path, device: str) -> int:
    decode = nvjpeg(device)
    assert decode is not None
    files = [bytearray(path.read_bytes()) for path in sorted(folder.iterdir())[:512]]
    step = 256 if len(files[0]) < 1 << 20 else 16
    for _ in range(4):
        for start in range(0, len(files), step):
            decode(files[start : start + step])
    torch.cuda.synchronize()
    return 4 * len(files)


def network_alone(model: Any, device: str) -> int:
    inputs = torch.randn(256, 3, SIDE, SIDE, device=device, dtype=model.dtype)
    with torch.inference_mode():
        for _ in range(40):
            features(model, inputs)
    return 40 * 256


def rate(work: Callable[[], int]) -> float:
    started = time.perf_counter()
    done = work()
    return done / (time.perf_counter() - started)


def embed(folder: Path, embedder: TransformersClip, rounds: list[int]) -> int:
    """With a new workspace each time, so that nothing is known."""
    rounds.append(len(rounds))
    made = sightline.embed(folder, embedder=embedder, workspace=folder.parent / f"ws-{folder.name}-{len(rounds)}")
    assert made.from_cache == 0
    return made.count


def compare(folder: Path, embedder: TransformersClip, reference: TransformersClip) -> dict[str, float]:
    """Cosines between the vectors of both ways, and how many of the ten nearest pictures are the same."""
    found = sightline.embed(folder, embedder=embedder, workspace=folder.parent / f"{folder.name}-gpu").vectors
    expected = sightline.embed(folder, embedder=reference, workspace=folder.parent / f"{folder.name}-plain").vectors
    cosines = (found * expected).sum(axis=1)
    nearest = [np.argsort(-(vectors @ expected.T), axis=1, kind="stable")[:, :10] for vectors in (found, expected)]
    same = [len(set(a) & set(b)) / 10 for a, b in zip(*nearest, strict=True)]
    low, middle = np.quantile(cosines, [0.01, 0.5])
    return {
        "pictures": len(cosines),
        "cosine, least": float(cosines.min()),
        "cosine, 1 %": float(low),
        "cosine, median": float(middle),
        "first is itself": float(np.mean(nearest[0][:, 0] == nearest[1][:, 0])),
        "same of the 10 nearest": float(np.mean(same)),
    }


class Plain(TransformersClip):
    """The same model, with its own code for pictures."""

    _gpu = None


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--small", type=int, default=20_000)
    parser.add_argument("--large", type=int, default=1_000)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--photographs", type=Path, help="a folder of photographs, whose vectors are compared")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as made:
        place = Path(made)
        folder, options = write_model(place / "clip"), TransformersOptions(device=wanted.device)
        embedder, reference = TransformersClip(str(folder), options=options), Plain(str(folder), options=options)
        model = reference._loaded
        for name, count, height, width in (("small", wanted.small, 375, 500), ("large", wanted.large, 3000, 4000)):
            if not count:
                continue
            pictures = place / name
            write_pictures(pictures, count, height, width)
            rounds: list[int] = []
            cases: dict[str, Callable[[], int]] = {
                "sightline.embed": lambda here=pictures, past=rounds: embed(here, embedder, past),  # type: ignore[misc]
                "plain DataLoader": lambda here=pictures: plain(here, model, wanted.device),  # type: ignore[misc]
            }
            if wanted.device != "cpu":
                cases["nvJPEG alone"] = lambda here=pictures: decode_alone(here, wanted.device)  # type: ignore[misc]
                cases["network alone"] = lambda: network_alone(model, wanted.device)
            for turn in range(3):
                for case, work in cases.items():
                    speed = rate(work)
                    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
                    print(f"{name} {turn} {case:18} {speed:10,.0f} pictures/s   peak memory {peak:.1f} GB", flush=True)
            sample = place / f"{name}-sample"
            sample.mkdir()
            for path in sorted(pictures.iterdir())[:KINDS]:
                path.rename(sample / path.name)
            print(name, json.dumps(compare(sample, embedder, reference)), flush=True)
            for path in pictures.iterdir():
                path.unlink()
        if wanted.photographs:
            found = compare_photographs(wanted.photographs, place, embedder, reference)
            print("photographs", json.dumps(found), flush=True)


def compare_photographs(
    folder: Path, place: Path, embedder: TransformersClip, reference: TransformersClip
) -> dict[str, float]:
    linked = place / "photographs"
    linked.symlink_to(folder.resolve())
    return compare(linked, embedder, reference)


if __name__ == "__main__":
    main()
