"""Pictures and texts through an embedder into the vector cache: only what is not there yet, in batches, on all cores.

Texts are the lines of a file or what is at hand, embedded page by page; what gives no vector is listed with the reason.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

import numpy as np

from sightline.config import Config
from sightline.config.settings import ScanSettings
from sightline.corpus.names import path_of, picture_id
from sightline.corpus.walk import FoundFile
from sightline.engine.progress import Advance, progress
from sightline.engine.worker_pool import Died, cores, map_in_processes
from sightline.errors import StoppedError, UserError
from sightline.io.files import PathLike
from sightline.io.jsonl import read_lines
from sightline.models.embedders.base import (
    NO_DIRECTION,
    EmbeddingAttempt,
    attempt_pictures,
    attempt_texts,
    batch_of,
    side_of,
)
from sightline.models.embedders.embedded_files import EmbeddedFile, Listing, SkippedInput
from sightline.models.embedders.pixels import (
    AlreadyKnown,
    Decoded,
    DecodeJob,
    DecodeRefused,
    EmbeddedPicture,
    read_picture,
)
from sightline.models.embedders.session import PAGE, EmbeddedPages, EmbedderSession
from sightline.models.embedders.vector_cache import VectorCache, text_key
from sightline.models.pictures import is_web
from sightline.models.protocols import Embedder, Pixels, Vectors
from sightline.types import Failure, Picture

if TYPE_CHECKING:
    from sightline.models.embedders.jpeg_batches import JpegEmbedder

_CHUNK = 4
NOT_EMBEDDED = Failure("not embedded", "the work was stopped before its turn")
_WORTH_A_PROCESS = 16
"""Pictures whose decoding takes about as long as starting another process for it."""
Numbered: TypeAlias = tuple[int, str | SkippedInput]
"""A text's number from 1, and the text or why it is none."""
_KEY_BYTES = 32
_ROOT = Path("/")  # Paths in the listing are absolute.


def embed_files(
    listing: Listing, session: EmbedderSession, config: Config, part: tuple[int, int] | None = None
) -> tuple[int, StoppedError | None]:
    """Make the vectors that the cache lacks: how many were made, and what stopped it, if anything did.

    A bad picture costs only itself; after a stop, whatever has no vector is left out of the listing. Where it is a
    `part` of a larger job, progress is that of the job: (done before, total).
    """
    try:
        return _embed_files(listing, session, config.scan, part), None
    except StoppedError as stopped:
        space = session.cache.space(session.embedder)
        listing.leave_out_rest(space, NOT_EMBEDDED.kind, NOT_EMBEDDED.message)
        return 0, stopped


def _embed_files(
    listing: Listing, session: EmbedderSession, settings: ScanSettings, part: tuple[int, int] | None
) -> int:
    embedder, cache = session.embedder, session.cache
    space = cache.space(embedder)
    todo = listing.plan(space)
    if not todo:
        return 0
    done, total = part or (0, todo)
    with progress("embed", total, done=done) as advance:
        batch = _Batch(listing, embedder, cache, advance)
        if session.spreads:
            from sightline.models.embedders.cluster import embed_on_cluster

            for pairs in embed_on_cluster(listing.jobs(side_of(embedder), settings.max_pixels, None), session):
                batch.keep(pairs)
            return batch.made
        if getattr(embedder, "reads_jpegs", False):
            from sightline.models.embedders.jpeg_batches import embed_jpegs

            batch.made = embed_jpegs(listing, cast("JpegEmbedder", embedder), cache, settings, advance)
            todo = listing.plan(cache.space(embedder))
        jobs = listing.jobs(side_of(embedder), settings.max_pixels, space)
        lanes = min(settings.workers or cores(), -(-todo // _WORTH_A_PROCESS))
        for job, result in map_in_processes(read_picture, jobs, workers=lanes, chunk=_CHUNK):
            batch.take(job, result)
        batch.flush()
    if not (space and space.rows) and not batch.made:
        _refuse_no_direction(embedder, "pictures", batch.failures)
    return batch.made


def _refuse_no_direction(embedder: Embedder, what: str, failures: Sequence[Failure]) -> None:
    """An embedder that never gave a vector, and now only such as have no direction, is broken; inputs are not."""
    if failures and all(failure == NO_DIRECTION for failure in failures):
        raise UserError(
            f"The embedder {embedder.name} gave no usable vector for any of {len(failures):,} {what}: "
            "all that it returned is zero or not finite (NaN, infinity).",
            "Correct the embedder, or choose another with --embedder (embedder=).",
        )


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
    failures: list[Failure] = field(default_factory=list)

    def take(self, job: DecodeJob, result: Decoded | AlreadyKnown | DecodeRefused | Died) -> None:
        match result:
            case Decoded(sha256, pixels):
                self._wait(job, sha256, pixels)
            case AlreadyKnown(sha256):
                self.listing.keep([EmbeddedFile(job.number, sha256)])
                self.advance(1)
            case DecodeRefused(reason, detail):
                self.listing.leave_out(job.number, reason, detail)
                self.advance(1)
            case Died(why):
                self.listing.leave_out(job.number, "unreadable", f"reading it ended the worker process ({why})")
                self.advance(1)

    def keep(self, pairs: Iterable[tuple[DecodeJob, Any]]) -> None:
        """Keep what a worker of a cluster made of some files."""
        made = [(job.number, found) for job, found in pairs if isinstance(found, EmbeddedPicture)]
        new = {found.sha256: found.vector for _, found in made}
        if new:
            self.cache.put_many(list(new), np.stack(list(new.values())), self.embedder)
            self.listing.keep(EmbeddedFile(number, found.sha256) for number, found in made)
        self.made += len(new)
        self.advance(len(made))
        for job, found in pairs:
            if not isinstance(found, EmbeddedPicture):
                self.take(job, found)

    def _wait(self, job: DecodeJob, sha256: bytes, pixels: Pixels) -> None:
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
        self.listing.keep(EmbeddedFile(number, keys[at]) for at in good for number in self.numbers[keys[at]])
        self.failures += attempt.failures.values()
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
    space = cache.space(embedder)
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
    if not (space and space.rows) and None not in made.values():
        _refuse_no_direction(embedder, "texts", [failure for failure in made.values() if failure is not None])
    advance(len(texts) - len(todo))
    return MadeTexts(keys, made)


def _keep(cache: VectorCache, embedder: Embedder, keys: Sequence[bytes], attempt: EmbeddingAttempt) -> list[int]:
    """Put what was made into the cache; its positions."""
    good = [at for at in range(len(keys)) if at not in attempt.failures]
    cut = None if attempt.cut is None else np.asarray(attempt.cut)[good]
    cache.put_many([keys[at] for at in good], attempt.vectors[good], embedder, cut)
    return good


def read_texts(path: PathLike) -> Iterator[Numbered]:
    """One text a line; a blank line and one that is not UTF-8 are left out, and the numbers of the others stay."""
    last = 0
    for number, line in read_lines(path):
        for blank in range(last + 1, number):
            yield blank, _empty(blank)
        last = number
        try:
            yield number, line.decode().rstrip("\r\n")
        except UnicodeDecodeError:
            yield number, SkippedInput(str(number), "not UTF-8", "the line is in another encoding")


def number_texts(texts: Iterable[str]) -> Iterator[Numbered]:
    """Texts at hand; a blank one is left out."""
    for number, text in enumerate(texts, 1):
        yield number, text if text.strip() else _empty(number)


def _empty(number: int) -> SkippedInput:
    return SkippedInput(str(number), "empty", "there is no text in it")


@dataclass(slots=True)
class TextRun:
    """What became of the texts of one run: some forty bytes for each."""

    session: EmbedderSession
    left_out: list[SkippedInput] = field(default_factory=list)
    made: int = 0
    cut: int | None = 0
    stopped: StoppedError | None = None
    "By what the work was stopped, if it was; nothing more is taken then."
    _numbers: array[int] = field(default_factory=lambda: array("q"))
    _keys: bytearray = field(default_factory=bytearray)

    def take(self, page: list[Numbered], advance: Advance) -> None:
        """Embed a page of texts."""
        self.left_out += [text for _, text in page if isinstance(text, SkippedInput)]
        texts = [(number, text) for number, text in page if isinstance(text, str)]
        embedder, cache = self.session.embedder, self.session.cache
        keys, made, self.stopped = embed_new_texts([text for _, text in texts], embedder, cache, advance)
        for (number, _), key in zip(texts, keys, strict=True):
            failure = made.get(key)
            if failure is not None:
                self.left_out.append(SkippedInput(str(number), failure.kind, failure.message))
                continue
            self._numbers.append(number)
            self._keys += key
        self.made += sum(failure is None for failure in made.values())
        cut = cache.count_cut(list(dict.fromkeys(keys)), embedder)
        self.cut = None if cut is None or self.cut is None else self.cut + cut

    @property
    def content(self) -> EmbeddedPages:
        """All that was embedded."""
        longest = len(str(self._numbers[-1])) if self._numbers else 0
        return EmbeddedPages(self._pages, len(self._numbers), longest)

    def _pages(self) -> Iterator[list[tuple[str, bytes]]]:
        for start in range(0, len(self._numbers), PAGE):
            numbers = self._numbers[start : start + PAGE]
            yield [(str(number), self._key(start + at)) for at, number in enumerate(numbers)]

    def _key(self, at: int) -> bytes:
        return bytes(self._keys[at * _KEY_BYTES : (at + 1) * _KEY_BYTES])


@dataclass(frozen=True, slots=True)
class Embedding:
    """Under which key the vector of each thing is kept, or why it has none; `cut` texts were longer than is read.

    `cut` is None where nobody knows. `stopped` is what ended the work early, if anything did.
    """

    keys: Mapping[str, bytes] = field(default_factory=dict)
    failures: Mapping[str, Failure] = field(default_factory=dict)
    made: int = 0
    cut: int | None = 0
    stopped: StoppedError | None = None

    def vectors(self, names: Sequence[str], session: EmbedderSession) -> Vectors:
        """One row for each of these, all of which have a vector."""
        return session.cache.get_many([self.keys[name] for name in names], session.embedder).vectors


def embed_listed(pictures: Iterable[Picture], session: EmbedderSession, config: Config) -> Embedding:
    """Vectors of pictures on this machine; the same file under several ids is read once."""
    failures: dict[str, Failure] = {}
    by_path: dict[bytes, tuple[FoundFile, list[str]]] = {}
    for picture in pictures:
        found = _file(picture)
        if isinstance(found, Failure):
            failures[picture.id] = found
        else:
            by_path.setdefault(found.path, (found, []))[1].append(picture.id)
    listing = Listing(session.cache, _ROOT, (found for found, _ in by_path.values()))
    made, stopped = embed_files(listing, session, config)
    why = {left.id: left for left in listing.left_out()}
    keys: dict[str, bytes] = {}
    for (_, key, reason), (found, ids) in zip(listing.outcomes(), by_path.values(), strict=True):
        left = why.get(picture_id(found.path))
        for id_ in ids:
            if key is not None:
                keys[id_] = key
            else:
                failures[id_] = Failure(reason or "unreadable", "" if left is None else left.detail)
    return Embedding(keys, failures, made, 0, stopped)


def embed_words(texts: Iterable[str], session: EmbedderSession) -> Embedding:
    """Vectors of texts; those longer than the model reads are cut by it, and counted."""
    wanted = list(dict.fromkeys(texts))
    with progress("texts", len(wanted)) as advance:
        made = embed_new_texts(wanted, session.embedder, session.cache, advance)
    failures = {
        text: failed for text, key in zip(wanted, made.keys, strict=True) if (failed := made.made.get(key)) is not None
    }
    keys = {text: key for text, key in zip(wanted, made.keys, strict=True) if text not in failures}
    cut = session.cache.count_cut(list(keys.values()), session.embedder) if keys else 0
    new = sum(failed is None for failed in made.made.values())
    return Embedding(keys, failures, new, cut, made.stopped)


def todo_files(pictures: Iterable[Picture]) -> Iterator[Path]:
    """The files that would be read."""
    for picture in pictures:
        if not isinstance(_file(picture), Failure):
            yield path_of(picture.uri)


def _file(picture: Picture) -> FoundFile | Failure:
    if is_web(picture.uri):
        return Failure("not on this machine", f"{picture.uri} would have to be downloaded first")
    path = os.fsencode(path_of(picture.uri).absolute())
    try:
        status = os.stat(path)  # noqa: PTH116 (bytes, which pathlib does not take)
    except OSError as error:
        return Failure("missing", f"{picture.uri}: {error.strerror}")
    return FoundFile(path, status.st_size, status.st_mtime_ns, b"")
