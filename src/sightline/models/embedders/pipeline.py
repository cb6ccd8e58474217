"""Pictures of a folder, or texts, as vectors: what `embed` does."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sightline.calls.session import CallOptions
from sightline.config import Config
from sightline.corpus.names import picture_id
from sightline.corpus.scan import checked_places
from sightline.corpus.walk import FolderWalk
from sightline.engine.progress import advancing, progress
from sightline.errors import StoppedError, UserError
from sightline.io.files import PathLike
from sightline.models.embedders.bulk_embedding import Numbered, TextRun, embed_files, number_texts, read_texts
from sightline.models.embedders.embedded_files import Listing, SkippedInput
from sightline.models.embedders.session import PAGE, EmbeddedPages, EmbedderSession
from sightline.models.embedders.vector_cache import text_key
from sightline.models.embedders.vector_file import EmbeddedVectors
from sightline.models.protocols import Embedder

if TYPE_CHECKING:
    from sightline.calls.plan import CostPlan

__all__ = ["EmbeddedVectors", "embed", "embed_pictures", "embed_texts", "plan_pictures", "plan_texts"]


def embed(source: PathLike | Iterable[str], **options: Any) -> EmbeddedVectors:
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
    asking: CallOptions | None = None,
    options: Mapping[str, Any] | None = None,
) -> EmbeddedVectors:
    """Vectors of all pictures of a folder, which is never written to; those made before come from the workspace.

    Killed at any moment, the next call goes on where this one was. A budget in `asking` that is used up raises
    `StoppedError`, after what was embedded until then has been written to `out`.
    """
    config = config or Config()
    root, place = _checked_root(folder, workspace)
    with EmbedderSession(
        embedder, place, config=config, local_only=local_only, asking=asking, options=options
    ) as session:
        session.tell_who_sees(f"the pictures of {root}")
        walk = FolderWalk(root, hidden=config.scan.hidden)
        listing = _listing(session, walk, root, limit)
        made, stopped = embed_files(listing, session, config)
        left_out = (*listing.left_out(), *_unreachable(walk))
        count, longest = listing.embedded()
        content = EmbeddedPages(lambda: listing.pages(PAGE), count, longest)
        _refuse_nothing(count, f"{root} holds no picture", left_out, stopped)
        return _unless_stopped(session.finish(content, out, left_out, made, 0, "picture"), stopped)


def embed_texts(
    texts: PathLike | Iterable[str],
    *,
    embedder: str | Embedder | None = None,
    out: PathLike | None = None,
    workspace: PathLike = ".sightline",
    config: Config | None = None,
    limit: int | None = None,
    local_only: bool = False,
    asking: CallOptions | None = None,
    options: Mapping[str, Any] | None = None,
) -> EmbeddedVectors:
    """Vectors of texts: the lines of a file (also gzipped), or as given; ids are their numbers, from 1.

    A budget in `asking` that is used up raises `StoppedError`, as for pictures.
    """
    numbered = _numbered(texts, limit)
    place, config = Path(workspace).expanduser().absolute(), config or Config()
    with EmbedderSession(
        embedder, place, config=config, local_only=local_only, asking=asking, options=options
    ) as session:
        run = TextRun(session)
        with progress("embed", None) as advance:
            while run.stopped is None and (page := list(islice(numbered, PAGE))):
                run.take(page, advance)
        content, left_out = run.content, tuple(run.left_out)
        _refuse_nothing(content.count, "there is no text", left_out, run.stopped)
        return _unless_stopped(session.finish(content, out, left_out, run.made, run.cut, "text"), run.stopped)


def plan_pictures(
    folder: PathLike,
    *,
    embedder: str | None = None,
    workspace: PathLike = ".sightline",
    config: Config | None = None,
    limit: int | None = None,
    asking: CallOptions | None = None,
    options: Mapping[str, Any] | None = None,
) -> CostPlan:
    """What `embed_pictures` would take; nothing is sent, no key is needed, and nothing is embedded."""
    config = config or Config()
    root, place = _checked_root(folder, workspace)
    with EmbedderSession(embedder, place, config=config, asking=_planning(asking), options=options) as session:
        listing = _listing(session, FolderWalk(root, hidden=config.scan.hidden), root, limit)
        space = session.cache.space(session.embedder)
        todo = listing.plan(space)
        files = (Path(os.fsdecode(job.path)) for job in listing.jobs(1, config.scan.max_pixels, space))
        return _plan(session, "plan_pictures", files, listing.count - todo)


def plan_texts(
    texts: PathLike | Iterable[str],
    *,
    embedder: str | None = None,
    workspace: PathLike = ".sightline",
    config: Config | None = None,
    limit: int | None = None,
    asking: CallOptions | None = None,
    options: Mapping[str, Any] | None = None,
) -> CostPlan:
    """What `embed_texts` would take; nothing is sent, no key is needed, and nothing is embedded."""
    place, config = Path(workspace).expanduser().absolute(), config or Config()
    with EmbedderSession(embedder, place, config=config, asking=_planning(asking), options=options) as session:
        texts_of = {text_key(text): text for _, text in _numbered(texts, limit) if isinstance(text, str)}
        keys = list(texts_of)
        todo = [texts_of[keys[at]] for at in session.cache.missing(keys, session.embedder)]
        return _plan(session, "plan_texts", todo, len(keys) - len(todo))


def _planning(asking: CallOptions | None) -> CallOptions:
    return replace(asking or CallOptions(), plan=True)


def _plan(session: EmbedderSession, how: str, todo: Iterable[Any], known: int) -> CostPlan:
    """The plan of an embedder that asks a server; any other asks nobody, and costs nothing."""
    from sightline.calls.estimate import Range
    from sightline.calls.plan import CostPlan, StagePlan

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


def _checked_root(folder: PathLike, workspace: PathLike) -> tuple[Path, Path]:
    root, place = checked_places(Path(folder), Path(workspace))
    if not root.is_dir():
        raise UserError(f"there is no folder {root}.", "check the path; nothing was embedded")
    return root, place


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
