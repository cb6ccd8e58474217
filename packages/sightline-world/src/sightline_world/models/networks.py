"""The networks that come with the package, each opened at its first use."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.errors import MissingExtraError, UserError

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
        self._session = onnxruntime.InferenceSession(_weights(name), options, providers=["CPUExecutionProvider"])

    def __call__(self, **inputs: NDArray[Any]) -> list[NDArray[np.float32]]:
        """The outputs, in order."""
        found: list[NDArray[np.float32]] = self._session.run(None, inputs)
        return found


def _weights(name: str) -> bytes:
    file = Path(__file__).with_name("weights") / f"{name}.onnx"
    try:
        return file.read_bytes()
    except FileNotFoundError:
        message = f"the built-in network {file} is missing."
        raise UserError(message, "install Sightline again: its package brings these files") from None


@cache
def revision_of(*names: str) -> str:
    """A short hash over the weights of these networks: other weights, another revision."""
    digest = hashlib.blake2b(digest_size=6)
    for name in names:
        digest.update(hashlib.blake2b(_weights(name)).digest())
    return digest.hexdigest()


@cache
def network(name: str) -> Network:
    """`reader`, `signs`, `scene`, `text` or `relations`."""
    return Network(name)
