"""Words in a picture, by RapidOCR (extra `ocr`), whose models are inside its package."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np

from sightline.errors import MissingExtraError, UserError
from sightline.models.protocols import Pixels
from sightline.types.corpus import Json

SURE = 0.8
"""Lines that the reader itself gives less are left out: textures look like letters to it."""
MEND = "pip install --force-reinstall rapidocr opencv-python-headless onnxruntime"
_MODULES = ("rapidocr", "onnxruntime", "cv2", "shapely", "pyclipper")


def missing_modules() -> list[str]:
    """What of the reader is not there; imports nothing."""
    return [name for name in _MODULES if find_spec(name) is None]


class WordReader:
    """Reads printed words; one to three seconds for a large photograph."""

    def __init__(self, *, sure: float = SURE) -> None:
        if find_spec("rapidocr") is None or find_spec("onnxruntime") is None:
            raise MissingExtraError("reading words in pictures", "ocr")
        try:
            from rapidocr import RapidOCR
        except ImportError as error:
            raise UserError(f"rapidocr is installed, but can't be loaded: {error}.", MEND) from error
        self._engine: Any = RapidOCR(params={"Global.log_level": "error"})
        self._sure = sure

    def read(self, pixels: Pixels) -> list[Json]:
        """The lines found, each with the reader's confidence, from the top to the bottom."""
        found = self._engine(np.ascontiguousarray(pixels[..., ::-1]))
        lines = zip(found.txts or (), found.scores or (), strict=True)
        return [{"text": text, "confidence": round(float(score), 3)} for text, score in lines if score >= self._sure]
