"""What `embed` gives: vectors, and what there is to say of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sightline.errors import MissingExtraError
from sightline.models.embedders.listing import LeftOut
from sightline.models.embedders.vector_file import VectorFile, read_vectors
from sightline.models.protocols import Vectors

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True)
class Embedded:
    """Vectors by id; those that were written to a file are read from it when they are asked for.

    `truncated` is how many texts were longer than the model reads: None where that is not known.
    """

    count: int
    dim: int
    embedder: str
    revision: str
    left_out: tuple[LeftOut, ...]
    truncated: int | None
    from_cache: int
    seconds: float
    path: Path | None = None
    arrays: VectorFile | None = field(default=None, repr=False)

    @property
    def ids(self) -> NDArray[np.str_]:
        """Picture ids in order, or line numbers."""
        return self._both().ids

    @property
    def vectors(self) -> Vectors:
        """One unit-length row for each id."""
        return self._both().vectors

    @property
    def reasons(self) -> Mapping[str, int]:
        """How many were left out, by reason."""
        return dict(sorted(Counter(item.reason for item in self.left_out).items()))

    def to_json(self) -> dict[str, Any]:
        """The summary that `embed --json` prints."""
        return {
            "count": self.count,
            "left_out": self.reasons,
            "dim": self.dim,
            "embedder": self.embedder,
            "revision": self.revision,
            "truncated": self.truncated,
            "from_cache": self.from_cache,
            "seconds": round(self.seconds, 3),
            "out": None if self.path is None else str(self.path),
        }

    def to_pandas(self) -> pandas.DataFrame:
        """One row for each id, one column for each number of its vector."""
        try:
            import pandas
        except ImportError as error:
            raise MissingExtraError("Embedded.to_pandas", "pandas") from error
        return pandas.DataFrame(self.vectors, index=pandas.Index(self.ids, name="id"))

    def _both(self) -> VectorFile:
        if self.arrays is not None:
            return self.arrays
        if self.path is None:
            raise ValueError("neither in memory nor in a file")
        return read_vectors(self.path)
