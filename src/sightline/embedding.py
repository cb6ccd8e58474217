"""Pictures of a folder, or texts, as vectors: what `embed` does."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from sightline.config import Config
from sightline.corpus.names import picture_id
from sightline.corpus.scan import checked_places
from sightline.corpus.walk import Found, Walk
from sightline.engine import Advance, progress
from sightline.errors import UserError
from sightline.io import PathLike
from sightline.models.embedders.embedded import Embedded
from sightline.models.embedders.listing import LeftOut, Listing
from sightline.models.embedders.session import PAGE, Content, Session
from sightline.models.embedders.stream import embed_files
from sightline.models.embedders.texts import TextRun, number_texts, read_texts
from sightline.models.protocols import Embedder

__all__ = ["Embedded", "embed", "embed_pictures", "embed_texts"]


def embed(source: PathLike | Iterable[str], **options: Any) -> Embedded:
    """Embed a folder of pictures, a file with one text a line, or texts; see `embed_pictures` and `embed_texts`."""
    if isinstance(source, str | os.PathLike) and Path(source).expanduser().is_dir():
        return embed_pictures(source, **options)
    return embed_texts(source, **options)


def embed_pictures(
    folder: PathLike,
    *,
    embedder: str | Embedder | None = None,
    out: PathLike | None = None,
    workspace: PathLike = ".sightline",
    config: Config | None = None,
    limit: int | None = None,
    local_only: bool = False,
    options: Mapping[str, Any] | None = None,
) -> Embedded:
    """Vectors of all pictures of a folder, which is never written to; those made before come from the workspace.

    Killed at any moment, the next call goes on where this one was.
    """
    config = config or Config()
    root, place = checked_places(Path(folder), Path(workspace))
    if not root.is_dir():
        raise UserError(f"there is no folder {root}.", "check the path; nothing was embedded")
    with Session(embedder, place, config=config, local_only=local_only, options=options) as session:
        session.tell_who_sees(f"the pictures of {root}")
        walk = Walk(root, hidden=config.scan.hidden)
        with progress("look", None) as advance:
            listing = Listing(session.cache, root, islice(_counted(walk, advance), limit))
        settings = config.scan
        made = embed_files(
            listing, session.embedder, session.cache, max_pixels=settings.max_pixels, workers=settings.workers
        )
        left_out = (*listing.left_out(), *_unreachable(walk))
        count, longest = listing.embedded()
        if not count:
            raise UserError(f"{root} holds no picture that could be embedded{_why(left_out)}.", "nothing was written")
        content = Content(lambda: listing.pages(PAGE), count, longest)
        return session.finish(content, out, left_out, made, 0)


def embed_texts(
    texts: PathLike | Iterable[str],
    *,
    embedder: str | Embedder | None = None,
    out: PathLike | None = None,
    workspace: PathLike = ".sightline",
    config: Config | None = None,
    limit: int | None = None,
    local_only: bool = False,
    options: Mapping[str, Any] | None = None,
) -> Embedded:
    """Vectors of texts: the lines of a file (also gzipped), or as given; ids are their numbers, from 1."""
    numbered = read_texts(texts) if isinstance(texts, str | os.PathLike) else number_texts(texts)
    place = Path(workspace).expanduser().absolute()
    with Session(embedder, place, config=config or Config(), local_only=local_only, options=options) as session:
        run = TextRun(session)
        rest = islice(numbered, limit)
        with progress("embed", None) as advance:
            while page := list(islice(rest, PAGE)):
                run.take(page, advance)
        content, left_out = run.content, tuple(run.left_out)
        if not content.count:
            raise UserError(f"there is no text that could be embedded{_why(left_out)}.", "nothing was written")
        return session.finish(content, out, left_out, run.made, run.cut)


def _counted(walk: Walk, advance: Advance) -> Iterator[Found]:
    for found in walk:
        advance(1)
        yield found


def _unreachable(walk: Walk) -> Iterator[LeftOut]:
    return (LeftOut(picture_id(path), "unreachable", "it can't be looked into") for path in walk.unreachable)


def _why(left_out: Sequence[LeftOut]) -> str:
    reasons = Counter(item.reason for item in left_out)
    return f" ({', '.join(f'{count:,} {reason}' for reason, count in reasons.most_common())})" if reasons else ""
