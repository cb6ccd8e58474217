"""What every embedder gives for a batch: vectors, and for each input that gave none the reason.

An embedder may offer more than its protocol asks for, and then is asked for it:

- `side`: a picture is handed over with its shorter side at least this long, or whole (1024 when not there);
- `batch` and `text_batch`: how many pictures and texts it takes at a time (32 when not there);
- `attempt_pictures` and `attempt_texts`: the same work with failures by position, for embedders that can fail in part;
- `plan_pictures` and `plan_texts`: what embedding them would take, for embedders that ask a server;
- `close`: let go of connections and threads.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from sightline.errors import SightlineError
from sightline.models.protocols import Embedder, Pixels, Vectors
from sightline.types import Failure

USUAL_BATCH = 32
USUAL_SIDE = 1024
NO_DIRECTION = Failure("empty", "the model gave no direction: its output is zero or not finite")
"""Of a vector that is zero, NaN or infinite."""


class EmbedderIdentity(Protocol):
    """What tells the vectors of one embedder from those of another."""

    @property
    def name(self) -> str: ...

    @property
    def revision(self) -> str: ...


class EmbeddingAttempt(NamedTuple):
    """A row for each input, zero where it failed; `cut` tells the texts that were longer than the model reads.

    `cut` is None where nobody knows. `stopped` is raised by the caller, after what was got has been kept.
    """

    vectors: Vectors
    failures: Mapping[int, Failure]
    cut: NDArray[np.bool_] | None = None
    stopped: SightlineError | None = None


def attempt_pictures(embedder: Embedder, batch: Sequence[Pixels]) -> EmbeddingAttempt:
    """Embed pictures with any embedder, one failure for each that gave no vector."""
    own = getattr(embedder, "attempt_pictures", None)
    attempt: EmbeddingAttempt = own(batch) if own else as_attempt(embedder.pictures(batch))
    return _checked(embedder, attempt, len(batch))


def attempt_texts(embedder: Embedder, batch: Sequence[str]) -> EmbeddingAttempt:
    """Embed texts with any embedder, one failure for each that gave no vector."""
    own = getattr(embedder, "attempt_texts", None)
    attempt: EmbeddingAttempt = own(batch) if own else as_attempt(embedder.texts(batch))
    return _checked(embedder, attempt, len(batch))


def as_attempt(raw: NDArray[Any], cut: NDArray[np.bool_] | None = None) -> EmbeddingAttempt:
    """A model's output as unit-length rows; one without a direction (zero, NaN, infinite) is a failure."""
    rows = np.asarray(raw, dtype=np.float32)
    lengths = np.linalg.norm(rows.astype(np.float64), axis=-1, keepdims=True)
    bad = ~np.isfinite(lengths[..., 0]) | (lengths[..., 0] == 0)
    vectors = np.divide(rows, lengths, out=np.zeros_like(rows), where=~bad[..., None], casting="unsafe")
    return EmbeddingAttempt(vectors, {int(at): NO_DIRECTION for at in np.flatnonzero(bad)}, cut)


def all_or_raise(attempt: EmbeddingAttempt) -> Vectors:
    """The vectors of an attempt in which nothing failed; otherwise its first failure is raised."""
    if attempt.stopped is not None:
        raise attempt.stopped
    for at, failure in sorted(attempt.failures.items()):
        raise SightlineError(f"input {at + 1} of {len(attempt.vectors)} gave no vector: {failure.message}")
    return attempt.vectors


class AttemptEmbedder(ABC):
    """An embedder that can fail in part: its work is two attempts, and who wants vectors alone gets all of them."""

    @abstractmethod
    def attempt_pictures(self, batch: Sequence[Pixels]) -> EmbeddingAttempt:
        """A row for each picture, with failures by position."""

    @abstractmethod
    def attempt_texts(self, batch: Sequence[str]) -> EmbeddingAttempt:
        """A row for each text, with failures by position."""

    def pictures(self, batch: Sequence[Pixels]) -> Vectors:
        """One unit-length row for each picture."""
        return all_or_raise(self.attempt_pictures(batch))

    def texts(self, batch: Sequence[str]) -> Vectors:
        """One unit-length row for each text; one that is too long is cut."""
        return all_or_raise(self.attempt_texts(batch))


def side_of(embedder: Embedder) -> int:
    """How long the shorter side of its pictures should be at least."""
    side: int = getattr(embedder, "side", USUAL_SIDE)
    return max(1, side)


def batch_of(embedder: Embedder, *, texts: bool = False) -> int:
    """How many pictures, or texts, it takes at a time."""
    batch: int = getattr(embedder, "batch", USUAL_BATCH)
    if texts:
        batch = getattr(embedder, "text_batch", batch)
    return max(1, batch)


def close(embedder: Embedder) -> None:
    """Let go of what the embedder holds, if it holds anything."""
    end = getattr(embedder, "close", None)
    if end is not None:
        end()


def _checked(embedder: Embedder, attempt: EmbeddingAttempt, expected: int) -> EmbeddingAttempt:
    """A plug-in's mistake ends here, before wrong vectors are kept under a picture's name."""
    shape = attempt.vectors.shape
    if len(shape) != 2 or shape[0] != expected:
        raise SightlineError(
            f"the embedder {embedder.name} gave an array of {shape} for {expected} inputs.",
            "it must give one row for each input; tell whoever wrote it",
        )
    return attempt
