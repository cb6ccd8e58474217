"""CLIP, SigLIP and their like by transformers and torch (extra `transformers`), with the model's own code."""

from __future__ import annotations

import importlib
import json
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
from sightline.models.embedders.base import USUAL_BATCH, EmbeddingAttempt, as_attempt
from sightline.models.embedders.gpu_embedder import GpuEmbedder
from sightline.models.embedders.gpu_preprocessor import GpuPreprocessor, can_resize, nvjpeg
from sightline.models.embedders.preprocessor import read_preprocessor, text_limit
from sightline.models.failures import clip
from sightline.models.protocols import Pixels

_GPU_BATCH = 512
_USUAL_LIMIT = 77
"""Tokens of the longest text of CLIP, for a model that states no limit."""
_SIDES = ("height", "width", "shortest_edge", "longest_edge")
_WEIGHTS = ("*.safetensors", "*.bin")


class TransformersOptions(StrictModel):
    """Where and how a model runs, and which one it is."""

    device: str = Field("auto", description='"auto", "cpu", "cuda", "cuda:1", "mps".')
    dtype: str | None = Field(None, description='Precision of the weights, such as "float16"; their own when not set.')
    revision: str | None = Field(None, description="Branch, tag or commit on the hub; its main branch when not set.")
    safetensors: bool = Field(True, description="Only open weights that can't run code.")
    batch: int | None = Field(None, ge=1, description="Inputs at a time.")


class TransformersClip(GpuEmbedder):
    """An embedder from a folder or by its name on the hub; never runs code that comes with a model."""

    def __init__(self, model: str, *, options: TransformersOptions | None = None, local_only: bool = False) -> None:
        self._options = options = options or TransformersOptions()
        super().__init__(options.device)
        with needs_extra(f"transformers:{model}", "transformers"):
            self._torch, self._transformers = (importlib.import_module(name) for name in ("torch", "transformers"))
        folder = Path(model).expanduser()
        self._source = str(folder) if folder.is_dir() else model
        self._local_only = local_only
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

    def attempt_texts(self, batch: Sequence[str]) -> EmbeddingAttempt:
        """The same, with failures by position, and which texts were cut."""
        tokenizer, limit = self._tokenizer, self._text_limit
        lengths = [len(ids) for ids in tokenizer(list(batch), truncation=False, verbose=False)["input_ids"]]
        # SigLIP was trained on texts of one length; CLIP does not mind it.
        options = {"padding": "max_length", "truncation": True, "max_length": limit, "return_tensors": "pt"}
        raw = self._batched(
            batch, lambda part: self._run(self._loaded.get_text_features, tokenizer(list(part), **options))
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

    def _find_gpu(self) -> GpuPreprocessor | None:
        if not self._device.startswith("cuda"):
            return None
        try:
            preprocess = read_preprocessor(json.loads(self._picture_processor.to_json_string()), self.name)
        except UserError:
            return None
        return GpuPreprocessor(preprocess, self._device, nvjpeg(self._device)) if can_resize(preprocess) else None

    def _features(self, made: Any) -> NDArray[np.float32]:
        return self._of_inputs({"pixel_values": made})

    def _features_of(self, part: Sequence[Pixels]) -> NDArray[np.float32]:
        pictures = [Image.fromarray(pixels) for pixels in part]
        return self._of_inputs(self._picture_processor(pictures, return_tensors="pt"))

    def _of_inputs(self, inputs: Mapping[str, Any]) -> NDArray[np.float32]:
        return self._run(self._loaded.get_image_features, inputs)

    def _run(self, tower: Any, inputs: Mapping[str, Any]) -> NDArray[np.float32]:
        with self._torch.inference_mode():
            found = tower(**self._moved(inputs))
            # Since transformers 5 the features come inside an output object.
            features: NDArray[np.float32] = getattr(found, "pooler_output", found).float().cpu().numpy()
        return features

    def _move_to_cpu(self) -> None:
        self._device = "cpu"
        self._loaded = self._load()
