"""Pictures and texts through an embedder into the cache: only what is not there yet, in batches, on all cores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from sightline.engine import Advance, Died, cores, map_in_processes, progress
from sightline.errors import StoppedError
from sightline.models.embedders.attempts import Attempt, attempt_pictures, attempt_texts, batch_of, side_of
from sightline.models.embedders.cache import VectorCache, text_key
from sightline.models.embedders.decode import AlreadyKnown, Decoded, Job, Refused, read_picture
from sightline.models.embedders.listing import Done, Listing
from sightline.models.protocols import Embedder, Pixels
from sightline.types import Failure

_CHUNK = 4
NOT_EMBEDDED = Failure("not embedded", "the work was stopped before its turn")
_WORTH_A_PROCESS = 16
"""Pictures whose decoding takes about as long as starting another process for it."""


def embed_files(
    listing: Listing, embedder: Embedder, cache: VectorCache, *, max_pixels: int, workers: int | None = None
) -> int:
    """Make the vectors that the cache lacks; how many were made. A bad picture costs only itself."""
    space = cache.space(embedder)
    todo = listing.plan(space)
    if not todo:
        return 0
    jobs = listing.jobs(side_of(embedder), max_pixels, space)
    lanes = min(workers or cores(), -(-todo // _WORTH_A_PROCESS))
    with progress("embed", todo) as advance:
        batch = _Batch(listing, embedder, cache, advance)
        for job, result in map_in_processes(read_picture, jobs, workers=lanes, chunk=_CHUNK):
            batch.take(job, result)
        batch.flush()
    return batch.made


@dataclass(slots=True)
class _Batch:
    """Pictures that wait for the embedder; the same content under several names waits once."""

    listing: Listing
    embedder: Embedder
    cache: VectorCache
    advance: Advance
    waiting: dict[bytes, Pixels] = field(default_factory=dict)
    numbers: dict[bytes, list[int]] = field(default_factory=dict)
    made: int = 0

    def take(self, job: Job, result: Decoded | AlreadyKnown | Refused | Died) -> None:
        match result:
            case Decoded(sha256, pixels):
                self._wait(job, sha256, pixels)
            case AlreadyKnown(sha256):
                self.listing.keep([Done(job.number, sha256)])
                self.advance(1)
            case Refused(reason, detail):
                self.listing.leave_out(job.number, reason, detail)
                self.advance(1)
            case Died(why):
                self.listing.leave_out(job.number, "unreadable", f"reading it ended the worker process ({why})")
                self.advance(1)

    def _wait(self, job: Job, sha256: bytes, pixels: Pixels) -> None:
        if sha256 not in self.waiting and self.cache.has(sha256, self.embedder):
            self.take(job, AlreadyKnown(sha256))
            return
        self.waiting[sha256] = pixels
        self.numbers.setdefault(sha256, []).append(job.number)
        if len(self.waiting) >= batch_of(self.embedder):
            self.flush()

    def flush(self) -> None:
        """Embed what waits, and keep it; then raise what stopped the embedder, if anything did."""
        keys = list(self.waiting)
        if not keys:
            return
        attempt = attempt_pictures(self.embedder, list(self.waiting.values()))
        good = _keep(self.cache, self.embedder, keys, attempt)
        self.made += len(good)
        self.listing.keep(Done(number, keys[at]) for at in good for number in self.numbers[keys[at]])
        for at, failure in attempt.failures.items():
            for number in self.numbers[keys[at]]:
                self.listing.leave_out(number, failure.kind, failure.message)
        self.advance(sum(map(len, self.numbers.values())))
        self.waiting.clear()
        self.numbers.clear()
        if attempt.stopped is not None:
            raise attempt.stopped


class MadeTexts(NamedTuple):
    """The key of each text, and what became of those that were not in the cache: a failure, or None.

    `stopped` is the budget or the limit that some were not embedded for.
    """

    keys: list[bytes]
    made: Mapping[bytes, Failure | None]
    stopped: StoppedError | None = None


def embed_new_texts(texts: Sequence[str], embedder: Embedder, cache: VectorCache, advance: Advance) -> MadeTexts:
    """Make the vectors that the cache lacks; equal texts are embedded once."""
    keys = [text_key(text) for text in texts]
    by_key = dict(zip(keys, texts, strict=True))
    unique = list(by_key)
    todo = [unique[at] for at in cache.missing(unique, embedder)]
    made: dict[bytes, Failure | None] = {}
    step = batch_of(embedder, texts=True)
    for start in range(0, len(todo), step):
        part = todo[start : start + step]
        attempt = attempt_texts(embedder, [by_key[key] for key in part])
        _keep(cache, embedder, part, attempt)
        made |= {key: attempt.failures.get(at) for at, key in enumerate(part)}
        advance(len(part))
        if isinstance(attempt.stopped, StoppedError):
            return MadeTexts(keys, {key: made.get(key, NOT_EMBEDDED) for key in todo}, attempt.stopped)
        if attempt.stopped is not None:
            raise attempt.stopped
    advance(len(texts) - len(todo))
    return MadeTexts(keys, made)


def _keep(cache: VectorCache, embedder: Embedder, keys: Sequence[bytes], attempt: Attempt) -> list[int]:
    """Put what was made into the cache; its positions."""
    good = [at for at in range(len(keys)) if at not in attempt.failures]
    cut = None if attempt.cut is None else np.asarray(attempt.cut)[good]
    cache.put_many([keys[at] for at in good], attempt.vectors[good], embedder, cut)
    return good
