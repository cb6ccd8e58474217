"""Queries as vectors: the words of a query, pictures that it names, and regions of them."""

from __future__ import annotations

import hashlib
import os
import re
import threading
from collections import OrderedDict
from contextlib import suppress
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from sightline.config import Config
from sightline.corpus.names import path_of
from sightline.errors import SightlineError, UserError
from sightline.io.sqlite import ReadOnlyError
from sightline.models.embedders.base import all_or_raise, attempt_pictures, attempt_texts, side_of
from sightline.models.embedders.bulk_embedding import embed_new_texts
from sightline.models.embedders.pixels import decode_region, read_bytes
from sightline.models.embedders.session import EmbedderSession
from sightline.models.embedders.vector_cache import text_key
from sightline.models.protocols import Pixels, Vectors
from sightline.retrieval.ranking import token_vectors_of
from sightline.types import Box, Failure

_Value = TypeVar("_Value")
_KEPT = 1024
"""Vectors of texts that stay in memory."""
_REGION = re.compile(r"#([\d.]+),([\d.]+),([\d.]+),([\d.]+)$")


class QueryVector(NamedTuple):
    """A query's vector; `was_cut` says that its text is longer than the embedder reads."""

    vector: NDArray[np.float32]
    was_cut: bool = False


class PictureCue(NamedTuple):
    """A picture that says what is looked for: its address, the region that is meant, and its row if it has one."""

    uri: str
    region: Box | None = None
    row: int | None = None


def parse_cue(text: str) -> PictureCue:
    """`photo.jpg`, or `photo.jpg#0.1,0.2,0.5,0.9`: left, top, right and bottom in fractions."""
    found = _REGION.search(text)
    if found is None:
        return PictureCue(text)
    try:
        box = Box(*map(float, found.groups()))
    except ValueError:
        box = Box(1, 1, 0, 0)
    if not box.is_valid:
        raise UserError(
            f'"{found[0]}" is not a region of a picture.',
            "give left,top,right,bottom between 0 and 1: #0.1,0.2,0.5,0.9",
        )
    return PictureCue(text[: found.start()], box)


class QueryEmbedder:
    """An embedder that is asked by any number of threads, one after the other."""

    def __init__(self, session: EmbedderSession, config: Config) -> None:
        self._session, self._max_pixels = session, config.scan.max_pixels
        self._lock = threading.Lock()
        self._texts: OrderedDict[str, QueryVector] = OrderedDict()

    def text(self, text: str) -> QueryVector:
        """The vector of a text; asked once, then remembered in the workspace."""
        with self._lock:
            known = self._texts.get(text)
            if known is None:
                known = self._texts[text] = self._embed_text(text)
                if len(self._texts) > _KEPT:
                    self._texts.popitem(last=False)
            return known

    def embed_again(self, text: str) -> None:
        """Embed a text that is remembered once more, for whoever measures how long a new query takes."""
        with self._lock:
            if self._session.cache.has(text_key(text), self._session.embedder):
                attempt_texts(self._session.embedder, [text])

    def texts(self, texts: list[str]) -> Vectors:
        """The vectors of many texts, remembered in the workspace only."""
        with self._lock:
            keys, made, stopped = embed_new_texts(texts, self._session.embedder, self._session.cache, lambda _: None)
            if stopped is not None:
                raise stopped
            good = [key for key in keys if made.get(key) is None]
            return np.array(self._session.cache.get_many(good, self._session.embedder).vectors)

    def tokens(self, text: str) -> Vectors | None:
        """The token vectors of a text, where the embedder gives any."""
        offered = token_vectors_of(self._session.embedder)
        if offered is None:
            return None
        with self._lock:
            return offered.texts([text])[0]

    def cue(self, cue: PictureCue) -> NDArray[np.float32]:
        """The vector of a picture, or of a region of it."""
        data = self._read(cue)
        key, embedder, cache = hashlib.sha256(data).digest(), self._session.embedder, self._session.cache
        with self._lock:
            if cue.region is None and cache.has(key, embedder):
                return np.array(cache.get_many([key], embedder).vectors[0])
            vectors = all_or_raise(attempt_pictures(embedder, [self._decoded(data, cue)]))
            if cue.region is None:
                with suppress(ReadOnlyError):
                    cache.put_many([key], vectors, embedder)
            return vectors.reshape(-1)

    def joint(self, cue: PictureCue, text: str) -> NDArray[np.float32] | None:
        """One vector of a picture with a text, where the embedder reads both at once."""
        both = getattr(self._session.embedder, "joint", None)
        if both is None:
            return None
        data = self._read(cue)
        with self._lock:
            vectors: Vectors = both([self._decoded(data, cue)], [text])
            return vectors.reshape(-1)

    def close(self) -> None:
        self._session.__exit__()

    def _embed_text(self, text: str) -> QueryVector:
        embedder, cache, key = self._session.embedder, self._session.cache, text_key(text)
        if cache.has(key, embedder):
            vector = np.array(cache.get_many([key], embedder).vectors[0])
            return QueryVector(vector, bool(cache.count_cut([key], embedder)))
        attempt = attempt_texts(embedder, [text])
        if attempt.stopped is not None:
            raise attempt.stopped
        if attempt.failures:
            raise SightlineError(f"{embedder.name} gave no vector for the query: {attempt.failures[0].message}.")
        with suppress(ReadOnlyError):  # It is found all the same, and asked for again the next time.
            cache.put_many([key], attempt.vectors, embedder, attempt.cut)
        return QueryVector(
            np.array(attempt.vectors[0], dtype=np.float32), attempt.cut is not None and bool(attempt.cut[0])
        )

    def _read(self, cue: PictureCue) -> bytes:
        return _unless_failed(read_bytes(os.fsencode(path_of(cue.uri))), cue)

    def _decoded(self, data: bytes, cue: PictureCue) -> Pixels:
        return _unless_failed(decode_region(data, side_of(self._session.embedder), self._max_pixels, cue.region), cue)


def mean_direction(vectors: list[NDArray[np.float32]], weights: list[float]) -> NDArray[np.float32]:
    """The weighted mean of unit vectors, at unit length; the first where they cancel out."""
    mean = np.einsum("i,ij->j", np.array(weights), np.stack(vectors).astype(np.float64))
    length = float(np.linalg.norm(mean))
    return vectors[0] if length < 1e-9 else (mean / length).astype(np.float32)


def _unless_failed(value: _Value | Failure, cue: PictureCue) -> _Value:
    if isinstance(value, Failure):
        raise UserError(f"the picture {cue.uri} can't be used as a cue: {value.kind} ({value.message}).", "try another")
    return value
