"""When nothing matches: how near a picture must be to a text before it counts, calibrated on the corpus itself.

A raw cosine does not tell: some texts are near to everything, and some pictures to every text. So both are taken off:

    match(q, v) = q·v − q·μ − hub(v)

where μ is the mean vector of the corpus and hub(v) the mean of the picture's 20 highest cosines with a fixed bank of
phrases. Most things of the bank are in no corpus, so the best match of each phrase shows what chance gives: the
threshold is their median + z · 1.4826 · the median distance of those below it (what lies above may be there in truth).
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sightline.errors import UserError
from sightline.io.files import write_whole
from sightline.models.protocols import Vectors
from sightline.retrieval.vector_stores.base import Rows, VectorIndex

FALSE_ALARMS = 0.1
"""Of queries for what is not there, the share that the threshold is meant to let through."""
FILE_NAME = "threshold.npz"
PHRASES = Path(__file__).with_name("phrases.txt")
_Z = 1.2815515594457
"""The normal quantile of 1 − `FALSE_ALARMS`."""
_TO_SIGMA = 1.4826
_HUB = 20
_PAGE = 8192
_LEAST = 2


@cache
def phrases() -> tuple[str, ...]:
    """The bank: things that pictures may show, most of them seldom."""
    return tuple(PHRASES.read_text("utf-8").splitlines())


@dataclass(frozen=True, slots=True, eq=False)
class Threshold:
    """What `match` needs, and the value that it must reach; `stamp` tells the vectors that it was calibrated on."""

    stamp: str
    mean: NDArray[np.float32]
    hubs: NDArray[np.float32]
    value: float

    def match(self, query: NDArray[np.float32], rows: Rows, cosines: NDArray[np.float64]) -> NDArray[np.float64]:
        """How far each picture lies above the threshold; negative: it does not match."""
        hubs = self.hubs[np.minimum(rows, len(self.hubs) - 1)]  # A row without a vector has no cosine either.
        matched: NDArray[np.float64] = cosines - float(query @ self.mean) - hubs - self.value
        return matched

    def save(self, folder: Path) -> None:
        """Keep it in the index."""
        buffer = io.BytesIO()
        np.savez(buffer, stamp=self.stamp, mean=self.mean, hubs=self.hubs, value=self.value)
        write_whole(folder / FILE_NAME, buffer.getvalue())


def load_threshold(folder: Path, stamp: str) -> Threshold | None:
    """The one of these vectors; None where there is none, one of others, or one that is damaged."""
    path = folder / FILE_NAME
    if not path.is_file():
        return None
    try:
        with np.load(path, allow_pickle=False) as file:
            if str(file["stamp"]) != stamp:
                return None
            return Threshold(stamp, file["mean"], file["hubs"], float(file["value"]))
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error):
        return None  # A damaged one is calibrated again.


def calibrate(index: VectorIndex, texts: Callable[[list[str]], Vectors], stamp: str) -> Threshold:
    """Compare the bank with every vector of the index, page by page."""
    rows = index.rows()
    if len(rows) < _LEAST:
        raise UserError(f"{len(rows)} pictures are too few to calibrate a threshold on.", "leave --threshold out")
    bank = texts(list(phrases()))
    total = np.zeros(index.dim)
    hubs = np.zeros(int(rows[-1]) + 1, np.float32)
    best = np.full(len(bank), -np.inf)
    count = min(_HUB, len(bank))
    for start in range(0, len(rows), _PAGE):
        page = rows[start : start + _PAGE]
        vectors = index.get(page)
        scores = bank @ vectors.T
        hubs[page] = np.partition(scores, len(bank) - count, axis=0)[-count:].mean(axis=0)
        best = np.maximum(best, (scores - hubs[page]).max(axis=1))
        total += vectors.sum(axis=0, dtype=np.float64)
    mean = (total / len(rows)).astype(np.float32)
    return Threshold(stamp, mean, hubs, _value(best - bank @ mean))


def _value(best: NDArray[np.float64]) -> float:
    middle = float(np.median(best))
    spread = _TO_SIGMA * float(np.median(middle - best[best <= middle]))
    return middle + _Z * spread
