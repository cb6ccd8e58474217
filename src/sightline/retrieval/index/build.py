"""Build an index, or bring it up to date: only what changed is embedded, and a kill at any moment costs only time.

The order is what makes it so: rows and words in one transaction; vectors into the workspace, then into the vector
store, then marked as done; columns in one file; the manifest last.
"""

from __future__ import annotations

import logging
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.calls.session import Session
from sightline.class_names import known_as
from sightline.config import Config
from sightline.corpus.store import CorpusStore
from sightline.display import Shown
from sightline.english import counted
from sightline.errors import MissingExtraError, SightlineError, UserError
from sightline.io.locks import locked
from sightline.io.private import private_folder
from sightline.models.embedders.registry import DEFAULT as DEFAULT_EMBEDDER
from sightline.models.embedders.session import EmbedderSession
from sightline.models.protocols import Embedder
from sightline.retrieval.columns.builder import PlaceNamer, build_columns
from sightline.retrieval.columns.files import columns_are_whole, save_columns
from sightline.retrieval.index.changes import COLUMNS_DUE, IndexChanges, carry_over, put_aside, take_in
from sightline.retrieval.index.content import Content, require_corpus, workspace_content
from sightline.retrieval.index.manifest import (
    DEFAULT_INDEX,
    EmbedderMark,
    IndexManifest,
    digest_of,
    index_folder,
    read_manifest,
    refuse_takeover,
    vectors_folder,
)
from sightline.retrieval.index.picture_steps import PictureSteps
from sightline.retrieval.index.table import IndexTable, noticing_damage
from sightline.retrieval.index.vectors import VectorCounts, VectorStep
from sightline.retrieval.ranking import TokenVectors, token_vectors_of
from sightline.retrieval.vector_stores.base import DamagedError
from sightline.retrieval.vector_stores.registry import DEFAULT as DEFAULT_BACKEND
from sightline.retrieval.vector_stores.registry import open_vector_store, public_spec
from sightline.retrieval.vector_stores.service import FILE_NAME as SERVED
from sightline.types import Annotation

_log = logging.getLogger(__name__)


@known_as("Parts")
@dataclass(frozen=True, slots=True)
class Parts:
    """What an index holds beside rows and words; what it held before stays in."""

    vectors: bool = True
    captions: bool = False
    tokens: bool = False
    words_in_pictures: bool = False


@dataclass(frozen=True, slots=True, repr=False)
class BuiltIndex(Shown):
    """What building did; `put` vectors went into the back-end, of which `embedded` were made now."""

    name: str
    folder: Path
    manifest: IndexManifest
    changes: IndexChanges
    embedded: VectorCounts = field(default_factory=VectorCounts)
    words_read: int = 0
    tokens_made: int = 0
    seconds: float = 0.0

    @property
    def pictures(self) -> int:
        return self.manifest.pictures

    @property
    def left_out(self) -> Mapping[str, int]:
        """Pictures without a vector, by reason."""
        return dict(self.embedded.left_out.most_common())

    @property
    def is_unchanged(self) -> bool:
        """Nothing was new."""
        changed = self.changes.added or self.changes.changed or self.changes.removed
        return not (changed or self.embedded.put or self.embedded.captions or self.words_read or self.tokens_made)

    def to_json(self) -> dict[str, Any]:
        """The object that `index --json` prints."""
        mark = self.manifest.embedder
        return {
            "name": self.name,
            "folder": str(self.folder),
            "pictures": self.pictures,
            "added": self.changes.added,
            "changed": self.changes.changed,
            "removed": self.changes.removed,
            "embedded": self.embedded.made,
            "put": self.embedded.put,
            "captions": self.embedded.captions,
            "words_read": self.words_read,
            "left_out": dict(self.left_out),
            "unmatched_annotations": self.changes.unmatched,
            "embedder": None if mark is None else mark.name,
            "revision": None if mark is None else mark.revision,
            "dim": None if mark is None else mark.dim,
            "backend": self.manifest.backend,
            "recalls": self.manifest.recalls,
            "seconds": round(self.seconds, 3),
        }

    def __str__(self) -> str:
        return "\n".join(f"  {line}" for line in (self._line(), *self._lines()))

    def _line(self) -> str:
        changes = self.changes
        return (
            f"{counted(self.pictures, 'picture')} · {changes.added:,} added, {changes.changed:,} changed, "
            f"{changes.removed:,} removed"
        )

    def _lines(self) -> Iterator[str]:
        done, manifest = self.embedded, self.manifest
        if manifest.embedder is not None:
            yield f"{done.made:,} embedded now · {manifest.embedder} · {manifest.backend}"
        if manifest.recalls:
            listed = ", ".join(f"{share:.3f} for {kind}" for kind, share in manifest.recalls.items())
            yield f"approximate: recall@10 {listed}"
        extra = [
            (done.captions, "captions embedded"),
            (self.words_read, "pictures read for words"),
            (self.tokens_made, "pictures with new token vectors"),
        ]
        yield from (f"{count:,} {what}" for count, what in extra if count)
        if self.left_out:
            yield "without a vector: " + ", ".join(f"{count:,} {reason}" for reason, count in self.left_out.items())
        yield f"→ {self.folder} in {self.seconds:.1f} s"

    def _blocks(self) -> Iterable[str]:
        return self._lines()


def build_index(
    session: Session,
    name: str = DEFAULT_INDEX,
    *,
    content: Content | None = None,
    annotations: Iterable[Annotation] | None = None,
    embedder: str | Embedder | None = None,
    backend: str | None = None,
    parts: Parts | None = None,
    rebuild: bool = False,
) -> BuiltIndex:
    """Build the index of a workspace's pictures (with `annotations`), or of `content`, or bring it up to date.

    An embedder or a back-end that is not given is the one that built the index before, else the default. With
    `rebuild` it starts from nothing, from vectors that the workspace has: for an index that was damaged.
    """
    place, parts = session.workspace.absolute(), parts or Parts()
    spec = embedder if embedder is not None else _usual_embedder(place, name, session.config, rebuild)
    if content is None:
        require_corpus(place)
    with ExitStack() as stack:
        embedding = None
        if parts.vectors:
            embedding = stack.enter_context(EmbedderSession(spec, session))
            embedding.tell_who_sees("pictures")
        if content is None:
            content = workspace_content(stack.enter_context(CorpusStore(place)), annotations)
        return Update(session, name, embedding, spec, backend, rebuild=rebuild).run(content, parts)


def _manifest_before(folder: Path, rebuild: bool) -> IndexManifest | None:
    """How the index was built; one that can't be read is none, where all is made again."""
    try:
        return read_manifest(folder)
    except DamagedError:
        if not rebuild:
            raise
        return None


def _usual_embedder(workspace: Path, name: str, config: Config, rebuild: bool) -> str:
    before = _manifest_before(index_folder(workspace, name), rebuild)
    if before is not None and before.embedder is not None:
        return before.embedder.spec
    return config.models.embedder or DEFAULT_EMBEDDER


class Update:
    """One run over an index, with an embedder that is open already (or none: rows and words only)."""

    def __init__(
        self,
        session: Session,
        name: str,
        embedding: EmbedderSession | None,
        spec: str | Embedder,
        backend: str | None = None,
        *,
        rebuild: bool = False,
    ) -> None:
        self.folder = index_folder(session.workspace.absolute(), name)
        self._name, self._config, self._embedding, self._rebuild = name, session.config, embedding, rebuild
        self._spec = spec if isinstance(spec, str) else spec.name
        self._given_backend = backend
        self._look_back()

    def _look_back(self) -> None:
        self._before = _manifest_before(self.folder, self._rebuild)
        self._backend = self._given_backend or (self._before.backend if self._before else DEFAULT_BACKEND)

    def run(self, content: Content, parts: Parts) -> BuiltIndex:
        """Bring the index to what `content` says; then raise what stopped the embedder, if anything did.

        Where another process is at it, this one waits, and does what is left then.
        """
        built = self.run_unless_busy(content, parts)
        if built is not None:
            return built
        _log.warning('another process is building the index "%s"; waiting for it', self._name)
        with locked(self.folder, wait=True), noticing_damage(self.folder):
            return self._run(content, parts)

    def run_unless_busy(self, content: Content, parts: Parts) -> BuiltIndex | None:
        """The same; None, and nothing done, where another process is at it."""
        with locked(self.folder, wait=False) as is_ours, noticing_damage(self.folder):
            return self._run(content, parts) if is_ours else None

    def _run(self, content: Content, parts: Parts) -> BuiltIndex:
        started = time.monotonic()
        self._look_back()
        before = self._before
        refuse_takeover(before, content.source, content.origin, "give the new one a name of its own: --name NAME")
        # Taken before the pictures are: what changes while they are read is noticed the next time.
        origin = None if content.origin is None else digest_of(content.origin)
        parts = Parts(
            parts.vectors,
            parts.captions or bool(before and before.captions),
            parts.tokens or bool(before and before.tokens),
            parts.words_in_pictures,
        )
        tokens = self._token_vectors(parts.tokens and parts.vectors)
        private_folder(self.folder)
        if self._rebuild:
            self._start_over()
        table = IndexTable(self.folder, whole=True)
        try:
            carry_over(self.folder, table)
            changes = take_in(table, content)
            looking = PictureSteps(table, self._config)
            words_read = looking.read_words() if parts.words_in_pictures else 0
            embedded, tokens_made, step = VectorCounts(), 0, None
            if self._embedding is not None and parts.vectors:
                step = VectorStep(self.folder, table, self._embedding, self._backend, self._config)
                checkpoint = partial(self._publish, table, content, changes, step)
                embedded = step.run(captions=parts.captions, checkpoint=checkpoint)
                if tokens is not None:
                    tokens_made = looking.make_tokens(self._embedding.embedder, tokens)
            manifest = self._manifest(table, content, changes, parts, step, embedded)
            self._save_columns(table)
        finally:
            table.close()
        seconds = time.monotonic() - started
        manifest = manifest.model_copy(update={"origin_digest": origin, "seconds": round(seconds, 3)})
        manifest.write(self.folder)
        self._clear_away(manifest)
        if embedded.stopped is not None:
            raise embedded.stopped
        return BuiltIndex(self._name, self.folder, manifest, changes, embedded, words_read, tokens_made, seconds)

    def _publish(self, table: IndexTable, content: Content, changes: IndexChanges, step: VectorStep) -> None:
        """Let what is done so far be searched; vectors of another embedder are searched until these are complete."""
        if self._before is None or self._before.tag in (None, step.tag):
            parts = Parts(
                captions=bool(self._before and self._before.captions), tokens=bool(self._before and self._before.tokens)
            )
            manifest = self._manifest(table, content, changes, parts, step, VectorCounts())
            self._save_columns(table)
            manifest.model_copy(update={"vectors_state": None}).write(self.folder)

    def _start_over(self) -> None:
        """Nothing but the manifest stays: killed from here on, the next update builds the same index."""
        if self._before is not None:
            self._before.emptied.write(self.folder)
        for path in self._vector_folders():
            self._empty_service(path)
            shutil.rmtree(path, ignore_errors=True)
        put_aside(self.folder)

    def _vector_folders(self) -> list[Path]:
        return [
            path for path in self.folder.iterdir() if path.is_dir() and path.name.startswith(("pictures-", "captions-"))
        ]

    def _token_vectors(self, wanted: bool) -> TokenVectors | None:
        """What the embedder offers; asked for where there is none, that is said before any work."""
        if not wanted or self._embedding is None:
            return None
        offered = token_vectors_of(self._embedding.embedder)
        if offered is None:
            name = self._embedding.embedder.name
            raise UserError(f"{name} gives no token vectors.", "leave --tokens out, or name another embedder")
        return offered

    def _manifest(
        self,
        table: IndexTable,
        content: Content,
        changes: IndexChanges,
        parts: Parts,
        step: VectorStep | None,
        embedded: VectorCounts,
    ) -> IndexManifest:
        changed: dict[str, Any] = {
            "source": content.source,
            "origin": None if content.origin is None else str(content.origin),
            "state": changes.state,
            "pictures": len(table),
        }
        before = self._before or IndexManifest(name=self._name, backend=public_spec(self._backend), **changed)
        manifest = before.model_copy(update=changed)  # What this run does not touch stays as it was.
        if step is None or self._embedding is None:
            return manifest
        embedder = self._embedding.embedder
        mark = EmbedderMark(
            spec=public_spec(self._spec), name=embedder.name, revision=embedder.revision, dim=step.dim or 0
        )
        return manifest.model_copy(
            update={
                "embedder": mark,
                "backend": public_spec(self._backend),
                "tag": step.tag,
                "vectors_state": None if embedded.stopped else changes.state,
                "captions": parts.captions,
                "tokens": parts.tokens,
                "left_out": dict(embedded.left_out.most_common()),
                "recalls": {kind: round(share, 4) for kind, share in embedded.recalls.items()},
            }
        )

    def _save_columns(self, table: IndexTable) -> None:
        if table.note(COLUMNS_DUE) != "no" or not columns_are_whole(self.folder):
            save_columns(build_columns(table.records(), _place_namer()), self.folder)
            table.set_note(COLUMNS_DUE, "no")

    def _clear_away(self, manifest: IndexManifest) -> None:
        """Vectors of another embedder or back-end, which the manifest no longer speaks of."""
        if manifest.tag is None:
            return
        kept = {vectors_folder(self.folder, manifest.tag, what).name for what in ("pictures", "captions")}
        for path in self._vector_folders():
            if path.name not in kept:
                self._empty_service(path)
                shutil.rmtree(path, ignore_errors=True)

    def _empty_service(self, path: Path) -> None:
        """What a server keeps does not go away with our folder."""
        before = self._before
        if before is None or before.embedder is None or not (path / SERVED).is_file():
            return
        same = public_spec(self._backend) == before.backend
        try:
            # The back-end that was given may have a password, which the manifest never has.
            spec = self._backend if same else before.backend
            backend = open_vector_store(spec, path, before.embedder.dim, create=False)
            try:
                backend.remove(backend.rows())
            finally:
                backend.close()
        except SightlineError as error:
            _log.warning("the vectors of an older index stay in %s: %s", before.backend, error.message)


def _place_namer() -> PlaceNamer | None:
    """Names for coordinates, where the extra `places` is installed."""
    if find_spec("reverse_geocode") is None:
        return None

    def names(lat: NDArray[np.float64], lon: NDArray[np.float64]) -> Sequence[str | None]:
        from sightline.retrieval.gazetteer import name_places

        try:
            return name_places(lat, lon) if len(lat) else []
        except MissingExtraError:  # The package is there, and its data is not.
            return [None] * len(lat)

    return names
