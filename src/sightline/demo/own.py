"""`demo --pictures`: your own pictures scanned, embedded, searched, and shown on one page; the folder is only read.

The demo writes to a folder of its own, and refuses one that holds anything else.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from sightline.calls.session import Session
from sightline.config import Config
from sightline.corpus.scan import ScanSummary
from sightline.corpus.view import open_corpus
from sightline.demo.page import write_page
from sightline.demo.vision import DemoFindings, queries, reads_words, see
from sightline.errors import UserError
from sightline.io.files import PathLike, write_whole
from sightline.models.embedders.base import close
from sightline.models.embedders.registry import find_embedder
from sightline.models.photos.embedder import Photos
from sightline.pictures import scan
from sightline.reports.sections import unique_slugs
from sightline.retrieval.search import search
from sightline.types import Corpus, Failure, Picture

_MARK = ".sightline-demo"
MOST = 1000
"""Files that are taken when nobody says how many."""
_SAMPLE = 18
_HITS = 6


def own_folder(out: Path, seed: int) -> None:
    """An empty folder, or one that an earlier demo with the same seed made; nobody else's."""
    mark = out / _MARK
    if out.exists() and (not out.is_dir() or (any(out.iterdir()) and not mark.is_file())):
        raise UserError(f"{out} holds other things; the demo leaves it as it is.", "choose another place: --out DIR")
    if mark.is_file() and mark.read_text("utf-8") != str(seed):
        raise UserError(f"{out} holds a demo with another seed.", "choose another place: --out DIR")
    try:
        out.mkdir(parents=True, exist_ok=True)
        write_whole(mark, str(seed).encode())
    except OSError as error:
        raise UserError(f"{out} can't be written: {error.strerror}.", "choose another place: --out DIR") from None


@dataclass(frozen=True, slots=True)
class OwnDemo:
    """What was found in one's own pictures, and the page that shows it."""

    page: Path
    workspace: Path
    found: DemoFindings


def run_own_demo(
    folder: PathLike,
    pictures: PathLike,
    *,
    config: Config | None = None,
    limit: int | None = None,
    seed: int = 0,
    local_only: bool = False,
) -> OwnDemo:
    """Look at the first pictures of a folder, as far as that goes without a benchmark, and write a page about them."""
    config, limit, out = config or Config(), limit or MOST, Path(folder)
    root = Path(pictures).expanduser().absolute()
    workspace = out / _workspace_name(root)
    if not root.is_dir():
        raise UserError(f"there is no folder {root}.", "check the path after --pictures")
    if out.resolve().is_relative_to(root.resolve()):
        raise UserError(f"{out} lies in the pictures' folder, where nothing is ever written.", "choose --out elsewhere")
    own_folder(out, seed)
    # The embedder first: what is missing for it is said before an hour of reading pictures, not after.
    session = Session(workspace, config, local_only=local_only)
    embedder = find_embedder(session=session)
    try:
        photos = embedder if isinstance(embedder, Photos) else Photos(local_only=local_only)
        scanned = scan(root, limit=limit, session=session)
        if not scanned.pictures:
            raise UserError(f"{root} holds no picture that can be read{_skipped(scanned)}.", "choose another folder")
        corpus = open_corpus(workspace)
        looked_at = list(see(_sample(corpus), photos, config.annotate))
        seen = [one for one in looked_at if not isinstance(one, Failure)]
        find = partial(search, k=_HITS, embedder=embedder, limit=limit, session=session)
        searches = [(query, find(query.text, root)) for query in queries(seen)]
    finally:
        close(embedder)
    groups = tuple(corpus.groups_of("duplicate") + corpus.groups_of("burst") + corpus.groups_of("event"))
    found = DemoFindings(
        root=root,
        scanned=scanned,
        limit=limit,
        stayed_here=embedder is photos,
        reads_words=reads_words(),
        seen=tuple(seen),
        unread=len(looked_at) - len(seen),
        searches=tuple(searches),
        groups=groups,
        pictures=corpus.pictures,
    )
    return OwnDemo(write_page(found, out / "pictures.html"), workspace, found)


def _workspace_name(root: Path) -> str:
    """One for each folder of pictures, so that a second folder's demo does not count the first one's pictures."""
    digest = hashlib.sha256(str(root).encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return f"workspace-{unique_slugs([root.name])[0]}-{digest}"


def _sample(corpus: Corpus) -> list[Picture]:
    """Pictures spread evenly over the corpus, copies left out."""
    copies = {id_ for group in corpus.groups_of("duplicate") for id_ in group.pictures[1:]}
    ids = [id_ for id_ in corpus.pictures if id_ not in copies]
    return [corpus.pictures[id_] for id_ in _spread(ids, _SAMPLE)]


def _spread(ids: Sequence[str], count: int) -> list[str]:
    count = min(count, len(ids))
    return [ids[(2 * number + 1) * len(ids) // (2 * count)] for number in range(count)]


def _skipped(scanned: ScanSummary) -> str:
    listed = ", ".join(f"{count:,} {reason}" for reason, count in scanned.skipped.items())
    return f" ({listed})" if listed else ""
