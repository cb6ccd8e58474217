"""`manifest.json`: what an index was built from, and by whom; written last, so that it never promises too much."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from sightline.config.section import StrictModel
from sightline.errors import UserError, did_you_mean
from sightline.io.jsonl import LineError, read_json, write_json
from sightline.io.workspace import workspace_option
from sightline.models.protocols import Embedder
from sightline.retrieval.vector_stores.base import DamagedError
from sightline.retrieval.vector_stores.registry import public_spec

FILE_NAME = "manifest.json"
FOLDER = "indexes"
DEFAULT_INDEX = "default"
WORKSPACE = "workspace"
"""The source of an index of all that a workspace knows."""
_NAME = re.compile(r"[\w][\w.+@-]{0,99}")


class EmbedderMark(StrictModel):
    """Who made the vectors; `spec` is the name that it was opened by."""

    spec: str
    name: str
    revision: str
    dim: int = Field(ge=0)

    def __str__(self) -> str:
        return f"{self.name} ({self.revision})"

    def is_of(self, embedder: Embedder) -> bool:
        """Did this embedder make them?"""
        return (self.name, self.revision) == (embedder.name, embedder.revision)


class IndexManifest(StrictModel):
    """An index that is complete as far as its states say.

    `state` is that of the corpus whose pictures and words are in; `vectors_state` that of the corpus whose vectors are.
    `origin` is a file that changes with its pictures, and `origin_digest` what it was when they were taken in.
    `backend` is without passwords. `tag` tells the vectors of this embedder and back-end from those of others.
    """

    schema_version: Literal[1] = 1
    name: str
    source: str
    state: str
    origin: str | None = None
    origin_digest: str | None = None
    vectors_state: str | None = None
    pictures: int
    embedder: EmbedderMark | None = None
    backend: str
    tag: str | None = None
    captions: bool = False
    tokens: bool = False
    left_out: dict[str, int] = Field({}, description="Pictures without a vector, by reason.")
    recalls: dict[str, float] = Field(
        {}, description="By kind of query, the recall@10 that an approximate back-end measured; empty: exact."
    )
    seconds: float = 0.0

    @property
    def emptied(self) -> IndexManifest:
        """The same index with nothing in it: what it is of, and how it is built, stays."""
        return self.model_copy(
            update={"state": "", "vectors_state": None, "pictures": 0, "left_out": {}, "recalls": {}}
        )

    @property
    def has_outdated_origin(self) -> bool:
        """Did the benchmark change since its pictures were taken in? One that is not there did not."""
        if self.origin is None or self.origin_digest is None:
            return False
        return digest_of(Path(self.origin)) not in (None, self.origin_digest)

    def write(self, folder: Path) -> None:
        """Whole or not at all."""
        write_json(folder / FILE_NAME, self.model_dump(mode="json"))


def read_manifest(folder: Path) -> IndexManifest | None:
    """The manifest of an index; None where none was finished there."""
    path = folder / FILE_NAME
    if not path.is_file():
        return None
    try:
        return IndexManifest.model_validate(read_json(path))
    except LineError as error:
        raise DamagedError(f"{path} is damaged: {error.reason}.", _fix(folder)) from error
    except ValidationError as error:
        what = error.errors()[0]
        where = ".".join(map(str, what["loc"]))
        raise DamagedError(
            f"{path} is damaged, or of another version of Sightline: {where}: {what['msg'].lower()}.", _fix(folder)
        ) from error


def _fix(folder: Path) -> str:
    return (
        f"make it again: sightline index [BENCH] --name {folder.name} --rebuild, with the benchmark that it was of and "
        "the --embedder that built it, where it was not the usual one"
    )


def digest_of(file: Path) -> str | None:
    """A hash of a small file; None where it can't be read."""
    try:
        return hashlib.blake2b(file.read_bytes(), digest_size=16).hexdigest()
    except OSError:
        return None


def refuse_takeover(before: IndexManifest | None, source: str, origin: Path | None, fix: str) -> None:
    """An index of other pictures is not made over: whoever built it wants it back."""
    if before is None:
        return
    moved = before.origin is None or not Path(before.origin).is_file()
    other = (before.source == WORKSPACE) != (source == WORKSPACE)
    if other or (origin is not None and not moved and str(origin) != before.origin):
        of = "this workspace's pictures" if before.source == WORKSPACE else before.source
        where = f" in {Path(before.origin).parent}" if before.origin is not None else ""
        raise UserError(f'the index "{before.name}" is of {of}{where}, not of {source}.', fix)


def refuse_other_backend(manifest: IndexManifest, backend: str | None) -> None:
    """Vectors lie where the index put them; another back-end has none of them."""
    if backend is None or manifest.tag is None:
        return
    given, kept = backend.strip(), manifest.backend
    if given.partition(":")[0] != kept.partition(":")[0]:
        raise UserError(
            f'the index "{manifest.name}" keeps its vectors in {kept}, not in {public_spec(given)}.',
            f"leave --backend out, or move them: sightline index --name {manifest.name} --backend {public_spec(given)}",
        )


def vectors_folder(folder: Path, tag: str, what: str = "pictures") -> Path:
    """Where a back-end keeps its files."""
    return folder / f"{what}-{tag}"


def index_folder(workspace: Path, name: str) -> Path:
    """Where an index of a workspace lies."""
    if _NAME.fullmatch(name) is None:
        raise UserError(f'"{name}" can\'t be the name of an index.', "use letters, digits, dots and dashes")
    return workspace / FOLDER / name


def index_names(workspace: Path) -> list[str]:
    """The indexes of a workspace that were finished."""
    folder = workspace / FOLDER
    return sorted(path.parent.name for path in folder.glob(f"*/{FILE_NAME}")) if folder.is_dir() else []


def find_manifest(workspace: Path, name: str) -> IndexManifest:
    """The manifest of an index that must be there; otherwise an error with the names of those that are."""
    found = read_manifest(index_folder(workspace, name))
    if found is not None:
        return found
    names = index_names(workspace)
    known = f"There is {', '.join(names)}. " if names else ""
    hint = did_you_mean(name, names, f"{known}Build it: sightline index{workspace_option(workspace)}")
    raise UserError(f'{workspace} has no index "{name}", or it was not finished.', hint)


def safe_name(embedder: str) -> str:
    """The name of the index that belongs to an embedder by itself."""
    return re.sub(r"[^\w.+@-]+", "-", embedder).strip("-.")[:100] or DEFAULT_INDEX
