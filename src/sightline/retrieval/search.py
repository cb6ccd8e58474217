"""Search a workspace by words or pictures; what is new is read, embedded and indexed first."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sightline.calls.session import Session
from sightline.config import Config
from sightline.corpus.names import names_a_picture
from sightline.corpus.store import CorpusStore
from sightline.errors import UserError
from sightline.io.files import PathLike, optional_path
from sightline.models.embedders.registry import DEFAULT as DEFAULT_EMBEDDER
from sightline.models.embedders.session import EmbedderSession
from sightline.models.protocols import Embedder
from sightline.retrieval.index.content import corpus_state, require_corpus, workspace_content
from sightline.retrieval.index.manifest import (
    DEFAULT_INDEX,
    FILE_NAME,
    WORKSPACE,
    IndexManifest,
    find_manifest,
    index_folder,
    index_names,
    read_manifest,
    refuse_other_backend,
    safe_name,
)
from sightline.retrieval.index.table import noticing_damage
from sightline.retrieval.methods import check_method, check_query
from sightline.retrieval.query import parse_cue
from sightline.retrieval.results import Results
from sightline.retrieval.searcher import Searcher
from sightline.types import Method, PictureRef, Scope, SearchQuery

if TYPE_CHECKING:
    from sightline.retrieval.index.build import BuiltIndex

_BUSY = 'another process is bringing the index "{}" up to date; this is what was found in it so far'

_SCANNING = "the first scan of {} is not finished: only the pictures that it has read so far are searched"


def search(
    query: str | SearchQuery | None = None,
    folder: PathLike | None = None,
    *,
    k: int | None = None,
    like: str | Sequence[str] = (),
    where: str | None = None,
    owner: str | None = None,
    groups: str | Sequence[str] = (),
    method: Method | None = None,
    index: str | None = None,
    embedder: str | Embedder | None = None,
    backend: str | None = None,
    limit: int | None = None,
    workspace: PathLike | None = None,
    session: Session | None = None,
) -> Results:
    """Find pictures by words, by pictures, by when and where; what is new is read, embedded and indexed first.

    Parameters
    ----------
    query:
        What the picture shows, such as "a dog running on the beach"; or a whole `SearchQuery`.
    folder:
        The folder to search, sub-folders included; all that the workspace knows when not given.
    k:
        How many pictures to find.
    like:
        Pictures to look like: ids of the corpus or files, with `#left,top,right,bottom` (0 to 1) for a region.
    where:
        A filter, such as 'time >= 2019-06 and near("Biarritz", 50km) and not tag:night'.
    owner:
        Only the pictures of this owner.
    groups:
        Only the pictures of these groups, such as "event/2021-08-03".
    method:
        How the query is answered: by vectors when not given.
    index:
        The name of the index; "default" when not given.
    embedder:
        Who compares: a name or an object; the one that built the index, else the configured one, when not given.
    backend:
        Where vectors are kept, as for `index`; needed again only where it has a password.
    limit:
        Scan only so many files of the folder.
    workspace, session:
        Where it works and how models are called. In a `with` block of the session embedder and index stay open.

    Returns
    -------
    Results
        The hits, best first. `Searcher` asks an index many times without looking for new pictures.

    Examples
    --------
    >>> import sightline
    >>> found = sightline.search("a red circle", "pictures", k=3, workspace="ws")
    >>> len(found.hits)
    3
    """
    started, session, method = time.monotonic(), Session.of(session, workspace), method or Method()
    asked = _query(query, k, where, owner, (groups,) if isinstance(groups, str) else groups)
    cues = (like,) if isinstance(like, str) else tuple(like)
    check_query(replace(asked, files=(*asked.files, *cues)))
    check_method(method)
    if asked.where is not None:  # A slip in it is said now, not after an hour of embedding.
        from sightline.retrieval.filters.filter import parse_filter

        parse_filter(asked.where)
    folder = optional_path(folder, "a folder of pictures")
    place = _checked_workspace(folder, session.workspace)
    name, embedder = _chosen(place, index, embedder, session.config)
    finder = _Finder(session, place, folder, method, name, index is not None, embedder, backend, limit)
    results = finder.find(asked, cues)
    return replace(results, seconds=time.monotonic() - started, narrowed=_narrowed(asked), like=cues)


def _query(
    query: str | SearchQuery | None, k: int | None, where: str | None, owner: str | None, groups: Sequence[str]
) -> SearchQuery:
    asked = query if isinstance(query, SearchQuery) else SearchQuery(text=query)
    if k is not None:
        asked = replace(asked, k=k)
    if where is not None:
        asked = replace(asked, where=where)
    if owner is not None or groups:
        asked = replace(asked, scope=Scope(owner or asked.scope.owner, (*asked.scope.groups, *groups)))
    return asked


def _narrowed(asked: SearchQuery) -> tuple[str, ...]:
    """The options that leave pictures out."""
    where, owner, groups = "--where (where=)", "--owner (owner=)", "--group (groups=)"
    given = ((where, asked.where), (owner, asked.scope.owner), (groups, asked.scope.groups))
    return tuple(option for option, value in given if value)


def _checked_workspace(folder: Path | None, workspace: Path) -> Path:
    if folder is not None:
        from sightline.corpus.scan import checked_places

        root, place = checked_places(folder, workspace)
        if not root.is_dir():
            raise UserError(f"there is no folder {root}.", "Check the path of the folder: --in FOLDER (folder=).")
        return place
    place = workspace.expanduser().absolute()
    if not index_names(place):
        require_corpus(place)
    return place


@dataclass(frozen=True, slots=True)
class _Finder:
    """One search, from a folder to its results; an index that was `named` is not made again unasked."""

    session: Session
    place: Path
    folder: Path | None
    method: Method
    name: str
    named: bool
    embedder: str | Embedder
    backend: str | None
    limit: int | None

    def find(self, query: SearchQuery, cues: tuple[str, ...]) -> Results:
        if not self.method.vectors:
            return self._found(query, cues, None)
        # The embedder first: what is missing for it is said before an hour of reading pictures, not after.
        spec = self.embedder if isinstance(self.embedder, str) else id(self.embedder)
        with self.session.opened(("embedder", spec), lambda: EmbedderSession(self.embedder, self.session)) as embedding:
            embedding.tell_who_sees("pictures and queries")
            return self._found(query, cues, embedding)

    def _found(self, query: SearchQuery, cues: tuple[str, ...], embedding: EmbedderSession | None) -> Results:
        built, refused, busy = self._brought_up_to_date(embedding)
        folder, manifest = index_folder(self.place, self.name), find_manifest(self.place, self.name)
        key, stamp = ("index", folder, self.backend, id(embedding)), (folder / FILE_NAME).stat().st_mtime_ns
        with (
            noticing_damage(folder),
            self.session.opened(
                key,
                lambda: Searcher(folder, manifest, self.session, embedding=embedding, backend=self.backend),
                stamp,
            ) as searcher,
        ):
            results = searcher.search(_with_cues(query, cues, searcher), self.method, under=self.folder)
        return replace(
            results,
            embedded=0 if built is None else built.embedded.made,
            left_out=refused if built is None else {**built.left_out, **refused},
            notes=(*busy, *_said(built, self.name), *_outdated(manifest), *results.notes),
        )

    def _brought_up_to_date(
        self, embedding: EmbedderSession | None
    ) -> tuple[BuiltIndex | None, dict[str, int], tuple[str, ...]]:
        """What was done to the index, None for nothing; the files that a scan could not take in; what else to say."""
        before = read_manifest(index_folder(self.place, self.name))
        self._refuse_other(before, embedding)
        if before is not None and before.source != WORKSPACE:
            return None, {}, ()  # Made of other pictures; whoever made it brings it up to date.
        if self.folder is not None:
            from sightline.corpus.scan import scan_folder

            scan_folder(self.folder, self.place, self.session.config, limit=self.limit)
        require_corpus(self.place)
        with CorpusStore(self.place) as store:
            refused = _refused(store, self.folder)
            scanning = tuple(_SCANNING.format(root.path) for root in store.unfinished_roots())
            if before is not None and _is_current(before, corpus_state(store), embedding):
                return None, refused, scanning
            from sightline.retrieval.index.build import Parts, Update  # A search that changes nothing need not load it.

            update = Update(self.session, self.name, embedding, self.embedder, self.backend)
            content, parts = workspace_content(store), Parts(vectors=embedding is not None)
            if before is None:
                return update.run(content, parts), refused, scanning
            built = update.run_unless_busy(content, parts)
            return built, refused, scanning if built is not None else (*scanning, _BUSY.format(self.name))

    def _refuse_other(self, before: IndexManifest | None, embedding: EmbedderSession | None) -> None:
        """Another embedder than the one that built it means to embed everything again, another back-end to move it."""
        if before is not None:
            refuse_other_backend(before, self.backend)
        if not self.named or before is None or before.embedder is None or embedding is None:
            return
        now, mark = embedding.embedder, before.embedder
        if not mark.is_of(now):
            raise UserError(
                f'the index "{self.name}" was built by {mark}, and the embedder now is {now.name} ({now.revision}).',
                f"bring it up to date with: sightline index --name {self.name} --embedder {now.name}; "
                "or leave --index out",
            )


def _chosen(
    workspace: Path, index: str | None, embedder: str | Embedder | None, config: Config
) -> tuple[str, str | Embedder]:
    """The index to ask, and the embedder: as given, else as the index says, else as configured."""
    if index is not None:
        mark = find_manifest(workspace, index).embedder
        return index, embedder or (mark.spec if mark else config.models.embedder or DEFAULT_EMBEDDER)
    before = read_manifest(index_folder(workspace, DEFAULT_INDEX))
    usual = before.embedder if before else None
    wanted = embedder or config.models.embedder
    if wanted is None:
        return DEFAULT_INDEX, usual.spec if usual else DEFAULT_EMBEDDER
    name = wanted if isinstance(wanted, str) else wanted.name
    # Another embedder gets an index of its own, so that going back and forth costs nothing.
    return DEFAULT_INDEX if usual is None or name in (usual.spec, usual.name) else safe_name(name), wanted


def _is_current(manifest: IndexManifest, state: str, embedding: EmbedderSession | None) -> bool:
    if manifest.state != state:
        return False
    if embedding is None:
        return True
    same = manifest.embedder is not None and manifest.embedder.is_of(embedding.embedder)
    # What could not be embedded is tried again: a server may be back, a drive plugged in.
    return same and manifest.vectors_state == state and not manifest.left_out


def _with_cues(query: SearchQuery, cues: tuple[str, ...], searcher: Searcher) -> SearchQuery:
    """Names of pictures as ids of the corpus, where it has them, else as files."""
    ids, files = list(query.like), list(query.files)
    for text in cues:
        cue = parse_cue(text)
        whole = searcher.table.find(text)  # An id may look as if it named a region.
        if whole is not None or searcher.table.find(cue.uri) is not None or not Path(cue.uri).is_file():
            ids.append(PictureRef(text) if whole is not None else PictureRef(cue.uri, cue.region))
        else:
            files.append(text)
    return replace(query, like=tuple(ids), files=tuple(files))


def _refused(store: CorpusStore, folder: Path | None) -> dict[str, int]:
    """Files that call themselves pictures, and that a scan could not take in, by reason."""
    query = "SELECT r.path, f.path, f.reason FROM files AS f JOIN roots AS r ON r.id = f.root"
    below = None if folder is None else os.fsencode(os.path.normpath(folder.absolute())) + b"/"
    counts: dict[str, int] = {}
    for root, path, reason in store.database.execute(f"{query} WHERE f.state = 'present' AND f.reason IS NOT NULL"):
        if reason == "not a picture" and not names_a_picture(os.fsdecode(path)):
            continue
        if below is None or (root.rstrip(b"/") + b"/" + path).startswith(below):
            counts[reason] = counts.get(reason, 0) + 1
    return counts


def _outdated(manifest: IndexManifest) -> tuple[str, ...]:
    if not manifest.has_outdated_origin or manifest.origin is None:
        return ()
    again = f"sightline index {Path(manifest.origin).parent} --name {manifest.name}"
    return (f'{manifest.source} has changed since the index "{manifest.name}" was built; bring it up to date: {again}',)


def _said(built: BuiltIndex | None, name: str) -> tuple[str, ...]:
    """That an index was made or changed is said."""
    if built is None or built.is_unchanged:
        return ()
    changes = built.changes
    if changes.added == built.pictures:
        pictures = "1 picture" if built.pictures == 1 else f"{built.pictures:,} pictures"
        return (f'the index "{name}" was built: {pictures}, {built.embedded.made:,} embedded now',)
    counts = [("added", changes.added), ("changed", changes.changed), ("removed", changes.removed)]
    listed = ", ".join(f"{count:,} {what}" for what, count in counts if count) or "vectors made again"
    return (f'the index "{name}" was brought up to date: {listed}; {built.embedded.made:,} embedded now',)
