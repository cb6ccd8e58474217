"""The embedder for real photographs that needs no hub: an ImageNet classifier, MiniLM, and a head of our own.

It reads English; a text that does not look English is noted once, by a guess from its letters and its smallest words.
"""

from __future__ import annotations

import logging
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from sightline.config.section import StrictModel
from sightline.errors import UserError
from sightline.models.embedders.base import EmbeddingAttempt
from sightline.models.failures import clip, failure
from sightline.models.photos.classifier import CLASSES, POOLED, SHORTER, square_of
from sightline.models.photos.joint_vectors import Joiner
from sightline.models.photos.networks import Head, Networks, find_networks, networks_of, revision_of
from sightline.models.photos.onnx_session import OnnxNetwork, on_all_cores
from sightline.models.photos.text_encoder import WIDTH, TextEncoder
from sightline.models.photos.weights import CLASSIFIER, ENCODER, require_runtime
from sightline.models.protocols import Pixels, Vectors
from sightline.types import Failure

_WORD = re.compile(r"[^\W\d_]+")
_FOREIGN = frozenset(
    (
        *("ein", "eine", "einen", "einem", "einer", "und", "mit", "auf", "nicht", "vom", "zum", "une", "dans", "avec"),
        *("una", "het", "een", "uma", "och", "med", "jeg", "som", "czy", "nie", "jest"),
    )
)
"""Small words of other European languages that are none in English."""
_EITHER = frozenset(
    (
        *("un", "en", "el", "la", "los", "las", "le", "les", "des", "du", "de", "der", "das", "die"),
        *("dem", "im", "am", "il", "lo", "di", "del", "con", "nel", "na", "em", "com", "op", "van"),
        *("det", "på", "et", "y", "e", "o"),
    )
)
"""Small words that English texts have too, in names: two of them, and a third of the text, say something."""
_ENOUGH, _SHARE = 2, 1 / 3
_SHOWN = 60
_log = logging.getLogger(__name__)


def looks_english(text: str) -> bool:
    """False when most letters are not Latin, or when small words of another language are there."""
    words = [word.lower() for word in _WORD.findall(text)]
    letters = "".join(words)
    if not letters:
        return True
    if sum("LATIN" in unicodedata.name(letter, "") for letter in letters) < len(letters) / 2:
        return False
    if any(word in _FOREIGN for word in words):
        return False
    either = sum(word in _EITHER for word in words)
    return either < _ENOUGH or either < _SHARE * len(words)


class PhotosOptions(StrictModel):
    """Options of the embedder `photos`."""

    head: bool = Field(True, description="Use the trained head; without it, pictures are found by names of things.")
    threads: int | None = Field(None, ge=1, description="Pictures or texts at a time; one per core when not set.")
    cache: Path | None = Field(None, description="Where the networks are kept; the user's cache when not set.")


@dataclass(frozen=True, slots=True)
class ClassifiedPictures:
    """What the classifier says of pictures: 1,280 features and 1,000 scores each, and the vectors made of them."""

    pooled: NDArray[np.float32]
    logits: NDArray[np.float32]
    vectors: Vectors


class Photos:
    """Pictures and English texts into one space, on this machine; the networks are made at the first use."""

    name = "photos"
    side = SHORTER
    batch = 64
    text_batch = 256

    def __init__(
        self, *, head: bool = True, threads: int | None = None, cache: Path | None = None, local_only: bool = False
    ) -> None:
        require_runtime()
        self.revision = revision_of(head)
        self.truncated = 0  # Texts that were longer than the model reads, so far.
        self._noted = False
        self._with_head, self._threads, self._cache, self._local_only = head, threads, cache, local_only
        if not networks_of(head, cache).made and not all(file.package.installed for file in (CLASSIFIER, ENCODER)):
            # What is missing is fetched, or said, now, and not after an hour of reading pictures.
            _ = self._networks

    def __repr__(self) -> str:
        return f"Photos(revision={self.revision!r})"

    @cached_property
    def dim(self) -> int:
        """The length of the vectors."""
        return WIDTH + (Head.read().dim if self._with_head else 0)

    def pictures(self, batch: Sequence[Pixels]) -> Vectors:
        """One unit-length row for each array of height × width × 3."""
        return self.see(batch).vectors

    def texts(self, batch: Sequence[str]) -> Vectors:
        """One unit-length row for each text; one of more than 256 word pieces is cut, and counted in `truncated`."""
        for number, text in enumerate(batch, 1):
            if not text.strip():
                raise UserError(f"text {number} of {len(batch)} is empty.", "say what the picture shows")
        return self.attempt_texts(batch).vectors

    def see(self, batch: Sequence[Pixels]) -> ClassifiedPictures:
        """Scores of the classes, and vectors."""
        return self._see_squares(on_all_cores(square_of, batch, self._threads))

    def attempt_pictures(self, batch: Sequence[Pixels]) -> EmbeddingAttempt:
        """The same as `pictures`, with failures by position."""
        squares = on_all_cores(_square_or_failure, batch, self._threads)
        failures = {at: square for at, square in enumerate(squares) if isinstance(square, Failure)}
        good = [at for at in range(len(batch)) if at not in failures]
        vectors = np.zeros((len(batch), self.dim), np.float32)
        vectors[good] = self._see_squares([square for square in squares if not isinstance(square, Failure)]).vectors
        return EmbeddingAttempt(vectors, failures)

    def attempt_texts(self, batch: Sequence[str]) -> EmbeddingAttempt:
        """The same as `texts`, with failures by position, and which texts were cut."""
        failures = {at: failure("empty", "the text is empty") for at, text in enumerate(batch) if not text.strip()}
        good = [at for at in range(len(batch)) if at not in failures]
        self._note_language([batch[at] for at in good])
        encoded = self._encoder([batch[at] for at in good])
        vectors, cut = np.zeros((len(batch), self.dim), np.float32), np.zeros(len(batch), bool)
        if good:
            vectors[good], cut[good] = self._joiner.texts(encoded.words, encoded.head), encoded.cut
        self.truncated += int(cut.sum())
        return EmbeddingAttempt(vectors, failures, cut)

    def _note_language(self, texts: Sequence[str]) -> None:
        """Once: what was trained on English finds little for other languages."""
        other = None if self._noted else next((text for text in texts if not looks_english(text)), None)
        if other is not None:
            self._noted = True
            _log.warning(
                'photos reads English; "%s" looks like another language and may find little', clip(other, _SHOWN)
            )

    def _see_squares(self, squares: Sequence[Pixels]) -> ClassifiedPictures:
        if not squares:
            return ClassifiedPictures(*(np.zeros((0, width), np.float32) for width in (POOLED, CLASSES, self.dim)))
        found = on_all_cores(lambda square: self._classifier(square[None]), squares, self._threads)
        pooled, logits = (np.concatenate([outputs[name] for outputs in found]) for name in ("pooled", "logits"))
        head = np.concatenate([outputs["head"] for outputs in found]) if self._with_head else None
        return ClassifiedPictures(pooled, logits, self._joiner.pictures(logits, head))

    # --- parts, each loaded when it is first needed ---------------------------------------------------------

    @cached_property
    def _networks(self) -> Networks:
        return find_networks(self._with_head, self._cache, local_only=self._local_only)

    @cached_property
    def _classifier(self) -> OnnxNetwork:
        return OnnxNetwork(self._networks.pictures)

    @cached_property
    def _encoder(self) -> TextEncoder:
        return TextEncoder(self._networks.tokenizer, self._networks.texts, self._threads)

    @cached_property
    def _joiner(self) -> Joiner:
        return Joiner(np.load(self._networks.classes, allow_pickle=False))


def _square_or_failure(pixels: Pixels) -> Pixels | Failure:
    try:
        return square_of(pixels)
    except UserError as error:
        return failure("bad-picture", error.message)
