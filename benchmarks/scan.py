"""Pictures per second and core: Sightline's scan, the fastest bare decode (the limit), and a plain Pillow loop.

Run: python benchmarks/scan.py. All in one run on the same files; read the ratios, not the seconds. Large folders:
scale.py.
"""

from __future__ import annotations

import argparse
import hashlib
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image

from sightline.corpus.near_duplicates import perceptual_hash
from sightline.pictures import scan

SIZES = {"12 MP": ((4000, 3000), 40), "0.5 MP": ((816, 612), 2000)}


def make_pictures(folder: Path, size: tuple[int, int], count: int) -> list[Path]:
    """Photograph-like JPEGs: smooth shapes, texture and noise, with EXIF."""
    rng = np.random.default_rng(0)
    folder.mkdir(parents=True)
    paths = []
    for number in range(count):
        coarse = rng.integers(0, 256, (12, 16, 3), dtype=np.uint8)
        smooth = Image.fromarray(coarse).resize(size, Image.Resampling.BICUBIC)
        texture = rng.integers(-14, 15, (size[1] // 2, size[0] // 2, 1), dtype=np.int16).repeat(2, 0).repeat(2, 1)
        image = Image.fromarray((np.asarray(smooth, np.int16) + texture).clip(0, 255).astype(np.uint8))
        exif = Image.Exif()
        exif[271], exif[272] = "Maker", "Model 1"
        exif.get_ifd(34665)[36867] = f"2024:05:{number % 28 + 1:02d} 10:{number % 60:02d}:00"
        exif.get_ifd(34853).update({1: "N", 2: (48.0, 51.0, 24.0), 3: "E", 4: (2.0, 21.0, 3.0)})
        paths.append(folder / f"{number:05d}.jpg")
        image.save(paths[-1], quality=88, exif=exif)
    return paths


def plain(path: Path) -> None:
    """What a straightforward script does: hash, full decode for the perceptual hash, EXIF."""
    data = path.read_bytes()
    hashlib.sha256(data).hexdigest()
    with Image.open(path) as image:
        exif = image.getexif()
        exif.get_ifd(34665)
        exif.get_ifd(34853)
        small = image.convert("RGB").resize((32, 32), Image.Resampling.BOX)
    perceptual_hash(np.asarray(small))


def draft(path: Path) -> None:
    with Image.open(path) as image:
        image.draft(None, (64, 64))
        image.load()


def decoders() -> dict[str, Callable[[Path], object]]:
    """Bare scaled decoders that are installed here."""
    found: dict[str, Callable[[Path], object]] = {"Pillow draft": draft}
    try:
        import simplejpeg

        found["simplejpeg"] = lambda path: simplejpeg.decode_jpeg(path.read_bytes(), min_width=64, min_height=64)
    except ImportError:
        pass
    try:
        import cv2

        cv2.setNumThreads(1)
        found["OpenCV 1/8"] = lambda path: cv2.imread(str(path), cv2.IMREAD_REDUCED_COLOR_8)
    except ImportError:
        pass
    return found


def cpu_of(work: Callable[[], object]) -> float:
    """CPU seconds of this process and of the children that ended."""

    def used() -> float:
        usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        return sum(usage.ru_utime + usage.ru_stime for usage in usages)

    before = used()
    work()
    return used() - before


def loop(function: Callable[[Path], object], paths: list[Path]) -> Callable[[], object]:
    return lambda: [function(path) for path in paths]


def compare(name: str, size: tuple[int, int], count: int, scratch: Path) -> None:
    folder = scratch / name.replace(" ", "")
    paths = make_pictures(folder, size, count)
    workspace = scratch / f"ws-{folder.name}"
    rates = {f"limit: {who}": count / cpu_of(loop(decode, paths)) for who, decode in decoders().items()}
    rates["plain Pillow loop"] = count / cpu_of(loop(plain, paths))
    started = time.perf_counter()
    rates["Sightline scan"] = count / cpu_of(lambda: scan(folder, workspace=workspace))
    first = time.perf_counter() - started
    again = min(_timed(lambda: scan(folder, workspace=workspace)) for _ in range(5))
    base = rates["plain Pillow loop"]
    print(f"\n{count} JPEGs of {name} (workers' start-up included), pictures per second and core")
    for who, rate in rates.items():
        print(f"  {who:24} {rate:8.1f}   {rate / base:5.2f} × the plain loop")
    print(f"  second scan, nothing changed: {first / again:.0f} × as fast as the first")


def _timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        for name, (size, count) in SIZES.items():
            compare(name, size, count, Path(scratch))


if __name__ == "__main__":
    main()
