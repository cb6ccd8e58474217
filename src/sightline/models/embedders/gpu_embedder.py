"""What embedders whose network may run on a GPU have in common: JPEG files are decoded there, a full memory halves the
batches, and a GPU that is gone leaves the work to the processor.
"""

from __future__ import annotations

import logging
import threading
from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.models.embedders.base import AttemptEmbedder, EmbeddingAttempt, as_attempt
from sightline.models.embedders.gpu_preprocessor import GpuPreprocessor
from sightline.models.embedders.pixels import JpegFile
from sightline.models.embedders.preprocessor import is_long
from sightline.models.failures import clip
from sightline.models.protocols import Pixels
from sightline.types import Failure

_FULL = ("out of memory", "failed to allocate memory", "smaller than requested bytes", "alloc_failed")
_LOST = ("cuda error", "cuda failure", "cublas failure", "cudnn failure", "hip error")
"""Of an error's message, in lower case: torch and onnxruntime have no common class for either."""
_FOR_PIXELS = Failure("not decoded", "the GPU's decoder refused it")
_log = logging.getLogger(__name__)


class GpuEmbedder(AttemptEmbedder):
    """Turns pictures into the input of its network on the GPU where it can, and on the processor otherwise."""

    name: str
    batch: int

    def __init__(self, device: str) -> None:
        self.wants_gpu = device.partition(":")[0] in ("auto", "cuda")
        self._leaving, self._left = threading.Lock(), False

    @property
    def reads_jpegs(self) -> bool:
        """Can the GPU decode JPEG files here?"""
        return self._gpu is not None and self._gpu.decode is not None

    def attempt_pictures(self, batch: Sequence[Pixels]) -> EmbeddingAttempt:
        """The same, with failures by position."""
        return as_attempt(self._batched(batch, self._of_pixels))

    def attempt_jpegs(self, batch: Sequence[JpegFile]) -> EmbeddingAttempt:
        """The same from JPEG files, on a stream of the GPU that is this thread's own."""
        gpu = self._gpu
        try:
            if gpu is not None:
                with gpu.stream():
                    return as_attempt(self._in_parts(batch, lambda part: self._features(gpu.from_jpegs(part))))
        except Exception as error:  # Of torch, or onnxruntime's own.
            if _says(error, _LOST):
                self._leave_gpu(error)
            elif not isinstance(error, RuntimeError):
                raise
            elif len(batch) > 1:  # The decoder does not say which file it refused: halves tell.
                half = len(batch) // 2
                return _joined(self.attempt_jpegs(batch[:half]), self.attempt_jpegs(batch[half:]))
            else:
                _log.debug("%s: %s", self.name, error)
        return EmbeddingAttempt(np.zeros((len(batch), 0), np.float32), dict.fromkeys(range(len(batch)), _FOR_PIXELS))

    @cached_property
    def _gpu(self) -> GpuPreprocessor | None:
        return self._find_gpu()

    @abstractmethod
    def _find_gpu(self) -> GpuPreprocessor | None:
        """None without a GPU of NVIDIA, and where only the model's own code knows what to do with a picture."""

    @abstractmethod
    def _features(self, made: Any) -> NDArray[np.float32]:
        """The network's output for pictures that the GPU made ready."""

    @abstractmethod
    def _features_of(self, part: Sequence[Pixels]) -> NDArray[np.float32]:
        """The same for pictures that the processor makes ready."""

    @abstractmethod
    def _move_to_cpu(self) -> None:
        """Have the network run on the processor from now on."""

    def _of_pixels(self, part: Sequence[Pixels]) -> NDArray[np.float32]:
        gpu = self._gpu
        if gpu is None or any(is_long(*pixels.shape[:2]) for pixels in part):
            return self._features_of(part)
        return self._features(gpu.from_pixels(part))

    def _batched(
        self, batch: Sequence[Any], features: Callable[[Sequence[Any]], NDArray[np.float32]]
    ) -> NDArray[np.float32]:
        """The features of a batch; once more, on the processor, where the GPU is lost."""
        try:
            return self._in_parts(batch, features)
        except Exception as error:
            if self._left or not _says(error, _LOST):
                raise
            self._leave_gpu(error)
        return self._in_parts(batch, features)

    def _leave_gpu(self, error: Exception) -> None:
        with self._leaving:  # Other threads meet the same, and wait.
            if not self._left:
                _log.warning("%s: the GPU failed (%s); going on with the CPU", self.name, clip(str(error)))
                self._gpu = None
                self._move_to_cpu()
                self._left = True

    def _in_parts(
        self, batch: Sequence[Any], features: Callable[[Sequence[Any]], NDArray[np.float32]]
    ) -> NDArray[np.float32]:
        parts, step = [], self.batch  # Which a full memory may change meanwhile.
        for start in range(0, len(batch), step):
            parts += self._halved(batch[start : start + step], features)
        return np.concatenate(parts) if parts else np.zeros((0, 0), dtype=np.float32)

    def _halved(
        self, part: Sequence[Any], features: Callable[[Sequence[Any]], NDArray[np.float32]]
    ) -> list[NDArray[np.float32]]:
        """The features of a part, in halves where the memory of the device does not suffice."""
        try:
            return [features(part)]
        except Exception as error:
            if len(part) == 1 or not _says(error, _FULL):
                raise
        half = len(part) // 2
        if half < self.batch:
            self.batch = half
            _log.warning("%s: the GPU's memory is full; %d inputs at a time from now on", self.name, half)
        return [found for some in (part[:half], part[half:]) for found in self._halved(some, features)]


def _says(error: Exception, what: Sequence[str]) -> bool:
    message = str(error).lower()
    return any(words in message for words in what)


def _joined(first: EmbeddingAttempt, second: EmbeddingAttempt) -> EmbeddingAttempt:
    """One after the other; rows of an attempt in which all failed have no length of their own."""
    dim = max(first.vectors.shape[1], second.vectors.shape[1])
    rows = [part.vectors if part.vectors.shape[1] else np.zeros((len(part.vectors), dim)) for part in (first, second)]
    later = {at + len(first.vectors): failure for at, failure in second.failures.items()}
    return EmbeddingAttempt(np.concatenate(rows, dtype=np.float32), {**first.failures, **later})
