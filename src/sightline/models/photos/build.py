"""The networks as files: made once from the installed packages, and kept in the user's cache."""

from __future__ import annotations

import hashlib
import logging
import os
import re
import secrets
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sightline.engine import progress
from sightline.errors import UserError
from sightline.models.photos import head
from sightline.models.photos.classes import class_texts
from sightline.models.photos.classifier import build_classifier
from sightline.models.photos.encoder import WIDTH, build_encoder
from sightline.models.photos.fetch import encoder_files
from sightline.models.photos.head import Head
from sightline.models.photos.joining import JOINING
from sightline.models.photos.packages import CLASSIFIER, ENCODER
from sightline.models.photos.tensors import read_safetensors, read_torch
from sightline.models.photos.text_encoder import TextEncoder

_VERSION = "1"
"""Raised when the same weights come to give other vectors."""
_PAGE = 256
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Networks:
    """A folder with all that the embedder needs at run time."""

    folder: Path

    @property
    def made(self) -> bool:
        return self.classes.is_file()

    @property
    def pictures(self) -> Path:
        return self.folder / "pictures.onnx"

    @property
    def texts(self) -> Path:
        return self.folder / "texts.onnx"

    @property
    def tokenizer(self) -> Path:
        return self.folder / "tokenizer.json"

    @property
    def classes(self) -> Path:
        """A vector for each of `class_texts()`; written last."""
        return self.folder / "classes.npy"

    def remove(self) -> None:
        """Delete what was made there, and the folder unless somebody put something else into it."""
        with suppress(OSError):
            for path in (self.classes, self.pictures, self.texts, self.tokenizer):
                path.unlink(missing_ok=True)
            self.folder.rmdir()


def revision_of(with_head: bool) -> str:
    """Changes with anything that changes a vector."""
    digest = hashlib.sha256(f"{_VERSION} {JOINING} {CLASSIFIER.sha256} {ENCODER.sha256} {class_texts()}".encode())
    if with_head:
        digest.update(head.FILE.read_bytes())
    return f"{'head' if with_head else 'names'}-{digest.hexdigest()[:12]}"


def cache_folder() -> Path:
    """`$XDG_CACHE_HOME/sightline`, else `~/.cache/sightline`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sightline"


def networks_of(with_head: bool, cache: Path | None = None) -> Networks:
    """Where the networks are, or will be."""
    return Networks((cache or cache_folder()) / f"photos-{revision_of(with_head)}")


def find_networks(with_head: bool, cache: Path | None = None, *, local_only: bool = False) -> Networks:
    """The networks, made now if they are not there yet (some ten seconds); those of other revisions are then removed.

    `local_only` refuses to fetch weights that are not installed.
    """
    networks = networks_of(with_head, cache)
    if not networks.made:
        _log.info("making the networks of the embedder photos in %s", networks.folder)
        try:
            _make(networks, Head.read() if with_head else None, local_only)
        except OSError as error:
            raise UserError(
                f"{networks.folder} can't be written: {error.strerror or error}.",
                "set XDG_CACHE_HOME to a folder that can be",
            ) from error
        _remove_older(networks.folder)
    return networks


class _Sources(NamedTuple):
    """The files that the networks are made of, checked."""

    classifier: Path
    encoder: Path
    tokenizer: Path


def _make(networks: Networks, trained: Head | None, local_only: bool) -> None:
    """In a folder of its own, which then becomes the right one, unless somebody else was faster."""
    fresh = networks.folder.with_name(f".{networks.folder.name}-{secrets.token_hex(4)}")
    classifier = CLASSIFIER.find()  # First: what is missing of it is said before anything is fetched.
    fresh.mkdir(parents=True)
    try:
        with encoder_files(local_only=local_only) as (weights, tokenizer):
            _build(Networks(fresh), trained, _Sources(classifier, weights, tokenizer))
        with suppress(OSError):
            fresh.rename(networks.folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    if not networks.made:
        raise UserError(f"{networks.folder} is in the way: it is not whole.", "delete it and run the same again")


def _remove_older(folder: Path) -> None:
    """The same networks in other revisions: nothing of this version reads them."""
    kind = re.compile(re.escape(folder.name.rpartition("-")[0]) + r"-[0-9a-f]{12}")
    for other in folder.parent.iterdir():
        if other != folder and kind.fullmatch(other.name):
            _log.info("removing the networks of another revision in %s", other)
            Networks(other).remove()


def _build(networks: Networks, trained: Head | None, sources: _Sources) -> None:
    pictures = build_classifier(read_torch(sources.classifier))
    weights = read_safetensors(sources.encoder)
    texts, words = build_encoder(weights if trained is None else trained.corrected(weights))
    texts.output("words", words, (1, WIDTH))
    if trained is not None:
        pictures.output("head", trained.add_to_pictures(pictures, "pooled"), ("n", trained.dim))
        texts.output("head", trained.add_to_texts(texts, words), (1, trained.dim))
    networks.pictures.write_bytes(pictures.to_bytes())
    networks.texts.write_bytes(texts.to_bytes())
    networks.tokenizer.write_bytes(sources.tokenizer.read_bytes())
    np.save(networks.classes, _encode_classes(networks))


def _encode_classes(networks: Networks) -> np.ndarray:
    encode = TextEncoder(networks.tokenizer, networks.texts)
    texts = [entry.text for entry in class_texts()]
    vectors = []
    with progress("photos: names of things, once", len(texts)) as advance:
        for start in range(0, len(texts), _PAGE):
            vectors.append(encode(texts[start : start + _PAGE]).words)
            advance(len(vectors[-1]))
    return np.concatenate(vectors)
