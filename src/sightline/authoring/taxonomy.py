"""A taxonomy for those who have none: proposed from a sample of pictures, written into their configuration."""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from sightline.authoring import annotate_photos
from sightline.authoring.annotate_requests import AnnotationQuestions
from sightline.calls.chat import open_chat
from sightline.calls.session import Session
from sightline.config import Config
from sightline.config.sources import DEFAULT_FILE
from sightline.engine.event_loop import run_async
from sightline.errors import SightlineError
from sightline.io.files import write_whole
from sightline.models.built_in import Taxonomy, find_built_in
from sightline.models.photos.annotator import EVERYDAY, known_words
from sightline.models.photos.embedder import Photos
from sightline.models.structured_output import ReplySchema, ask_structured
from sightline.types import ChatRequest, Failure, ImagePart, Message, Picture

STAGE = "taxonomy"
SAMPLE = 24
_PHOTOS_SAMPLE = 200
"""`builtin/photos` costs nothing, so it may look at more."""
SHOWN = 12
_WORDS = 60
_NAME = re.compile(r"[^a-z0-9]+")
_REQUEST = (
    "These pictures are a sample of a collection that a search benchmark is made of. Propose how to describe such "
    "pictures: 3 to 6 facets, each with 3 to 10 values of which exactly one fits any picture (add a value such as "
    '"other" where needed); up to 6 flags, which are yes-or-no questions such as has_people; and a vocabulary of 40 to '
    "100 tags, single nouns, verbs or adjectives that can be seen in pictures. Names of facets and flags are in lower "
    "case with underscores."
)

Text = Annotated[str, Field(min_length=1)]
_HEADER = re.compile(r"^\s*\[\s*annotate\s*\][^\n]*\n?", re.MULTILINE)
_NOTE = "# Proposed from a sample of the pictures: edit it, and run `sightline make annotate` again."


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
def wanted_proposal() -> ReplySchema[Proposal]:
    """What is asked for, called by names that stay."""
    return ReplySchema.of(Proposal, {Proposal: "Proposal", FacetProposal: "FacetProposal"})


def propose(pictures: Sequence[Picture], model: str, session: Session, seed: int = 0) -> Taxonomy:
    """A taxonomy from a sample of the pictures: by the model, or the facets that `builtin/photos` knows.

    A built-in model whose taxonomy is known beforehand is not asked for one.
    """
    declared = find_built_in(model)
    if declared is not None and declared.taxonomy is not None:
        return declared.taxonomy()
    rng = np.random.default_rng(seed % 2**32)
    size = _PHOTOS_SAMPLE if model == annotate_photos.NAME else SAMPLE
    rows = sorted(rng.permutation(len(pictures))[:size].tolist())
    sample = [pictures[row] for row in rows]
    if model == annotate_photos.NAME:
        return by_photos(sample, session.config, Photos(local_only=session.calls.local_only))
    return run_async(_by_model(sample[:SHOWN], model, session))


def request(sample: Iterable[Picture], model: str, config: Config) -> ChatRequest:
    """The one call that a proposal takes."""
    shown = tuple(ImagePart(picture.uri, detail=config.annotate.image_detail) for picture in sample)
    return ChatRequest(
        model,
        (Message("user", (_REQUEST, *shown)),),
        max_tokens=config.annotate.max_output_tokens,
        reasoning_effort=config.annotate.reasoning_effort,
    )


async def _by_model(sample: list[Picture], model: str, session: Session) -> Taxonomy:
    async with open_chat(model, session, stage=STAGE) as caller:
        found = await ask_structured(caller, request(sample, model, session.config), wanted_proposal())
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


def by_photos(sample: Sequence[Picture], config: Config, embedder: Photos) -> Taxonomy:
    """Facets of everyday photographs, with the values that are seen in the sample; names of things beside them.

    A facet of which fewer than two values are seen tells nothing of these pictures, and is left out.
    """
    seen: Counter[str] = Counter()
    everyday = tuple(dict.fromkeys((*known_words().words, *EVERYDAY)))
    for vocabulary in (everyday, ()):  # Everyday words, then names of the classifier's classes.
        asked = config.model_copy(update={"annotate": config.annotate.model_copy(update={"vocabulary": vocabulary})})
        found = annotate_photos.annotate_by_photos(
            sample, AnnotationQuestions(annotate_photos.NAME, asked), photos=embedder, threshold=annotate_photos.PERHAPS
        )
        for _, note in found:
            seen.update(() if isinstance(note, Failure) else note.tags)
    words = sorted(seen, key=lambda word: (-seen[word], word))[:_WORDS]
    facets = {
        facet: kept
        for facet, values in annotate_photos.facets().items()
        if len(kept := tuple(value for value in values if value in seen)) > 1
    }
    return Taxonomy(facets, (), tuple(dict.fromkeys((*words, *everyday))))


def _plain(name: str) -> str:
    return _NAME.sub("_", name.lower()).strip("_")


def write_taxonomy(taxonomy: Taxonomy, min_tags: int, config_path: Path | None) -> Path:
    """Add it to the TOML file, or to a new `sightline.toml` where there is none; the path that it went to."""
    path = config_path if config_path is not None and config_path.suffix != ".json" else DEFAULT_FILE
    before = path.read_text(encoding="utf-8-sig") if path.is_file() else ""
    write_whole(path, with_taxonomy(before, taxonomy, min_tags).encode())
    return path


def with_taxonomy(text: str, taxonomy: Taxonomy, min_tags: int) -> str:
    """The text of a TOML file with the taxonomy in it; what it sets already stays as it is."""
    said = tomllib.loads(text).get("annotate", {})
    lines = {"flags": _list(taxonomy.flags), "vocabulary": _list(taxonomy.vocabulary), "min_tags": str(min_tags)}
    keys = "".join(f"{key} = {value}\n" for key, value in lines.items() if key not in said and value != "[]")
    header = _HEADER.search(text)
    text = text if not text or text.endswith("\n") else f"{text}\n"
    if header is not None:
        head = header[0] if header[0].endswith("\n") else f"{header[0]}\n"
        text = f"{text[: header.start()]}{head}{_NOTE}\n{keys}{text[header.end() :]}"
    else:
        text = f"{text}\n{_NOTE}\n[annotate]\n{keys}".lstrip("\n")
    if not taxonomy.facets or "taxonomy" in said:
        return text
    facets = "".join(f"{json.dumps(name)} = {_list(values)}\n" for name, values in taxonomy.facets.items())
    return f"{text}\n[annotate.taxonomy]\n{facets}"


def _list(values: tuple[str, ...]) -> str:
    """As TOML, whose strings are those of JSON."""
    return json.dumps(list(values), ensure_ascii=False)
