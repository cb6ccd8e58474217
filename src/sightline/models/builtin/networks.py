"""The networks that come with the package, each opened at its first use."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.errors import MissingExtraError

FEATURE = "the built-in models"
_ERRORS_ONLY = 3


class Network:
    """An ONNX file of the package, on one core; any number of threads may call it at once."""

    def __init__(self, name: str) -> None:
        try:
            import onnxruntime
        except ImportError:
            raise MissingExtraError(FEATURE, "onnx") from None
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = _ERRORS_ONLY
        weights = (files("sightline.models.builtin") / "weights" / f"{name}.onnx").read_bytes()
        self._session = onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])

    def __call__(self, **inputs: NDArray[Any]) -> list[NDArray[np.float32]]:
        """The outputs, in order."""
        found: list[NDArray[np.float32]] = self._session.run(None, inputs)
        return found


@cache
def network(name: str) -> Network:
    """`reader`, `signs`, `scene`, `text` or `relations`."""
    return Network(name)
