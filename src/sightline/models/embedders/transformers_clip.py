"""CLIP, SigLIP and their like by transformers and torch (extra `transformers`), with the model's own code."""

from __future__ import annotations

import importlib
import json
import logging
import threading
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from pydantic import Field

from sightline.config.section import StrictModel
from sightline.errors import UserError, needs_extra
from sightline.io.files import sha256_of
from sightline.models.embedders.base import USUAL_BATCH, AttemptEmbedder, EmbeddingAttempt, as_attempt
from sightline.models.embedders.gpu_preprocessor import GpuPreprocessor, can_resize, nvjpeg
from sightline.models.embedders.pixels import JpegFile
from sightline.models.embedders.preprocessor import is_long, read_preprocessor, text_limit
from sightline.models.failures import clip
from sightline.models.protocols import Pixels
from sightline.types import Failure

_GPU_BATCH = 512
_USUAL_LIMIT = 77
"""Tokens of the longest text of CLIP, for a model that states no limit."""
_SIDES = ("height", "width", "shortest_edge", "longest_edge")
_WEIGHTS = ("*.safetensors", "*.bin")
_FOR_PIXELS = Failure("not decoded", "the GPU's decoder refused it")
_log = logging.getLogger(__name__)


class TransformersOptions(StrictModel):
    """Where and how a model runs, and which one it is."""

    device: str = Field("auto", description='"auto", "cpu", "cuda", "cuda:1", "mps".')
    dtype: str | None = Field(None, description='Precision of the weights, such as "float16"; their own when not set.')
    revision: str | None = Field(None, description="Branch, tag or commit on the hub; its main branch when not set.")
    safetensors: bool = Field(True, description="Only open weights that can't run code.")
    batch: int | None = Field(None, ge=1, description="Inputs at a time.")


class TransformersClip(AttemptEmbedder):
    """An embedder from a folder or by its name on the hub; never runs code that comes with a model."""

    def __init__(self, model: str, *, options: TransformersOptions | None = None, local_only: bool = False) -> None:
        self._options = options = options or TransformersOptions()
        with needs_extra(f"transformers:{model}", "transformers"):
            self._torch, self._transformers = (importlib.import_module(name) for name in ("torch", "transformers"))
        folder = Path(model).expanduser()
        self._source = str(folder) if folder.is_dir() else model
        self._local_only = local_only
        self._own = threading.local()
        self._device = self._find_device(options.device)
        self.batch = options.batch or (USUAL_BATCH if self._device == "cpu" else _GPU_BATCH)
        self.name = f"transformers:{folder.resolve().name if folder.is_dir() else model}"
        self._loaded = self._load()
        self.revision = self._find_revision(folder)

    def __repr__(self) -> str:
        return f"TransformersClip({self.name!r}, {self.revision!r})"

    @cached_property
    def dim(self) -> int:
        """The length of the vectors, as one short text tells."""
        return int(self.texts(["a"]).shape[1])

    @cached_property
    def side(self) -> int:
        """Twice the longest side that the model's pictures have, so that no detail is lost."""
        sizes = [getattr(self._picture_processor, name, None) for name in ("size", "crop_size")]
        # A dictionary, or since transformers 5 an object with the same names.
        sides = [
            size.get(name) if isinstance(size, Mapping) else getattr(size, name, None)
            for size in sizes
            for name in _SIDES
        ]
        return 2 * max((int(side) for side in sides if side), default=512)

    def attempt_pictures(self, batch: Sequence[Pixels]) -> EmbeddingAttempt:
        """The same, with failures by position."""
        return as_attempt(self._batched(batch, self._from_pixels))

    @property
    def reads_jpegs(self) -> bool:
        """Can the GPU decode JPEG files here?"""
        return self._gpu is not None and self._gpu.decode is not None

    def attempt_jpegs(self, batch: Sequence[JpegFile]) -> EmbeddingAttempt:
        """The same from JPEG files, on a stream of the GPU that is this thread's own."""
        cuda = self._torch.cuda
        if self._device.startswith("cuda") and not hasattr(self._own, "stream"):
            self._own.stream = cuda.Stream(self._device)
        try:
            with cuda.stream(getattr(self._own, "stream", None)):
                return as_attempt(self._batched(batch, self._from_jpegs))
        except self._torch.AcceleratorError as error:
            self._leave_gpu(error)
        except RuntimeError as error:  # The decoder does not say which file it refused: halves tell.
            if len(batch) > 1:
                half = len(batch) // 2
                return _joined(self.attempt_jpegs(batch[:half]), self.attempt_jpegs(batch[half:]))
            _log.debug("%s: %s", self.name, error)
        return EmbeddingAttempt(np.zeros((len(batch), 0), np.float32), dict.fromkeys(range(len(batch)), _FOR_PIXELS))

    def attempt_texts(self, batch: Sequence[str]) -> EmbeddingAttempt:
        """The same, with failures by position, and which texts were cut."""
        tokenizer, limit = self._tokenizer, self._text_limit
        lengths = [len(ids) for ids in tokenizer(list(batch), truncation=False, verbose=False)["input_ids"]]
        # SigLIP was trained on texts of one length; CLIP does not mind it.
        options = {"padding": "max_length", "truncation": True, "max_length": limit, "return_tensors": "pt"}
        raw = self._batched(
            batch, lambda part: self._loaded.get_text_features(**self._moved(tokenizer(list(part), **options)))
        )
        return as_attempt(raw, np.array(lengths, dtype=np.int64) > limit)

    # --- parts ----------------------------------------------------------------------------------------------

    def _find_device(self, wanted: str) -> str:
        if wanted != "auto":
            return wanted
        if self._torch.cuda.is_available():
            return "cuda"
        return "mps" if self._torch.backends.mps.is_available() else "cpu"

    def _hub(self) -> dict[str, Any]:
        return {"revision": self._options.revision, "local_files_only": self._local_only}

    def _load(self) -> Any:
        options = self._options
        try:
            model = self._transformers.AutoModel.from_pretrained(
                self._source, dtype=options.dtype or "auto", use_safetensors=options.safetensors or None, **self._hub()
            )
            loaded = model.to(self._device).eval()
        except (OSError, ValueError, RuntimeError, AttributeError, ImportError) as error:
            raise UserError(
                f"{self.name} can't be loaded: {clip(str(error))}",
                "give a folder with config.json and weights, or a model's name on the hub",
            ) from None
        if not hasattr(loaded, "get_image_features") and not hasattr(loaded, "get_text_features"):
            kind = type(loaded).__name__
            raise UserError(f"{self.name} is a {kind}, which embeds no pictures.", "choose a CLIP or SigLIP model")
        return loaded

    def _find_revision(self, folder: Path) -> str:
        commit = getattr(self._loaded.config, "_commit_hash", None)
        if commit is None and folder.is_dir():
            weights = sorted(file for pattern in _WEIGHTS for file in folder.glob(pattern))
            commit = "-".join(sha256_of(file)[:16] for file in weights)
        precision = str(self._loaded.dtype).removeprefix("torch.")
        return f"{commit or self._options.revision or 'main'} {precision}"

    @cached_property
    def _picture_processor(self) -> Any:
        try:
            return self._transformers.AutoImageProcessor.from_pretrained(self._source, **self._hub())
        except (OSError, ValueError, ImportError) as error:
            raise UserError(f"{self.name} can't take pictures: {clip(str(error))}") from None

    @cached_property
    def _tokenizer(self) -> Any:
        try:
            return self._transformers.AutoTokenizer.from_pretrained(self._source, **self._hub())
        except (OSError, ValueError, ImportError) as error:
            raise UserError(f"{self.name} can't take texts: {clip(str(error))}") from None

    @cached_property
    def _text_limit(self) -> int:
        stated = {"model_max_length": self._tokenizer.model_max_length}
        limit = text_limit({}, self._loaded.config.to_dict(), None) or text_limit(stated, {}, None)
        return _USUAL_LIMIT if limit is None else limit

    def _moved(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        moved = {}
        for name, value in inputs.items():
            tensor = value.to(self._device)
            moved[name] = tensor.to(self._loaded.dtype) if tensor.is_floating_point() else tensor
        return moved

    @cached_property
    def _gpu(self) -> GpuPreprocessor | None:
        """None without a GPU of NVIDIA, and where only the model's own code knows what to do with a picture."""
        if not self._device.startswith("cuda"):
            return None
        try:
            preprocess = read_preprocessor(json.loads(self._picture_processor.to_json_string()), self.name)
        except UserError:
            return None
        return GpuPreprocessor(preprocess, self._device, nvjpeg(self._device)) if can_resize(preprocess) else None

    def _from_pixels(self, part: Sequence[Pixels]) -> Any:
        if self._gpu is not None and not any(is_long(*pixels.shape[:2]) for pixels in part):
            return self._of_inputs({"pixel_values": self._gpu.from_pixels(part)})
        pictures = [Image.fromarray(pixels) for pixels in part]
        return self._of_inputs(self._picture_processor(pictures, return_tensors="pt"))

    def _from_jpegs(self, part: Sequence[JpegFile]) -> Any:
        assert self._gpu is not None
        return self._of_inputs({"pixel_values": self._gpu.from_jpegs(part)})

    def _of_inputs(self, inputs: Mapping[str, Any]) -> Any:
        return self._loaded.get_image_features(**self._moved(inputs))

    def _leave_gpu(self, error: Exception) -> None:
        _log.warning("%s: the GPU failed (%s); going on with the CPU", self.name, clip(str(error)))
        self._device, self._gpu = "cpu", None
        self._loaded = self._load()

    def _batched(self, batch: Sequence[Any], features: Any) -> NDArray[np.float32]:
        parts, step = [], self.batch  # Which a full memory may change meanwhile.
        with self._torch.inference_mode():
            for start in range(0, len(batch), step):
                parts += self._halved(batch[start : start + step], features)
        return np.concatenate(parts) if parts else np.zeros((0, 0), dtype=np.float32)

    def _halved(self, part: Sequence[Any], features: Any) -> list[NDArray[np.float32]]:
        """The features of a part, in halves where the memory of the device does not suffice."""
        try:
            found = features(part)
            # Since transformers 5 the features come inside an output object.
            return [getattr(found, "pooler_output", found).float().cpu().numpy()]
        except self._torch.OutOfMemoryError:
            if len(part) == 1:
                raise
        half = len(part) // 2
        if half < self.batch:
            self.batch = half
            _log.warning("%s: the GPU's memory is full; %d inputs at a time from now on", self.name, half)
        return [found for some in (part[:half], part[half:]) for found in self._halved(some, features)]


def _joined(first: EmbeddingAttempt, second: EmbeddingAttempt) -> EmbeddingAttempt:
    """One after the other; rows of an attempt in which all failed have no length of their own."""
    dim = max(first.vectors.shape[1], second.vectors.shape[1])
    rows = [part.vectors if part.vectors.shape[1] else np.zeros((len(part.vectors), dim)) for part in (first, second)]
    later = {at + len(first.vectors): failure for at, failure in second.failures.items()}
    return EmbeddingAttempt(np.concatenate(rows, dtype=np.float32), {**first.failures, **later})
