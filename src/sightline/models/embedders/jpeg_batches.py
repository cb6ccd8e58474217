"""JPEG files of a folder through an embedder that decodes them itself, on a GPU: threads read and hash files while
batches before them are embedded, and those before these are written.
"""

from __future__ import annotations

import hashlib
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from functools import partial
from itertools import islice
from typing import Protocol, TypeVar

from sightline.config.settings import ScanSettings
from sightline.corpus.jpeg_header import read_jpeg_header
from sightline.engine.progress import Advance
from sightline.engine.worker_pool import cores
from sightline.models.embedders.base import EmbeddingAttempt, batch_of
from sightline.models.embedders.embedded_files import EmbeddedFile, Listing
from sightline.models.embedders.pixels import DecodeJob, JpegFile
from sightline.models.embedders.preprocessor import is_long
from sightline.models.embedders.vector_cache import VectorCache
from sightline.models.protocols import Embedder

_CHUNK = 32
"""Files that a thread reads at a time."""
READERS = 8
"""More threads only wait for each other."""
_LANES = 3
"""Batches that are embedded at a time: one is decoded while others go through the network."""
_BATCH_BYTES = 1 << 28
"""Of the files in a batch, so that large ones do not fill the memory."""
_MOST_BYTES = 1 << 26
"""A larger file is read by itself, by the ordinary way."""
T = TypeVar("T")
R = TypeVar("R")


class JpegEmbedder(Embedder, Protocol):
    """An embedder that may read JPEG files itself, and `reads_jpegs` if it can do so here and now."""

    @property
    def reads_jpegs(self) -> bool: ...

    def attempt_jpegs(self, batch: Sequence[JpegFile]) -> EmbeddingAttempt:
        """As `attempt_pictures`; what fails is tried again from pixels."""


def embed_jpegs(
    listing: Listing, embedder: JpegEmbedder, cache: VectorCache, settings: ScanSettings, advance: Advance
) -> int:
    """Make the vectors of the plain JPEG files that `listing.plan` chose; what has none then is for `plan` again."""

    def unknown(files: Sequence[JpegFile]) -> list[JpegFile]:
        keys = [file.sha256 for file in files]
        new = set(cache.missing(keys, embedder))
        known = [EmbeddedFile(file.number, file.sha256) for at, file in enumerate(files) if at not in new]
        if known:
            listing.keep(known)
            advance(len(known))
        return [files[at] for at in sorted(new)]

    made = 0
    jobs = listing.jobs(1, settings.max_pixels, None)
    for batch, attempt in attempt_jpegs(jobs, embedder, min(settings.workers or cores(), READERS), unknown):
        good = [at for at in range(len(batch)) if at not in attempt.failures]
        cache.put_many([batch[at].sha256 for at in good], attempt.vectors[good], embedder)
        listing.keep(EmbeddedFile(batch[at].number, batch[at].sha256) for at in good)
        made += len(good)
        advance(len(good))
    return made


def attempt_jpegs(
    jobs: Iterable[DecodeJob],
    embedder: JpegEmbedder,
    threads: int,
    unknown: Callable[[Sequence[JpegFile]], Sequence[JpegFile]] = lambda files: files,
) -> Iterator[tuple[list[JpegFile], EmbeddingAttempt]]:
    """Batches of those of the files that are plain photographs and `unknown`, each content once, and their vectors."""
    with ThreadPoolExecutor(threads, "sightline-read") as read, ThreadPoolExecutor(_LANES, "sightline-gpu") as gpu:
        files = map(unknown, _ahead(read, _read, _chunks(jobs, _CHUNK), threads + 4))
        for done in _ahead(gpu, partial(_attempt, embedder), _batches(files, batch_of(embedder)), _LANES + 1):
            yield done
            if not embedder.reads_jpegs:  # The device is gone.
                break


def _attempt(embedder: JpegEmbedder, batch: list[JpegFile]) -> tuple[list[JpegFile], EmbeddingAttempt]:
    return batch, embedder.attempt_jpegs(batch)


def _read(jobs: Sequence[DecodeJob]) -> list[JpegFile]:
    """Those that are plain photographs; all others, unreadable ones too, are for the ordinary way."""
    found = []
    for job in jobs:
        try:
            with open(job.path, "rb", buffering=0) as file:  # noqa: PTH123 (bytes, which pathlib does not take)
                size = os.fstat(file.fileno()).st_size
                data = bytearray(size if size <= _MOST_BYTES else 0)
                if file.readinto(data) != size:
                    continue
        except OSError:
            continue
        header = read_jpeg_header(data)
        if header is None or header.height * header.width > job.max_pixels or is_long(header.height, header.width):
            continue
        found.append(JpegFile(job.number, hashlib.sha256(data).digest(), data, header))
    return found


def _batches(read: Iterable[Sequence[JpegFile]], size: int) -> Iterator[list[JpegFile]]:
    waiting: dict[bytes, JpegFile] = {}
    held = 0
    for files in read:
        for file in files:
            waiting[file.sha256] = file  # A copy takes the place; the other is left over, and its vector known by then.
            held += len(file.data)
            if len(waiting) >= size or held >= _BATCH_BYTES:
                yield list(waiting.values())
                waiting, held = {}, 0
    if waiting:
        yield list(waiting.values())


def _chunks(items: Iterable[T], size: int) -> Iterator[list[T]]:
    source = iter(items)
    while chunk := list(islice(source, size)):
        yield chunk


def _ahead(pool: Executor, function: Callable[[T], R], items: Iterable[T], ahead: int) -> Iterator[R]:
    """The results in order; `items` is drawn in this thread, only so far ahead."""
    running: deque[Future[R]] = deque()
    for item in items:
        running.append(pool.submit(function, item))
        if len(running) >= ahead:
            yield running.popleft().result()
    while running:
        yield running.popleft().result()
