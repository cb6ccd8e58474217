"""An embedder from two functions: one of pictures, one of texts; plain or asynchronous."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np

from sightline.arguments import checked
from sightline.engine.event_loop import LoopThread
from sightline.engine.user_functions import UserFunction, describe_error, fingerprint
from sightline.errors import SightlineError, UserError, require_at_least
from sightline.models.embedders.base import (
    USUAL_BATCH,
    USUAL_SIDE,
    AttemptEmbedder,
    EmbeddingAttempt,
    as_attempt,
)
from sightline.models.protocols import Pixels, Vectors
from sightline.types import Failure

_TRIED = 32
"""Side of the picture by which the length of the vectors is found out."""


class FunctionEmbedder(AttemptEmbedder):
    """An embedder from two functions; accepted wherever one is: `index`, `search`, `embed`, `make`, `run`.

    Parameters
    ----------
    name:
        What its vectors are kept under in the workspace.
    pictures:
        A function of a list of pictures (arrays of height × width × 3, `uint8`) that returns one vector for each: an
        array, or a list of lists. It may be asynchronous. Vectors need not be of unit length.
    texts:
        The same for a list of strings. Left out, pictures can be searched only by pictures.
    dim:
        The length of the vectors; found out by one short call when not given.
    revision:
        Changes with whatever changes a vector; vectors of another revision are not used. The code of the functions
        when not given: say it where a model that they use changes.
    batch:
        How many pictures or texts a call is given at most.
    side:
        A picture is handed over with its shorter side at least this long, or whole.

    Examples
    --------
    >>> import numpy as np
    >>> embedder = FunctionEmbedder(
    ...     "mean-color",
    ...     pictures=lambda batch: [picture.mean(axis=(0, 1)) for picture in batch],
    ...     texts=lambda batch: [[255.0, 0.0, 0.0] for _ in batch],
    ... )
    >>> embedder.dim
    3
    """

    @checked
    def __init__(
        self,
        name: str,
        *,
        pictures: UserFunction,
        texts: UserFunction | None = None,
        dim: int | None = None,
        revision: str | None = None,
        batch: int = USUAL_BATCH,
        side: int = USUAL_SIDE,
    ) -> None:
        require_at_least(1, dim=dim, batch=batch, side=side)
        self.name, self.batch, self.side = name, batch, side
        self.revision = revision or f"code {fingerprint(*filter(None, (pictures, texts)))}"
        self._pictures, self._texts = pictures, texts
        self._dim, self._worked = dim, False
        self._loop: LoopThread | None = None

    def __repr__(self) -> str:
        return f"FunctionEmbedder({self.name!r})"

    @property
    def dim(self) -> int:
        """The length of the vectors."""
        if self._dim is None:
            self._attempt(self._pictures, [np.zeros((_TRIED, _TRIED, 3), np.uint8)])
        assert self._dim is not None
        return self._dim

    def attempt_pictures(self, batch: Sequence[Pixels]) -> EmbeddingAttempt:
        """The same with a failure for each picture that gave no vector."""
        return self._attempt(self._pictures, batch)

    def attempt_texts(self, batch: Sequence[str]) -> EmbeddingAttempt:
        """The same with a failure for each text that gave no vector."""
        if self._texts is None:
            raise UserError(f"The embedder {self.name} embeds pictures only.", "Give it a function of texts: texts=…")
        return self._attempt(self._texts, batch)

    def close(self) -> None:
        """End the event loop of asynchronous functions."""
        loop, self._loop = self._loop, None
        if loop is not None:
            loop.close()

    def _attempt(self, function: UserFunction, batch: Sequence[Any]) -> EmbeddingAttempt:
        """All at once; where that fails, one by one, so that only what is to blame fails.

        A function that has never worked is broken: that is an error, and no failure of what it was given.
        """
        try:
            return as_attempt(self._call(function, list(batch)))
        except SightlineError:
            raise
        except Exception as error:
            if len(batch) > 1:
                return self._one_by_one(function, batch)
            if not self._worked:
                raise UserError(
                    f"The embedder {self.name} failed: {describe_error(error)}", "Correct its function."
                ) from error
            failure = Failure("crashed", describe_error(error))
            return EmbeddingAttempt(np.zeros((1, self.dim), np.float32), {0: failure})

    def _one_by_one(self, function: UserFunction, batch: Sequence[Any]) -> EmbeddingAttempt:
        found = [self._attempt(function, [one]) for one in batch]
        failures = {at: attempt.failures[0] for at, attempt in enumerate(found) if attempt.failures}
        return EmbeddingAttempt(np.concatenate([attempt.vectors for attempt in found]), failures)

    def _call(self, function: UserFunction, batch: list[Any]) -> Vectors:
        said = function(batch)
        if inspect.isawaitable(said):
            self._loop = self._loop or LoopThread()
            said = self._loop.call(_awaited(said))
        rows = np.asarray(said, dtype=np.float32)
        wanted = f"({len(batch)}, {self._dim or 'dim'})"
        if rows.ndim != 2 or len(rows) != len(batch) or rows.shape[1] != (self._dim or rows.shape[1]):
            raise UserError(
                f"The embedder {self.name} returned an array of {rows.shape} for {len(batch)} inputs; "
                f"{wanted} was expected.",
                "Return one vector for each input, all of one length.",
            )
        self._dim, self._worked = int(rows.shape[1]), True
        return rows


async def _awaited(said: Any) -> Any:
    return await said
