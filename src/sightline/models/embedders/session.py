"""One run of an embedder: opened with its cache, closed with it, and its vectors written or handed over at the end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from sightline.calls.privacy_notice import announce_recipient
from sightline.calls.session import Session
from sightline.errors import SightlineError
from sightline.io.files import PathLike
from sightline.models.embedders.base import close
from sightline.models.embedders.embedded_files import SkippedInput
from sightline.models.embedders.registry import find_embedder
from sightline.models.embedders.vector_cache import VectorCache
from sightline.models.embedders.vector_file import EmbeddedVectors, VectorFile, VectorFileShape, write_vectors
from sightline.models.protocols import Embedder, Vectors

PAGE = 4096
"""Vectors that are in memory at a time."""


@dataclass(frozen=True, slots=True)
class EmbeddedPages:
    """Ids and keys of all that was embedded, in pages; how many they are, and how long the longest id is."""

    pages: Callable[[], Iterator[list[tuple[str, bytes]]]]
    count: int
    longest: int


class EmbedderSession:
    """An embedder and the workspace's vectors; an embedder that was given open stays open."""

    def __init__(
        self,
        embedder: str | Embedder | None,
        session: Session,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self._started = time.monotonic()
        self.session, self.options = session, dict(options or {})
        self.given = embedder if isinstance(embedder, str) else None
        self._ours = embedder is None or isinstance(embedder, str)
        self.embedder: Embedder = (
            find_embedder(embedder, session, **(options or {}))
            if embedder is None or isinstance(embedder, str)
            else embedder
        )
        self.cache = VectorCache(session.workspace)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.cache.close()
        if self._ours:
            close(self.embedder)

    @property
    def spreads(self) -> bool:
        """Is it worked on a cluster? Not what asks a server, nor an object of this program."""
        return self.session.engine != "local" and self._ours and not hasattr(self.embedder, "endpoint")

    def tell_who_sees(self, what: str) -> None:
        """The first time that something private goes to a server elsewhere, say so."""
        endpoint = getattr(self.embedder, "endpoint", None)
        if isinstance(endpoint, str):
            announce_recipient(self.session.workspace, endpoint, what)

    def finish(
        self,
        content: EmbeddedPages,
        out: PathLike | None,
        left_out: tuple[SkippedInput, ...],
        made: int,
        cut: int | None,
        noun: str,
    ) -> EmbeddedVectors:
        """Write all vectors into one file, whole or not at all, or hand them over when there is none to write."""
        space = self.cache.space(self.embedder)
        dim = 0 if space is None else space.dim
        arrays = None
        if out is None:
            ids = [id_ for page in content.pages() for id_, _ in page]
            arrays = VectorFile(np.array(ids, dtype=np.str_), np.concatenate(list(self._vectors(content))))
        else:
            write_vectors(
                out,
                VectorFileShape(content.count, dim, content.longest),
                lambda: ([id_ for id_, _ in page] for page in content.pages()),
                lambda: self._vectors(content),
            )
        return EmbeddedVectors(
            count=content.count,
            dim=dim,
            embedder=self.embedder.name,
            revision=self.embedder.revision,
            left_out=left_out,
            truncated=cut,
            from_cache=content.count - made,
            seconds=time.monotonic() - self._started,
            path=None if out is None else Path(out).expanduser(),
            arrays=arrays,
            noun=noun,
        )

    def _vectors(self, content: EmbeddedPages) -> Iterator[Vectors]:
        for page in content.pages():
            got = self.cache.get_many([key for _, key in page], self.embedder)
            if len(got.missing):
                raise SightlineError(
                    f"{len(got.missing)} vectors vanished from {self.cache.path} during the run.",
                    "run the same command again: they are made again",
                )
            yield got.vectors
