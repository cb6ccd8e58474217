"""Pictures of a folder, or texts, as vectors: what `embed` does."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from sightline.calls.estimate import Range
from sightline.calls.plan import CostPlan, DryRunError, StagePlan, priced
from sightline.calls.session import Session
from sightline.config import Config
from sightline.corpus.names import picture_id
from sightline.corpus.scan import checked_places
from sightline.corpus.walk import FolderWalk
from sightline.engine.progress import advancing, progress
from sightline.errors import StoppedError, UserError
from sightline.io.files import PathLike, as_path
from sightline.models.embedders.bulk_embedding import Numbered, TextRun, embed_files, number_texts, read_texts
from sightline.models.embedders.embedded_files import Listing, SkippedInput
from sightline.models.embedders.session import PAGE, EmbeddedPages, EmbedderSession
from sightline.models.embedders.vector_cache import text_key
from sightline.models.embedders.vector_file import EmbeddedVectors
from sightline.models.protocols import Embedder

__all__ = ["EmbeddedVectors", "embed", "embed_pictures", "embed_texts"]


@priced
def embed(
    source: PathLike | Iterable[str],
    *,
    embedder: str | Embedder | None = None,
    out: PathLike | None = None,
    options: Mapping[str, Any] | None = None,
    limit: int | None = None,
    workspace: PathLike | None = None,
    session: Session | None = None,
) -> EmbeddedVectors:
    """Turn pictures or texts into vectors; those made before come from the workspace.

    Stopped at any moment, the next call goes on where this one was. A budget that is used up raises `StoppedError`,
    after what was embedded until then has been written to `out`.

    Parameters
    ----------
    source:
        A folder of pictures, which is never written to; or texts: the lines of a file (also gzipped), or a list.
    embedder:
        The embedder: a name such as "photos" or "openai/MODEL", or an object; the configured one, else
        "photos", when not given.
    out:
        The .npz file to write, with `ids` and `vectors`; the vectors are in the result when not given.
    options:
        Options of the embedder, such as {"device": "cpu"}.
    limit:
        Take only the first so many files or texts.
    workspace, session:
        Where it works and how models are called.

    Returns
    -------
    EmbeddedVectors
        The ids (paths under the folder, or numbers of texts from 1) with their vectors, and what was left out.

    Examples
    --------
    >>> import sightline
    >>> found = sightline.embed(["a red circle", "a blue square"], workspace="ws")
    >>> found.count
    2
    """
    session = Session.of(session, workspace)
    if isinstance(source, bytes | Mapping) or not isinstance(source, str | os.PathLike | Iterable):
        raise UserError(f"There is nothing to embed in {source!r:.60}.", "Give a folder, a file of texts, or texts.")
    if isinstance(source, Collection) and any(not isinstance(wrong := text, str) for text in source):
        raise UserError(f"{wrong!r:.60} is not a text.", "Give a list of strings.")
    if isinstance(source, str | os.PathLike) and as_path(source, "a folder or a file of texts").is_dir():
        return embed_pictures(source, embedder=embedder, out=out, options=options, limit=limit, session=session)
    return embed_texts(source, embedder=embedder, out=out, options=options, limit=limit, session=session)


def embed_pictures(
    folder: PathLike,
    *,
    embedder: str | Embedder | None = None,
    out: PathLike | None = None,
    options: Mapping[str, Any] | None = None,
    limit: int | None = None,
    workspace: PathLike | None = None,
    session: Session | None = None,
) -> EmbeddedVectors:
    """Vectors of all pictures of a folder: `embed` for what has to be one."""
    session = Session.of(session, workspace)
    config, root = session.config, _checked_root(folder, session.workspace)
    with EmbedderSession(embedder, session, options) as embedding:
        walk = FolderWalk(root, hidden=config.scan.hidden, follow_links=config.scan.follow_links)
        if session.calls.plan:
            raise DryRunError(_plan_pictures(_listing(embedding, walk, root, limit), embedding, config))
        embedding.tell_who_sees(f"the pictures of {root}")
        listing = _listing(embedding, walk, root, limit)
        made, stopped = embed_files(listing, embedding, config)
        left_out = (*listing.left_out(), *_unreachable(walk))
        count, longest = listing.embedded()
        content = EmbeddedPages(lambda: listing.pages(PAGE), count, longest)
        _refuse_nothing(count, f"{root} holds no picture", left_out, stopped)
        return _unless_stopped(embedding.finish(content, out, left_out, made, 0, "picture"), stopped)


def embed_texts(
    texts: PathLike | Iterable[str],
    *,
    embedder: str | Embedder | None = None,
    out: PathLike | None = None,
    options: Mapping[str, Any] | None = None,
    limit: int | None = None,
    workspace: PathLike | None = None,
    session: Session | None = None,
) -> EmbeddedVectors:
    """Vectors of texts: `embed` for what has to be the lines of a file, or a list."""
    session, numbered = Session.of(session, workspace), _numbered(texts, limit)
    with EmbedderSession(embedder, session, options) as embedding:
        if session.calls.plan:
            raise DryRunError(_plan_texts(numbered, embedding))
        run = TextRun(embedding)
        with progress("embed", None) as advance:
            while run.stopped is None and (page := list(islice(numbered, PAGE))):
                run.take(page, advance)
        content, left_out = run.content, tuple(run.left_out)
        _refuse_nothing(content.count, "there is no text", left_out, run.stopped)
        return _unless_stopped(embedding.finish(content, out, left_out, run.made, run.cut, "text"), run.stopped)


def _plan_pictures(listing: Listing, embedding: EmbedderSession, config: Config) -> CostPlan:
    space = embedding.cache.space(embedding.embedder)
    todo = listing.plan(space)
    files = (Path(os.fsdecode(job.path)) for job in listing.jobs(1, config.scan.max_pixels, space))
    return _plan(embedding, "plan_pictures", files, listing.count - todo)


def _plan_texts(numbered: Iterable[Numbered], embedding: EmbedderSession) -> CostPlan:
    texts_of = {text_key(text): text for _, text in numbered if isinstance(text, str)}
    keys = list(texts_of)
    todo = [texts_of[keys[at]] for at in embedding.cache.missing(keys, embedding.embedder)]
    return _plan(embedding, "plan_texts", todo, len(keys) - len(todo))


def _plan(session: EmbedderSession, how: str, todo: Iterable[Any], known: int) -> CostPlan:
    """The plan of an embedder that asks a server; any other asks nobody, and costs nothing."""
    name, asks = session.embedder.name, getattr(session.embedder, how, None)
    if asks is None:
        nothing = Range(0.0, 0.0, 0.0)
        return CostPlan(
            (StagePlan("embed", name, 0, known, nothing, nothing, nothing, None, "a model on this machine"),)
        )
    planned: StagePlan = asks(todo)
    return CostPlan((replace(planned, model=name, journaled=known),))


def _refuse_nothing(count: int, nothing: str, left_out: Sequence[SkippedInput], stopped: StoppedError | None) -> None:
    if count:
        return
    if stopped is not None:
        raise stopped
    raise UserError(f"{nothing} that could be embedded{_why(left_out)}.", "nothing was written")


def _unless_stopped(done: EmbeddedVectors, stopped: StoppedError | None) -> EmbeddedVectors:
    """What was done, or, when it is only a part, the error that says where the part is."""
    if stopped is None:
        return done
    where = "in the workspace" if done.path is None else f"in {done.path}"
    raise StoppedError(f"{stopped.message} {done.count:,} vectors are {where}.", stopped.fix)


def _checked_root(folder: PathLike, workspace: Path) -> Path:
    root, _ = checked_places(as_path(folder, "a folder of pictures"), workspace)
    if not root.is_dir():
        raise UserError(f"there is no folder {root}.", "check the path; nothing was embedded")
    return root


def _listing(session: EmbedderSession, walk: FolderWalk, root: Path, limit: int | None) -> Listing:
    with progress("look", None) as advance:
        return Listing(session.cache, root, islice(advancing(walk, advance), limit))


def _numbered(texts: PathLike | Iterable[str], limit: int | None) -> Iterator[Numbered]:
    return islice(read_texts(texts) if isinstance(texts, str | os.PathLike) else number_texts(texts), limit)


def _unreachable(walk: FolderWalk) -> Iterator[SkippedInput]:
    return (SkippedInput(picture_id(path), "unreachable", "it can't be looked into") for path in walk.unreachable)


def _why(left_out: Sequence[SkippedInput]) -> str:
    reasons = Counter(item.reason for item in left_out)
    return f" ({', '.join(f'{count:,} {reason}' for reason, count in reasons.most_common())})" if reasons else ""
