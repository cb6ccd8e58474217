"""What a model is asked about a picture, and what its reply says.

A strict JSON schema from the configuration, and the prompt with the picture's metadata; a reply that does not fit is
asked for once more, then it is a failure. Many pictures are asked about at once, each call journaled.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import orjson

from sightline.authoring.project_files import LOOK_ALIKE, PHASH, SCHEMA, SHA256
from sightline.authoring.stage import stage_request
from sightline.benchmark.formats.benchmaker_reader import ATTRIBUTION
from sightline.calls.batches.manager import Requests
from sightline.config import Config
from sightline.config.settings import AnnotateSettings
from sightline.errors import UserError, did_you_mean
from sightline.models.failures import failure
from sightline.models.json_schema import strict_object
from sightline.models.protocols import ChatModel
from sightline.models.replies import total_usd
from sightline.models.structured_output import ask_twice
from sightline.types import Annotation, ChatReply, ChatRequest, Failure, ImagePart, Json, Picture

NO_LABEL = "None (no label)"
"""What stands for a value that a picture does not have, as in benchmaker."""
SCHEMA_NAME = "sightline_annotation"
_PLACEHOLDER = re.compile(r"\{metadata\.([^{}]+)\}")
_SYSTEM = (
    "You describe pictures for a search benchmark. Say only what can be seen. Where you are not sure, choose the "
    "most likely value and give it a low confidence. Reply with one JSON object that fits the schema."
)
_USER = (
    "Describe this picture. summary: one or two plain sentences about what it shows. Every other field: the value that "
    "fits best. confidence: how sure you are of each of them, from 0 to 1."
)
STAGE = "annotate"


@dataclass(frozen=True, slots=True)
class AnnotationQuestions:
    """What is asked of whom; `hash` changes with whatever may change an answer."""

    model: str
    config: Config

    @property
    def settings(self) -> AnnotateSettings:
        return self.config.annotate

    @property
    def schema(self) -> dict[str, Any]:
        """Every field required, no other allowed: facets and tags can't be invented."""
        settings, names = self.settings, self.config.columns
        tag = {"type": "string", "enum": list(settings.vocabulary)} if settings.vocabulary else {"type": "string"}
        answers: dict[str, Any] = {
            name: {"type": "string", "enum": list(values)} for name, values in settings.taxonomy.items()
        }
        answers |= {name: {"type": "boolean"} for name in settings.flags}
        fields: dict[str, Any] = {names.summary: {"type": "string"}, **answers}
        if settings.max_tags:
            bounds = {"minItems": settings.min_tags, "maxItems": settings.max_tags}
            fields[names.tags] = {"type": "array", "items": tag, **bounds}
        sure = {name: {"type": "number", "minimum": 0, "maximum": 1} for name in answers}
        if sure:
            fields[names.confidence] = strict_object(sure)
        return strict_object(fields)

    @property
    def hash(self) -> str:
        """Short, for a column: the schema, the prompts, the model and how it is asked."""
        settings = self.settings
        parts = [
            self.schema,
            self.model,
            self._system,
            self._user,
            settings.max_output_tokens,
            settings.reasoning_effort,
            settings.image_detail,
            list(settings.metadata_columns),
        ]
        return hashlib.sha256(orjson.dumps(parts)).hexdigest()[:16]

    def request(self, picture: Picture) -> ChatRequest:
        """The call for one picture, which is read from disk when it is sent."""
        settings = self.settings
        said = (self.prompt(picture), ImagePart(picture.uri, detail=settings.image_detail))
        return stage_request(self.model, settings, self._system, said, self.schema, SCHEMA_NAME)

    def prompt(self, picture: Picture) -> str:
        """The words of the request, with the picture's own metadata in them."""
        known = metadata_of(picture, self.config)
        text = _PLACEHOLDER.sub(lambda found: _as_text(known.get(found[1])), self._user)
        told = [name for name in self.settings.metadata_columns if name not in self.columns]
        if not told:
            return text
        lines = "\n".join(f"- {name}: {_as_text(known.get(name))}" for name in told)
        return f"{text}\n\nWhat is known of it:\n{lines}"

    @property
    def columns(self) -> tuple[str, ...]:
        """The metadata columns that the prompt speaks of."""
        return tuple(dict.fromkeys(_PLACEHOLDER.findall(self._user)))

    def check(self, columns: Collection[str]) -> None:
        """Refuse questions that can't be answered, before anything is paid for; `columns` are those there are."""
        _check_tags(self.settings)
        for name, values in self.settings.taxonomy.items():
            if not values:
                raise UserError(f"annotate.taxonomy.{name} has no values to choose from.", "give it some, or remove it")
        both = sorted(set(self.settings.taxonomy) & set(self.settings.flags))
        if both:
            raise UserError(f'"{both[0]}" is both a facet and a flag.', "rename one of them in [annotate]")
        for name in (*self.columns, *self.settings.metadata_columns):
            if name not in columns:
                raise UserError(
                    f'the annotation prompt speaks of the metadata column "{name}", which no picture has.',
                    did_you_mean(name, columns, f"There are: {', '.join(sorted(columns))}"),
                )

    @property
    def _system(self) -> str:
        return self.settings.system_prompt or _SYSTEM

    @property
    def _user(self) -> str:
        return self.settings.user_prompt or _USER


def metadata_of(picture: Picture, config: Config) -> dict[str, Json]:
    """All that `{metadata.COLUMN}` can stand for, by column."""
    names = config.columns
    known: dict[str, Json] = {
        names.image_id: picture.id,
        names.mime_type: picture.mime,
        names.license: picture.rights.license,
        names.doi: picture.rights.doi,
        names.dataset: picture.rights.source,
        ATTRIBUTION: picture.rights.attribution,
    }
    return {**known, **picture.extra}


def _as_text(value: Json) -> str:
    if value is None or value == "":
        return NO_LABEL
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _check_tags(settings: AnnotateSettings) -> None:
    words = len(settings.vocabulary)
    if settings.vocabulary and words < settings.min_tags:
        raise UserError(
            f"annotate.vocabulary has {words:,} words, but annotate.min_tags asks for {settings.min_tags:,} of them.",
            f"add words, or set min_tags = {max(0, words // 2)} in [annotate]",
        )


@dataclass(frozen=True, slots=True)
class AnnotateJob:
    """The job of annotating: asks about pictures, and turns replies into annotations."""

    questions: AnnotationQuestions
    stage: str = STAGE

    @property
    def model(self) -> str:
        return self.questions.model

    def about(self, picture: Picture) -> str:
        return picture.id

    async def answer(self, model: ChatModel, picture: Picture) -> Annotation | Failure:
        """Ask about one picture; once more, with what was wrong, if the reply does not fit the questions."""
        request = self.questions.request(picture)
        found, replies = await ask_twice(model, request, lambda reply: self.read(reply, picture))
        if isinstance(found, Failure):
            return found
        return replace(found, cost_usd=total_usd(reply.usd for reply in replies))

    def read(self, reply: ChatReply, picture: Picture) -> Annotation | Failure:
        """What the reply says; tags that are repeated count once, and must still be enough."""
        config, settings = self.questions.config, self.questions.settings
        names = config.columns
        said = cast("Mapping[str, Any]", reply.parsed)
        tags = tuple(dict.fromkeys(said.get(names.tags, ())))
        if len(tags) < settings.min_tags and settings.max_tags:
            return failure(
                "wrong-schema", f"{names.tags} must have at least {settings.min_tags} different items, not {len(tags)}"
            )
        return Annotation(
            picture.id,
            summary=said[names.summary].strip(),
            facets={name: said[name] for name in settings.taxonomy},
            flags={name: said[name] for name in settings.flags},
            tags=tags,
            confidence={name: float(value) for name, value in said.get(names.confidence, {}).items()},
            by=self.questions.model,
            cost_usd=reply.usd,
            extra=carried(picture, config, self.questions.hash),
        )


def carried(picture: Picture, config: Config, schema: str) -> dict[str, Json]:
    """What an annotation keeps of its picture: rights, asked-for metadata, which bytes it was, and which questions."""
    names, known = config.columns, metadata_of(picture, config)
    kept = (names.license, names.doi, *config.annotate.metadata_columns, SHA256, PHASH, LOOK_ALIKE)
    found = {name: known[name] for name in kept if known.get(name) is not None}
    return {**found, SCHEMA: schema}


def batch_requests(pictures: Sequence[Picture], questions: AnnotationQuestions) -> Requests:
    """The calls with their ids, from the first on each time that they are asked for."""
    return lambda: ((f"{STAGE}::{picture.id}", questions.request(picture)) for picture in pictures)
