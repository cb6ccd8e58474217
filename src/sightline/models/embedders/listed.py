"""Vectors of listed pictures and of texts: each made once, kept in the workspace, and a reason where there is none."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sightline.config import Config
from sightline.corpus.names import path_of, picture_id
from sightline.corpus.walk import Found
from sightline.engine import progress
from sightline.errors import StoppedError
from sightline.models.embedders.listing import Listing
from sightline.models.embedders.session import Session
from sightline.models.embedders.stream import NOT_EMBEDDED, embed_files, embed_new_texts
from sightline.models.pictures import is_web
from sightline.models.protocols import Vectors
from sightline.types import Failure, Picture

_ROOT = Path("/")  # Paths in the listing are absolute.


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

    def vectors(self, names: Sequence[str], session: Session) -> Vectors:
        """One row for each of these, all of which have a vector."""
        return session.cache.get_many([self.keys[name] for name in names], session.embedder).vectors


def embed_listed(pictures: Iterable[Picture], session: Session, config: Config) -> Embedding:
    """Vectors of pictures on this machine; the same file under several ids is read once."""
    failures: dict[str, Failure] = {}
    by_path: dict[bytes, tuple[Found, list[str]]] = {}
    for picture in pictures:
        found = _file(picture)
        if isinstance(found, Failure):
            failures[picture.id] = found
        else:
            by_path.setdefault(found.path, (found, []))[1].append(picture.id)
    listing = Listing(session.cache, _ROOT, (found for found, _ in by_path.values()))
    made, stopped = 0, None
    try:
        made = embed_files(
            listing,
            session.embedder,
            session.cache,
            max_pixels=config.scan.max_pixels,
            workers=config.scan.workers,
        )
    except StoppedError as error:
        stopped = error
        listing.leave_out_rest(session.cache.space(session.embedder), NOT_EMBEDDED.kind, NOT_EMBEDDED.message)
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


def embed_words(texts: Iterable[str], session: Session) -> Embedding:
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


def _file(picture: Picture) -> Found | Failure:
    if is_web(picture.uri):
        return Failure("not on this machine", f"{picture.uri} would have to be downloaded first")
    path = os.fsencode(path_of(picture.uri).absolute())
    try:
        status = os.stat(path)  # noqa: PTH116 (bytes, which pathlib does not take)
    except OSError as error:
        return Failure("missing", f"{picture.uri}: {error.strerror}")
    return Found(path, status.st_size, status.st_mtime_ns, b"")
