"""A taxonomy for those who have none: proposed from a sample of their pictures, for them to edit."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from sightline.config import Config
from sightline.errors import SightlineError
from sightline.make.annotate import photos
from sightline.make.annotate.questions import Questions
from sightline.models.asking import Asking
from sightline.models.built_in import Taxonomy, find_built_in
from sightline.models.chat import open_chat
from sightline.models.photos import Photos
from sightline.models.photos.everyday import EVERYDAY
from sightline.models.structured import Wanted, ask_structured
from sightline.types import ChatRequest, Failure, ImagePart, Message, Picture

STAGE = "taxonomy"
SAMPLE = 24
SHOWN = 12
_FACETS, _VALUES, _WORDS = 4, 8, 60
_NAME = re.compile(r"[^a-z0-9]+")
_REQUEST = (
    "These pictures are a sample of a collection that a search benchmark is made of. Propose how to describe such "
    "pictures: 3 to 6 facets, each with 3 to 10 values of which exactly one fits any picture (add a value such as "
    '"other" where needed); up to 6 flags, which are yes-or-no questions such as has_people; and a vocabulary of 40 to '
    "100 tags, single nouns, verbs or adjectives that can be seen in pictures. Names of facets and flags are in lower "
    "case with underscores."
)

Text = Annotated[str, Field(min_length=1)]


class FacetProposal(BaseModel):
    """A facet and its values."""

    model_config = ConfigDict(extra="forbid")
    name: Text
    values: list[Text]


class Proposal(BaseModel):
    """What a model proposes."""

    model_config = ConfigDict(extra="forbid")
    facets: list[FacetProposal]
    flags: list[Text]
    vocabulary: list[Text]


@cache
def wanted_proposal() -> Wanted[Proposal]:
    """What is asked for, called by names that stay."""
    return Wanted.of(Proposal, {Proposal: "Proposal", FacetProposal: "FacetProposal"})


def propose(
    pictures: Sequence[Picture], model: str, config: Config, workspace: Path, asking: Asking, seed: int = 0
) -> Taxonomy:
    """A taxonomy from a sample of the pictures: by the model, or by clustering what `builtin/photos` sees.

    A built-in model whose taxonomy is known beforehand is not asked for one.
    """
    declared = find_built_in(model)
    if declared is not None and declared.taxonomy is not None:
        return declared.taxonomy()
    rng = np.random.default_rng(seed % 2**32)
    rows = sorted(rng.permutation(len(pictures))[:SAMPLE].tolist())
    sample = [pictures[row] for row in rows]
    if model == photos.NAME:
        return by_clustering(sample, config, asking)
    return asyncio.run(_by_model(sample[:SHOWN], model, config, workspace, asking))


def request(sample: Iterable[Picture], model: str, config: Config) -> ChatRequest:
    """The one call that a proposal takes."""
    shown = tuple(ImagePart(picture.uri, detail=config.annotate.image_detail) for picture in sample)
    return ChatRequest(
        model,
        (Message("user", (_REQUEST, *shown)),),
        max_tokens=config.annotate.max_output_tokens,
        reasoning_effort=config.annotate.reasoning_effort,
    )


async def _by_model(sample: list[Picture], model: str, config: Config, workspace: Path, asking: Asking) -> Taxonomy:
    async with open_chat(model, config, workspace=workspace, asking=asking, stage=STAGE) as caller:
        found = await ask_structured(caller, request(sample, model, config), wanted_proposal())
    if isinstance(found, Failure):
        raise SightlineError(
            f"{model} proposed no taxonomy: {found.message}.",
            "write one yourself, under [annotate.taxonomy], or ask another --model",
        )
    return cleaned(found.value)


def cleaned(found: Proposal) -> Taxonomy:
    """The proposal with plain names, each once; a facet with fewer than two values tells nothing, and is left out."""
    facets: dict[str, tuple[str, ...]] = {}
    for facet in found.facets:
        values = tuple(dict.fromkeys(value.strip() for value in facet.values if value.strip()))
        if len(values) > 1 and _plain(facet.name):
            facets.setdefault(_plain(facet.name), values)
    flags = tuple(dict.fromkeys(name for flag in found.flags if (name := _plain(flag)) and name not in facets))
    words = tuple(dict.fromkeys(word.strip().lower() for word in found.vocabulary if word.strip()))
    if not facets and not words:
        raise SightlineError("the proposed taxonomy is empty.", "write one yourself, under [annotate.taxonomy]")
    return Taxonomy(facets, flags, words)


def by_clustering(
    sample: Sequence[Picture], config: Config, asking: Asking, embedder: Photos | None = None
) -> Taxonomy:
    """Facets are groups of words that mean similar things, of those seen in the sample; and what can be measured."""
    embedder = embedder or Photos(local_only=asking.local_only)
    seen: Counter[str] = Counter()
    for vocabulary in (EVERYDAY, ()):  # Everyday words, then names of the classifier's classes.
        asked = config.model_copy(update={"annotate": config.annotate.model_copy(update={"vocabulary": vocabulary})})
        found = photos.annotate_by_photos(
            sample, Questions(photos.NAME, asked), photos=embedder, threshold=photos.PERHAPS
        )
        for _, note in found:
            seen.update(() if isinstance(note, Failure) else note.tags)
    words = sorted(seen, key=lambda word: (-seen[word], word))[:_WORDS]
    facets: dict[str, tuple[str, ...]] = {}
    groups = clusters(embedder.texts(words), min(_FACETS, len(words) // 3)) if words else []
    for members in groups:
        values = [words[place] for place in members][:_VALUES]
        if len(values) > 1:
            facets[f"kind_of_{_plain(values[0])}"] = (*values, photos.OTHER)
    return Taxonomy({**facets, **photos.MEASURED}, (), tuple(dict.fromkeys((*words, *EVERYDAY))))


def clusters(vectors: np.ndarray[Any, np.dtype[np.float32]], count: int, rounds: int = 10) -> list[list[int]]:
    """Groups of rows that point the same way: k-means on the sphere, begun with the rows farthest apart."""
    if count < 1:
        return []
    centres = [vectors[0]]
    while len(centres) < count:
        nearest = np.max(vectors @ np.stack(centres).T, axis=1)
        centres.append(vectors[int(nearest.argmin())])
    middle = np.stack(centres)
    for _ in range(rounds):
        owner = np.argmax(vectors @ middle.T, axis=1)
        sums = np.stack([vectors[owner == group].sum(axis=0) for group in range(count)])
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        middle = np.where(lengths > 0, sums / np.maximum(lengths, 1e-12), middle)
    return [np.flatnonzero(owner == group).tolist() for group in range(count) if (owner == group).any()]


def _plain(name: str) -> str:
    return _NAME.sub("_", name.lower()).strip("_")
