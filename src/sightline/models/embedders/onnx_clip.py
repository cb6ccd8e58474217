"""CLIP and SigLIP models as ONNX graphs: a picture tower and a text tower, without torch."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path

import numpy as np
from pydantic import Field

from sightline.config.section import Section
from sightline.engine import cores
from sightline.errors import UserError
from sightline.models.embedders.attempts import USUAL_BATCH, Attempt, all_or_raise, as_attempt
from sightline.models.embedders.folder import ModelFolder
from sightline.models.embedders.onnx_tower import Tower, find_providers
from sightline.models.embedders.preprocess import Preprocess
from sightline.models.embedders.tokens import Tokenised, Tokens, text_limit
from sightline.models.protocols import Pixels, Vectors

_GPU_BATCH = 128


class OnnxOptions(Section):
    """Where and how an ONNX model runs; none of it changes what a vector means."""

    device: str = Field("auto", description='"auto", "cpu", "cuda", "cuda:1", "rocm", "mps", "directml", …')
    threads: int | None = Field(None, ge=1, description="Threads of the model on the CPU; one per core when not set.")
    batch: int | None = Field(None, ge=1, description="Inputs at a time.")


class FolderOptions(OnnxOptions):
    """The same, and which files of a folder are meant."""

    precision: str = Field("", description='The end of their names: "int8" for vision_model_int8.onnx.')


class OnnxClip:
    """An embedder from a folder; each tower is loaded when it is first needed."""

    def __init__(
        self, folder: ModelFolder, *, name: str, revision: str | None = None, options: OnnxOptions | None = None
    ) -> None:
        self._folder = folder
        self._options = options = options or OnnxOptions()
        self._providers = find_providers(options.device)
        self._pool: ThreadPoolExecutor | None = None
        self.name = name
        self.revision = revision or folder.fingerprint()
        self.batch = options.batch or (USUAL_BATCH if len(self._providers) == 1 else _GPU_BATCH)

    def __repr__(self) -> str:
        return f"OnnxClip({self.name!r}, {self.revision!r})"

    @cached_property
    def dim(self) -> int:
        """The length of the vectors: what a graph says, else what one run of it gives."""
        for tower in (self._vision, self._text):
            if tower is not None and tower.dim is not None:
                return tower.dim
        if self._folder.text is not None:
            return int(self.texts(["a"]).shape[1])
        return int(self.pictures([np.zeros((8, 8, 3), dtype=np.uint8)]).shape[1])

    @property
    def side(self) -> int:
        return self._preprocess.side

    def pictures(self, batch: Sequence[Pixels]) -> Vectors:
        """One unit-length row for each picture."""
        return all_or_raise(self.attempt_pictures(batch))

    def texts(self, batch: Sequence[str]) -> Vectors:
        """One unit-length row for each text; one that is too long is cut."""
        return all_or_raise(self.attempt_texts(batch))

    def attempt_pictures(self, batch: Sequence[Pixels]) -> Attempt:
        """The same, with failures by position."""
        tower = self._needed(self._vision, "pictures", "picture tower")
        name = _only(tower, "pixel_values")
        self._check_size(tower, name)
        raw = [
            tower.run({name: np.stack(list(self._threads.map(self._preprocess, batch[start : start + self.batch])))})
            for start in range(0, len(batch), self.batch)
        ]
        return as_attempt(_joined(raw))

    def attempt_texts(self, batch: Sequence[str]) -> Attempt:
        """The same, with failures by position, and which texts were cut."""
        tower = self._needed(self._text, "texts", "text tower")
        raw, cut = [], [np.zeros(0, dtype=bool)]
        for start in range(0, len(batch), self.batch):
            tokens = self._tokens(batch[start : start + self.batch], self._text_length(tower))
            raw.append(tower.run(_feeds(tower, tokens)))
            cut.append(tokens.cut)
        return as_attempt(_joined(raw), np.concatenate(cut))

    def close(self) -> None:
        """End the threads that make pictures ready."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    # --- parts, each made when it is first needed ----------------------------------------------------------

    @cached_property
    def _vision(self) -> Tower | None:
        return self._load(self._folder.vision)

    @cached_property
    def _text(self) -> Tower | None:
        return self._load(self._folder.text)

    def _load(self, path: Path | None) -> Tower | None:
        return None if path is None else Tower(path, self._providers, self._options.threads)

    @cached_property
    def _preprocess(self) -> Preprocess:
        return self._folder.preprocess()

    @cached_property
    def _tokens(self) -> Tokens:
        folder = self._folder
        if folder.tokenizer is None:
            raise UserError(f"{folder.path} has no tokenizer.json, so texts can't be read.", "put the model's there")
        settings, config = folder.settings.get("tokenizer_config.json", {}), folder.settings.get("config.json", {})
        tower = self._needed(self._text, "texts", "text tower")
        limit = text_limit(settings, config, tower.fixed(_only(tower, "input_ids"), 1))
        if limit is None:
            raise UserError(
                f"{folder.path} does not say how long a text may be.",
                'put it into tokenizer_config.json: {"model_max_length": 77}',
            )
        return Tokens(folder.tokenizer, settings, limit)

    @property
    def _threads(self) -> ThreadPoolExecutor:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._options.threads or cores(), "sightline-preprocess")
        return self._pool

    def _needed(self, tower: Tower | None, what: str, missing: str) -> Tower:
        if tower is None:
            raise UserError(f"{self.name} can't embed {what}: {self._folder.path} has no {missing}.")
        return tower

    def _check_size(self, tower: Tower, name: str) -> None:
        """A settings file of another model would make every call fail, in words that nobody understands."""
        wanted, made = (tower.fixed(name, 2), tower.fixed(name, 3)), self._preprocess.size
        if any(side not in (None, ours) for side, ours in zip(wanted, made or wanted, strict=True)):
            raise UserError(
                f"{tower.path} takes pictures of {wanted[0]} × {wanted[1]}, and its settings make them {made}.",
                f"put the model's own preprocessor_config.json into {self._folder.path}",
            )

    def _text_length(self, tower: Tower) -> int | None:
        """Padded to the longest text where the graph knows a mask, else always to the length it was trained at."""
        return None if "attention_mask" in tower.inputs and tower.fixed("input_ids", 1) is None else self._tokens.limit


def _feeds(tower: Tower, tokens: Tokenised) -> dict[str, np.ndarray]:
    known = {"input_ids": tokens.ids, "attention_mask": tokens.mask}
    strange = [name for name in tower.inputs if name not in known]
    if strange and len(tower.inputs) == 1:
        return {strange[0]: tokens.ids}
    if strange:
        raise UserError(f"{tower.path} wants {strange[0]}, which is not known here.", "export it without that input")
    return {name: known[name] for name in tower.inputs}


def _only(tower: Tower, usual: str = "") -> str:
    """The input's usual name, or that of the only one."""
    if usual in tower.inputs or len(tower.inputs) == 1:
        return usual if usual in tower.inputs else next(iter(tower.inputs))
    raise UserError(
        f"{tower.path} takes {', '.join(tower.inputs)}; one input was expected.", "export the two towers apart"
    )


def _joined(parts: Sequence[Vectors]) -> Vectors:
    return np.concatenate(parts) if parts else np.zeros((0, 0), dtype=np.float32)
