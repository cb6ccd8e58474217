"""CLIP and SigLIP models as ONNX graphs, without torch: a picture tower and a text tower, on the best device that is
there.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from sightline.config.section import StrictModel
from sightline.engine.worker_pool import cores
from sightline.errors import UserError, needs_extra
from sightline.models.embedders.base import USUAL_BATCH, EmbeddingAttempt, as_attempt
from sightline.models.embedders.gpu_embedder import GpuEmbedder
from sightline.models.embedders.gpu_preprocessor import GpuPreprocessor, Tensor, can_resize, has_cuda, nvjpeg
from sightline.models.embedders.onnx_folder import ModelFolder
from sightline.models.embedders.preprocessor import ClipTokenizer, Preprocess, Tokenised, text_limit
from sightline.models.protocols import Pixels

_CPU, _CUDA = "CPUExecutionProvider", "CUDAExecutionProvider"
_DEVICES = {
    "cuda": (_CUDA,),
    "rocm": ("MIGraphXExecutionProvider", "ROCMExecutionProvider"),
    "mps": ("CoreMLExecutionProvider",),
    "directml": ("DmlExecutionProvider",),
    "openvino": ("OpenVINOExecutionProvider",),
    "tensorrt": ("TensorrtExecutionProvider",),
    "cpu": (),
}
# TensorRT and OpenVINO compile a model for minutes: only when asked for.
_AUTOMATIC = ("cuda", "rocm", "mps", "directml")
_TYPES = {
    "tensor(float)": np.float32,
    "tensor(float16)": np.float16,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
}
_OUTPUTS = ("image_embeds", "text_embeds", "embedding", "embeddings", "sentence_embedding", "pooler_output", "output")
"""Where the vectors are, the best first; a graph with one matrix of outputs needs no name."""
_GPU_BATCH = 128


def find_providers(device: str) -> list[Any]:
    """The execution providers of onnxruntime for a device, best first, always with the CPU behind them."""
    ort = _import()
    there = ort.get_available_providers()
    name, _, number = device.partition(":")
    if name != "auto" and (name not in _DEVICES or (number and not number.isdecimal())):
        raise UserError(f'there is no device "{device}".', f"devices: auto, {', '.join(_DEVICES)}, cuda:1")
    wanted = [provider for known in (_AUTOMATIC if name == "auto" else (name,)) for provider in _DEVICES[known]]
    found = [provider for provider in wanted if provider in there]
    if not found and name not in ("auto", "cpu"):
        raise UserError(
            f'onnxruntime can\'t use the device "{device}" here; it can use: {", ".join(there)}.',
            "pip install onnxruntime-gpu in place of onnxruntime, or choose --option device=cpu",
        )
    options = {"device_id": int(number)} if number else {}
    return [*((provider, options) if options else provider for provider in found), _CPU]


class OnnxTower:
    """A loaded graph; several threads may run it at once."""

    def __init__(self, path: Path, providers: Sequence[Any], threads: int | None) -> None:
        ort = _import()
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads or cores()
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self.path = path
        try:
            self._session = ort.InferenceSession(str(path), options, providers=list(providers))
        except Exception as error:  # onnxruntime's own exceptions share no base of their own.
            raise UserError(
                f"{path} can't be loaded: {str(error).strip()[:300]}", "is the file complete, and its device available?"
            ) from None
        self.inputs: Mapping[str, Any] = {item.name: item for item in self._session.get_inputs()}
        self._output = _choose_output(self._session.get_outputs(), path)
        options_of = self._session.get_provider_options().get(_CUDA)
        self.cuda = None if options_of is None else f"cuda:{options_of['device_id']}"

    def fixed(self, name: str, axis: int) -> int | None:
        """The length of an input's axis, where the graph takes only one."""
        shape = self.inputs[name].shape
        return shape[axis] if axis < len(shape) and isinstance(shape[axis], int) else None

    @property
    def dim(self) -> int | None:
        """The length of the vectors, where the graph says it."""
        length = self._output.shape[-1]
        return length if isinstance(length, int) else None

    def run(self, feeds: Mapping[str, NDArray[Any]]) -> NDArray[np.float32]:
        """One vector for each row of the inputs, which are cast to what the graph takes."""
        typed = {name: value.astype(_type(self.inputs[name]), copy=False) for name, value in feeds.items()}
        first = next(iter(feeds))
        step = self.fixed(first, 0)
        rows = len(typed[first])
        if step is None or step == rows:
            return self._run(typed)
        parts = [self._run(_part(typed, start, step)) for start in range(0, rows, step)]
        return np.concatenate(parts)[:rows]

    def run_tensor(self, name: str, tensor: Tensor) -> NDArray[np.float32]:
        """The same for a float32 tensor of torch where it lies, for a graph that takes any number of them."""
        kind = _type(self.inputs[name])
        tensor = (tensor.half() if kind is np.float16 else tensor).contiguous()
        binding, device = self._session.io_binding(), tensor.device
        if device.type == "cuda":  # onnxruntime's stream is another than torch's.
            importlib.import_module("torch").cuda.current_stream(device).synchronize()
        binding.bind_input(name, device.type, device.index or 0, kind, tuple(tensor.shape), tensor.data_ptr())
        binding.bind_output(self._output.name)
        self._session.run_with_iobinding(binding)
        return _rows(binding.copy_outputs_to_cpu()[0])

    def _run(self, feeds: Mapping[str, NDArray[Any]]) -> NDArray[np.float32]:
        (out,) = self._session.run([self._output.name], feeds)
        return _rows(out)


def _rows(out: NDArray[Any]) -> NDArray[np.float32]:
    return np.asarray(out, dtype=np.float32).reshape(len(out), -1)


def _part(feeds: Mapping[str, NDArray[Any]], start: int, step: int) -> dict[str, NDArray[Any]]:
    """Exactly `step` rows; the last one is repeated where there are fewer."""
    return {name: value.take(range(start, start + step), axis=0, mode="clip") for name, value in feeds.items()}


def _type(item: Any) -> Any:
    found = _TYPES.get(item.type)
    if found is None:
        raise UserError(f"input {item.name} of the model is of type {item.type}, which is not known here.")
    return found


def _choose_output(outputs: Sequence[Any], path: Path) -> Any:
    named = {item.name: item for item in outputs}
    for name in _OUTPUTS:
        if name in named:
            return named[name]
    matrices = [item for item in outputs if len(item.shape) == 2]
    if len(matrices) == 1:
        return matrices[0]
    raise UserError(
        f"{path} has no output with one vector for each input; its outputs: {', '.join(named)}.",
        f"export it with one of: {', '.join(_OUTPUTS)}",
    )


def _import() -> Any:
    with needs_extra("running an ONNX model", "onnx"):
        import onnxruntime
    return onnxruntime


class OnnxOptions(StrictModel):
    """Where and how an ONNX model runs; none of it changes what a vector means."""

    device: str = Field("auto", description='"auto", "cpu", "cuda", "cuda:1", "rocm", "mps", "directml", …')
    threads: int | None = Field(None, ge=1, description="Threads of the model on the CPU; one per core when not set.")
    batch: int | None = Field(None, ge=1, description="Inputs at a time.")


class FolderOptions(OnnxOptions):
    """The same, and which files of a folder are meant."""

    precision: str = Field("", description='The end of their names: "int8" for vision_model_int8.onnx.')


class OnnxClip(GpuEmbedder):
    """An embedder from a folder; each tower is loaded when it is first needed."""

    def __init__(
        self, folder: ModelFolder, *, name: str, revision: str | None = None, options: OnnxOptions | None = None
    ) -> None:
        self._folder = folder
        self._options = options = options or OnnxOptions()
        super().__init__(options.device)
        self._providers = find_providers(options.device)
        self._pool: ThreadPoolExecutor | None = None
        self._towers: dict[Path, OnnxTower] = {}
        self.name = name
        self.revision = revision or folder.fingerprint()
        self.batch = options.batch or (USUAL_BATCH if len(self._providers) == 1 else _GPU_BATCH)

    def __repr__(self) -> str:
        return f"OnnxClip({self.name!r}, {self.revision!r})"

    @cached_property
    def dim(self) -> int:
        """The length of the vectors: what a graph says, else what one run of it gives."""
        for path in filter(None, (self._folder.vision, self._folder.text)):
            stated = self._tower(path, "picture").dim
            if stated is not None:
                return stated
        if self._folder.text is not None:
            return int(self.texts(["a"]).shape[1])
        return int(self.pictures([np.zeros((8, 8, 3), dtype=np.uint8)]).shape[1])

    @property
    def side(self) -> int:
        return self._preprocess.side

    def attempt_texts(self, batch: Sequence[str]) -> EmbeddingAttempt:
        """The same, with failures by position, and which texts were cut."""
        length = self._text_length
        tokens = self._tokens(batch, length)
        raw = self._batched(range(len(batch)), lambda part: self._text.run(_feeds(self._text, tokens, part)))
        return as_attempt(raw, tokens.cut)

    def close(self) -> None:
        """End the threads that make pictures ready."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    # --- parts, each made when it is first needed ----------------------------------------------------------

    @property
    def _vision(self) -> OnnxTower:
        tower = self._tower(self._folder.vision, "picture")
        self._check_size(tower, _only(tower, "pixel_values"))
        return tower

    @property
    def _text(self) -> OnnxTower:
        return self._tower(self._folder.text, "text")

    def _tower(self, path: Path | None, what: str) -> OnnxTower:
        if path is None:
            raise UserError(f"{self.name} can't embed {what}s: {self._folder.path} has no {what} tower.")
        if path not in self._towers:
            self._towers[path] = OnnxTower(path, self._providers, self._options.threads)
        return self._towers[path]

    def _find_gpu(self) -> GpuPreprocessor | None:
        tower = self._vision
        one_by_one = tower.fixed(_only(tower, "pixel_values"), 0) is not None
        if tower.cuda is None or one_by_one or not can_resize(self._preprocess) or not has_cuda():
            return None
        return GpuPreprocessor(self._preprocess, tower.cuda, nvjpeg(tower.cuda))

    def _features(self, made: Tensor) -> NDArray[np.float32]:
        tower = self._vision
        return tower.run_tensor(_only(tower, "pixel_values"), made)

    def _features_of(self, part: Sequence[Pixels]) -> NDArray[np.float32]:
        tower = self._vision
        return tower.run({_only(tower, "pixel_values"): np.stack(list(self._threads.map(self._preprocess, part)))})

    def _move_to_cpu(self) -> None:
        self._providers = [_CPU]
        self._towers.clear()

    @cached_property
    def _preprocess(self) -> Preprocess:
        return self._folder.preprocess()

    @cached_property
    def _tokens(self) -> ClipTokenizer:
        folder = self._folder
        if folder.tokenizer is None:
            raise UserError(f"{folder.path} has no tokenizer.json, so texts can't be read.", "put the model's there")
        settings, config = folder.settings.get("tokenizer_config.json", {}), folder.settings.get("config.json", {})
        limit = text_limit(settings, config, self._text.fixed(_only(self._text, "input_ids"), 1))
        if limit is None:
            raise UserError(
                f"{folder.path} does not say how long a text may be.",
                'put it into tokenizer_config.json: {"model_max_length": 77}',
            )
        return ClipTokenizer(folder.tokenizer, settings, limit)

    @property
    def _threads(self) -> ThreadPoolExecutor:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._options.threads or cores(), "sightline-preprocess")
        return self._pool

    def _check_size(self, tower: OnnxTower, name: str) -> None:
        """A settings file of another model would make every call fail, in words that nobody understands."""
        wanted, made = (tower.fixed(name, 2), tower.fixed(name, 3)), self._preprocess.size
        if any(side not in (None, ours) for side, ours in zip(wanted, made or wanted, strict=True)):
            raise UserError(
                f"{tower.path} takes pictures of {wanted[0]} × {wanted[1]}, and its settings make them {made}.",
                f"put the model's own preprocessor_config.json into {self._folder.path}",
            )

    @property
    def _text_length(self) -> int | None:
        """Padded to the longest text where the graph knows a mask, else always to the length it was trained at."""
        tower = self._text
        return None if "attention_mask" in tower.inputs and tower.fixed("input_ids", 1) is None else self._tokens.limit


def _feeds(tower: OnnxTower, tokens: Tokenised, part: Sequence[int]) -> dict[str, NDArray[np.int64]]:
    """What the tower takes of these texts."""
    known = {"input_ids": tokens.ids[part], "attention_mask": tokens.mask[part]}
    strange = [name for name in tower.inputs if name not in known]
    if strange and len(tower.inputs) == 1:
        return {strange[0]: known["input_ids"]}
    if strange:
        raise UserError(f"{tower.path} wants {strange[0]}, which is not known here.", "export it without that input")
    return {name: known[name] for name in tower.inputs}


def _only(tower: OnnxTower, usual: str = "") -> str:
    """The input's usual name, or that of the only one."""
    if usual in tower.inputs or len(tower.inputs) == 1:
        return usual if usual in tower.inputs else next(iter(tower.inputs))
    raise UserError(
        f"{tower.path} takes {', '.join(tower.inputs)}; one input was expected.", "export the two towers apart"
    )
