"""Overlap coefficient of the two sets of words."""

from __future__ import annotations

from collections.abc import Sequence

from sightline.score.context import Context
from sightline.score.text.document import Document, prefetch_profiles, profiles_of
from sightline.score.text.profile import Profile
from sightline.score.text.similarity import Over, compare, similarity


def overlap(prediction: str, references: Sequence[str], over: Over = "mean") -> float:
    """|A ∩ B| / min(|A|, |B|) over the distinct words. Both without words: 1; only one: 0."""
    return compare(_each, prediction, references, over)


@similarity("overlap", prefetch=prefetch_profiles)
def _each(prediction: Document, references: Sequence[Document], context: Context) -> list[float]:
    own, *others = profiles_of([prediction, *references])
    return [_coefficient(own, other) for other in others]


def _coefficient(a: Profile, b: Profile) -> float:
    fewer = min(len(a.keys), len(b.keys))
    return len(a.shared_with(b)[0]) / fewer if fewer else float(len(a.keys) == len(b.keys))
