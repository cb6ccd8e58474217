"""Pictures as a CLIP-like model takes them, made on an NVIDIA GPU: JPEG files are decoded in batches by nvJPEG, and
pictures of one size are resized together, by the same filters as Pillow's.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from io import BytesIO
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sightline.models.embedders.pixels import JpegFile
from sightline.models.embedders.preprocessor import Preprocess
from sightline.models.protocols import Pixels

Tensor: TypeAlias = Any
Decoder: TypeAlias = Callable[[Sequence[bytearray]], list[Tensor]]
"""JPEG files as tensors of channels × height × width on the device; raises `RuntimeError` for what it can't read."""
_KERNELS: Mapping[int, tuple[float, Callable[[NDArray[np.float64]], NDArray[np.float64]]]] = {
    1: (3.0, lambda x: np.sinc(x) * np.sinc(x / 3)),
    2: (1.0, lambda x: 1 - x),
    3: (2.0, lambda x: np.where(x < 1, (1.5 * x - 2.5) * x * x + 1, ((-0.5 * x + 2.5) * x - 4) * x + 2)),
    4: (0.5, lambda x: np.where(x <= 0.5, 1.0, 0.0)),
}
"""Pillow's filters by number: how far each reaches, and its weight at a distance."""
_TURNS: Mapping[int, tuple[tuple[int, ...], bool]] = {
    2: ((-1,), False),
    3: ((-2, -1), False),
    4: ((-2,), False),
    5: ((), True),
    6: ((-2,), True),
    7: ((-2, -1), True),
    8: ((-1,), True),
}
"""EXIF orientation: the axes that are mirrored, and whether rows then become columns."""
_PIXELS = 1 << 28
"""So many are decoded at a time at most: 0.8 GB, and 4 GB while they are resized."""
_BYTES_PER_PIXEL = 16


def can_resize(preprocess: Preprocess) -> bool:
    """Are these settings among those that the GPU's path knows?"""
    return preprocess.resample in _KERNELS


def has_cuda() -> bool:
    """Is torch there, and a GPU that it can use?"""
    try:
        return bool(importlib.import_module("torch").cuda.is_available())
    except (ImportError, OSError):
        return False


def nvjpeg(device: str) -> Decoder | None:
    """The decoder of torchvision; None where it is not installed, or was built without."""
    sample = BytesIO()
    Image.new("RGB", (16, 16)).save(sample, "JPEG")
    try:
        torch, io = importlib.import_module("torch"), importlib.import_module("torchvision.io")

        def decode(files: Sequence[bytearray]) -> list[Tensor]:
            encoded = [torch.frombuffer(file, dtype=torch.uint8) for file in files]
            found: list[Tensor] = io.decode_jpeg(encoded, mode=io.ImageReadMode.RGB, device=device)
            return found

        decode([bytearray(sample.getvalue())])
    except (ImportError, RuntimeError, OSError, AttributeError):
        return None
    return decode


class GpuPreprocessor:
    """`Preprocess` for batches, on a device of torch."""

    def __init__(self, preprocess: Preprocess, device: str, decode: Decoder | None) -> None:
        self._torch = importlib.import_module("torch")
        self._preprocess, self._device, self.decode = preprocess, device, decode
        self._weights, self._own = lru_cache(maxsize=256)(self._new_weights), threading.local()
        scale, mean, std = (
            self._torch.tensor(values, dtype=self._torch.float32, device=device).view(-1, 1, 1)
            for values in ([preprocess.scale], preprocess.mean, preprocess.std)
        )
        self._factor, self._shift = scale / std, -mean / std

    def stream(self) -> AbstractContextManager[Any]:
        """Work of this thread goes on a stream of the GPU that is its own, beside that of others."""
        if not self._device.startswith("cuda"):
            return nullcontext()
        cuda = self._torch.cuda
        if not hasattr(self._own, "stream"):
            self._own.stream = cuda.Stream(self._device)
        stream: AbstractContextManager[Any] = cuda.stream(self._own.stream)
        return stream

    def from_jpegs(self, files: Sequence[JpegFile]) -> Tensor:
        """The model's input; raises `RuntimeError` where the decoder refuses one of the files."""
        parts = [self._from_jpegs(files[part]) for part in self._slices(files)]
        return parts[0] if len(parts) == 1 else self._torch.cat(parts)

    def _from_jpegs(self, files: Sequence[JpegFile]) -> Tensor:
        assert self.decode is not None
        decoded = self.decode([file.data for file in files])
        for picture, file in zip(decoded, files, strict=True):
            if tuple(picture.shape[1:]) != file.header[:2]:
                raise RuntimeError("a picture is not of the size that its header promises")
        return self._prepared(
            [self._upright(picture, file.header.orientation) for picture, file in zip(decoded, files, strict=True)]
        )

    def _slices(self, files: Sequence[JpegFile]) -> list[slice]:
        """Parts of a batch that fit into the memory that is free."""
        most = min(_PIXELS, self._free() // _BYTES_PER_PIXEL)
        found, start, pixels = [], 0, 0
        for at, file in enumerate(files):
            more = file.header.height * file.header.width
            if pixels + more > most and at > start:
                found.append(slice(start, at))
                start, pixels = at, 0
            pixels += more
        return [*found, slice(start, len(files))]

    def _free(self) -> int:
        if not self._device.startswith("cuda"):
            return _PIXELS
        cuda = self._torch.cuda
        idle = cuda.memory_reserved(self._device) - cuda.memory_allocated(self._device)
        return int(cuda.mem_get_info(self._device)[0] + idle) // 2  # Two batches are under way.

    def from_pixels(self, batch: Sequence[Pixels]) -> Tensor:
        """The model's input from pixels, height × width × 3, in this machine's memory."""
        torch = self._torch
        return self._prepared(
            [
                torch.from_numpy(np.require(each, requirements=("C", "W"))).to(self._device).permute(2, 0, 1)
                for each in batch
            ]
        )

    def _upright(self, picture: Tensor, orientation: int) -> Tensor:
        axes, transposed = _TURNS.get(orientation, ((), False))
        picture = picture.flip(axes) if axes else picture
        return picture.transpose(1, 2) if transposed else picture

    def _prepared(self, pictures: Sequence[Tensor]) -> Tensor:
        """All pictures of one size in one go; rounded where Pillow rounds."""
        torch = self._torch
        groups: dict[tuple[int, int], list[int]] = {}
        for at, picture in enumerate(pictures):
            groups.setdefault((picture.shape[1], picture.shape[2]), []).append(at)
        out = None
        for (height, width), members in groups.items():
            small = self._resized(torch.stack([pictures[at] for at in members]), height, width)
            if len(groups) == 1:
                return small
            if out is None:
                out = torch.empty((len(pictures), *small.shape[1:]), device=small.device)
            out[torch.tensor(members, device=small.device)] = small
        return out

    def _resized(self, stacked: Tensor, height: int, width: int) -> Tensor:
        target, (top, left), crop = self._preprocess.geometry(height, width)
        across = self._weights(width, target[1], left, crop[1])
        down = self._weights(height, target[0], top, crop[0])
        small = (stacked.to(across.dtype) @ across.T).add_(0.5).floor_().clamp_(0, 255)
        small = (down @ small).add_(0.5).floor_().clamp_(0, 255)
        return small.float() * self._factor + self._shift

    def _new_weights(self, source: int, target: int, start: int, length: int) -> Tensor:
        """One row for each pixel that is kept: how much of each source pixel it takes."""
        reach, kernel = _KERNELS[self._preprocess.resample]
        scale = source / target
        stretch = max(scale, 1.0)
        centers = (np.arange(start, start + length)[:, None] + 0.5) * scale
        first, last = (np.trunc(centers + side * reach * stretch + 0.5) for side in (-1, 1))
        at = np.arange(source)[None]
        weights = kernel(np.abs((at + 0.5 - centers) / stretch))
        weights = np.where((at >= first) & (at < last), weights, 0.0)
        half = self._device.startswith("cuda")
        return self._torch.tensor(
            weights / weights.sum(axis=1, keepdims=True),
            dtype=self._torch.float16 if half else self._torch.float32,
            device=self._device,
        )
