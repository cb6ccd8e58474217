"""The index of a folder, a workspace or a benchmark: what `index` does."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from sightline.benchmark.files import ANNOTATIONS, HEADER
from sightline.benchmark.folder import read_benchmark
from sightline.benchmark.problems import stop
from sightline.benchmark.table import TableSource
from sightline.calls.file_map import file_map
from sightline.calls.session import Session
from sightline.corpus.scan import checked_places, scan_folder
from sightline.errors import UserError
from sightline.io.files import PathLike, optional_path
from sightline.models.protocols import Embedder
from sightline.retrieval.index.build import BuiltIndex, Parts, build_index
from sightline.retrieval.index.content import Content
from sightline.retrieval.index.manifest import (
    DEFAULT_INDEX,
    WORKSPACE,
    index_folder,
    read_manifest,
    refuse_takeover,
    safe_name,
)
from sightline.retrieval.vector_stores.base import DamagedError
from sightline.types import Annotation, Benchmark

__all__ = ["index", "read_annotations"]


def index(
    folder: PathLike | None = None,
    *,
    name: str | None = None,
    embedder: str | Embedder | None = None,
    backend: str | None = None,
    annotations: PathLike | None = None,
    parts: Parts | None = None,
    rebuild: bool = False,
    limit: int | None = None,
    workspace: PathLike | None = None,
    session: Session | None = None,
) -> BuiltIndex:
    """Build an index in the workspace, or bring it up to date: only what changed is embedded.

    Parameters
    ----------
    folder:
        A folder of pictures, which is scanned first, or a benchmark; all that the workspace knows when not given.
    name:
        What the index is called: "default", or like its benchmark, when not given.
    embedder:
        The embedder: a name or an object; the one that built the index before, else the configured one.
    backend:
        Where vectors are kept, such as "exact", "faiss" or "qdrant:URL"; as before, else "exact", when not given.
    annotations:
        What was said of the pictures, as the `annotations.jsonl` of a benchmark; it replaces what the index had.
    parts:
        What the index holds beside rows and words: vectors when not given.
    rebuild:
        Start from nothing, where an index was damaged; vectors come from the workspace, nothing is embedded again.
    limit:
        Scan only so many files of the folder.
    workspace, session:
        Where it works and how models are called.

    Returns
    -------
    BuiltIndex
        What was added, changed, removed and embedded.

    Examples
    --------
    >>> import sightline
    >>> sightline.index("pictures", workspace="ws").pictures
    6
    """
    session = Session.of(session, workspace)
    place, root = session.workspace.absolute(), optional_path(folder, "a folder of pictures or a benchmark")
    if rebuild and root is None and name is not None:
        root = _origin_of(place, name)
    said = None if annotations is None else read_annotations(annotations)
    content = None
    if root is not None and (root / HEADER).is_file():
        benchmark = read_benchmark(root)
        content = _content(benchmark, root)
        name = name or _free_name(place, benchmark.name, content)
        if said is not None:
            content = replace(content, annotations=said, state=None)
    elif root is not None:
        root, place = checked_places(root, place)
        if not root.is_dir():
            raise UserError(f"there is no folder {root}.", "check the path; nothing was indexed")
        scan_folder(root, place, session.config, limit=limit, read_all=file_map(session))
    return build_index(
        session,
        name or DEFAULT_INDEX,
        content=content,
        annotations=said,
        embedder=embedder,
        backend=backend,
        parts=parts,
        rebuild=rebuild,
    )


def _content(benchmark: Benchmark, folder: Path) -> Content:
    """The pictures of a benchmark, each once, whatever number of tasks judge it; nothing of its tasks is taken."""
    return Content(
        benchmark.corpus.pictures.values(),
        benchmark.corpus.groups,
        benchmark.annotations,
        base=folder.absolute(),
        source=f"benchmark {benchmark.name} {benchmark.version}",
        state=benchmark.checksum,
        origin=folder.expanduser().absolute() / HEADER,
    )


def _origin_of(workspace: Path, name: str) -> Path | None:
    """The benchmark that an index is of; None where it is of the workspace's pictures, or nobody can tell any more."""
    try:
        before = read_manifest(index_folder(workspace, name))
    except DamagedError:
        return None
    if before is None or before.source == WORKSPACE:
        return None
    if before.origin is None:
        folder = index_folder(workspace, name)
        raise UserError(f'the index "{name}" was made for a run.', f"remove {folder}: the next run makes it again")
    return Path(before.origin).parent


def _free_name(workspace: Path, benchmark: str, content: Content) -> str:
    """That of the benchmark; where an index of something else has it, or may get it, with a mark of the folder."""
    name = safe_name(benchmark)
    mark = hashlib.blake2b(str(content.origin).encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    try:
        refuse_takeover(read_manifest(index_folder(workspace, name)), content.source, content.origin, "")
    except UserError:
        return f"{name[:90]}-{mark}"
    return f"{name}-{mark}" if name == DEFAULT_INDEX else name


def read_annotations(path: PathLike) -> Iterator[Annotation]:
    """The lines of an `annotations.jsonl` (also gzipped); the first wrong one is named."""
    file = Path(path).expanduser()
    if not file.is_file():
        raise UserError(f"there is no file {file}.", "check the path after --annotations")
    table = replace(ANNOTATIONS, name=file.name)
    return (said for _, said in TableSource(file.parent, stop).rows(table))
