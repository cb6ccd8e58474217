"""One half of a model as an ONNX graph: pictures or texts in, vectors out, on the best device that is there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.engine import cores
from sightline.errors import MissingExtraError, UserError

_DEVICES = {
    "cuda": ("CUDAExecutionProvider",),
    "rocm": ("MIGraphXExecutionProvider", "ROCMExecutionProvider"),
    "mps": ("CoreMLExecutionProvider",),
    "directml": ("DmlExecutionProvider",),
    "openvino": ("OpenVINOExecutionProvider",),
    "tensorrt": ("TensorrtExecutionProvider",),
    "cpu": (),
}
# TensorRT and OpenVINO compile a model for minutes: only when asked for.
_AUTOMATIC = ("cuda", "rocm", "mps", "directml")
_CPU = "CPUExecutionProvider"
_TYPES = {
    "tensor(float)": np.float32,
    "tensor(float16)": np.float16,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
}
_OUTPUTS = ("image_embeds", "text_embeds", "embedding", "embeddings", "sentence_embedding", "pooler_output", "output")
"""Where the vectors are, the best first; a graph with one matrix of outputs needs no name."""


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


class Tower:
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
                f"{path} can't be loaded: {str(error).strip()[:300]}", "is the file whole, and its device there?"
            ) from None
        self.inputs: Mapping[str, Any] = {item.name: item for item in self._session.get_inputs()}
        self._output = _choose_output(self._session.get_outputs(), path)
        self.on_cpu = self._session.get_providers()[0] == _CPU

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

    def _run(self, feeds: Mapping[str, NDArray[Any]]) -> NDArray[np.float32]:
        (out,) = self._session.run([self._output.name], feeds)
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
    try:
        import onnxruntime
    except ImportError:
        raise MissingExtraError("running an ONNX model", "onnx") from None
    return onnxruntime
