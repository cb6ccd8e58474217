"""Jaccard index of the two sets of words."""

from __future__ import annotations

from collections.abc import Sequence

from sightline.score.context import Context
from sightline.score.text.document import Document, prefetch_profiles, profiles_of
from sightline.score.text.profile import Profile
from sightline.score.text.similarity import Over, compare, similarity


def jaccard(prediction: str, references: Sequence[str], over: Over = "mean") -> float:
    """|A ∩ B| / |A ∪ B| over the distinct words. Both without words: 1; only one: 0."""
    return compare(_each, prediction, references, over)


@similarity("jaccard", prefetch=prefetch_profiles)
def _each(prediction: Document, references: Sequence[Document], context: Context) -> list[float]:
    own, *others = profiles_of([prediction, *references])
    return [_index(own, other) for other in others]


def _index(a: Profile, b: Profile) -> float:
    common = len(a.shared_with(b)[0])
    union = len(a.keys) + len(b.keys) - common
    return common / union if union else 1.0
