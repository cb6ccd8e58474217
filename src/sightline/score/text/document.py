"""One text, taken apart at most once however many metrics look at it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from sightline.score.context import Context, TextEmbedder
from sightline.score.text.profile import Profile, profiles
from sightline.score.text.tokens import bleu_tokens, rouge_tokens, word_tokens

T = TypeVar("T")


class _Lazy(Generic[T]):
    """A value worked out at its first use; `functools.cached_property` takes a lock for it in Python 3.11."""

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self._name = compute.__name__

    def __get__(self, instance: object, owner: type) -> T:
        value = self._compute(instance)
        instance.__dict__[self._name] = value
        return value


class Document:
    """A text and, each worked out on demand and then kept: its tokens, their counts, its vector."""

    def __init__(self, text: str) -> None:
        self.text = text
        # the unit vector, and the embedder that gave it
        self.embedded: tuple[TextEmbedder, NDArray[np.float64]] | None = None
        self.profile: Profile | None = None

    @_Lazy
    def words(self) -> list[str]:
        return word_tokens(self.text)

    @_Lazy
    def counts(self) -> Counter[str]:
        return Counter(self.words)

    @_Lazy
    def rouge(self) -> list[str]:
        return self.words if self.text.isascii() else rouge_tokens(self.text)

    @_Lazy
    def rouge_counts(self) -> Counter[str]:
        return self.counts if self.text.isascii() else Counter(self.rouge)

    @_Lazy
    def bleu(self) -> list[str]:
        return bleu_tokens(self.text)

    @_Lazy
    def characters(self) -> str:
        """The text without white space."""
        return "".join(self.text.split())


def profiles_of(documents: Sequence[Document]) -> list[Profile]:
    """The profile of each document, those that lack one worked out together."""
    wanting = [item for item in documents if item.profile is None]
    for item, profile in zip(wanting, profiles([item.text for item in wanting]), strict=True):
        item.profile = profile
    return [item.profile for item in documents if item.profile is not None]


def prefetch_profiles(documents: Sequence[Document], context: Context) -> None:
    """Take many documents apart at once."""
    profiles_of(documents)


# Metrics are called one after the other on the same few texts; a runaway text is large, so few are kept.
document = lru_cache(maxsize=8)(Document)
