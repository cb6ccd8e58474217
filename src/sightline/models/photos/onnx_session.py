"""A network that runs on one core; many inputs run side by side, each on a core of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sightline.engine.worker_pool import cores
from sightline.errors import UserError, needs_extra
from sightline.models.photos.weights import EXTRA, FEATURE

Item = TypeVar("Item")
Result = TypeVar("Result")
_ERRORS_ONLY = 3


class OnnxNetwork:
    """An ONNX file; any number of threads may call it at once."""

    def __init__(self, path: Path) -> None:
        with needs_extra(FEATURE, EXTRA):
            import onnxruntime
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = _ERRORS_ONLY
        try:
            self._session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # The package raises many kinds for a broken file, most of them its own.
            raise UserError(f"{path} can't be loaded: {error}.", f"delete {path.parent}; it is made again") from error
        self._input = self._session.get_inputs()[0].name
        self._outputs = [output.name for output in self._session.get_outputs()]

    def __call__(self, values: NDArray[Any]) -> dict[str, NDArray[np.float32]]:
        """The outputs by name."""
        return dict(zip(self._outputs, self._session.run(None, {self._input: values}), strict=True))


def on_all_cores(work: Callable[[Item], Result], items: Sequence[Item], threads: int | None = None) -> list[Result]:
    """The results in order; `work` must spend its time outside Python's lock."""
    lanes = min(threads or cores(), len(items))
    if lanes <= 1:
        return [work(item) for item in items]
    with ThreadPoolExecutor(lanes, "sightline-photos") as pool:
        return list(pool.map(work, items))
