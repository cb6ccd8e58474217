"""Annotating by a chat model: a reply → an annotation, or a failure; one that does not fit is asked for once more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from sightline.config import Config
from sightline.make.annotate.questions import Questions, metadata_of
from sightline.make.files import LOOK_ALIKE, PHASH, SCHEMA, SHA256
from sightline.models.batches.desk import Requests
from sightline.models.failures import failure
from sightline.models.protocols import ChatModel
from sightline.models.structured import ask_again
from sightline.types import Annotation, ChatReply, Failure, Json, Picture

STAGE = "annotate"


@dataclass(frozen=True, slots=True)
class Answers:
    """The job of annotating: asks about pictures, and turns replies into annotations."""

    questions: Questions
    stage: str = STAGE

    @property
    def model(self) -> str:
        return self.questions.model

    def about(self, picture: Picture) -> str:
        return picture.id

    async def answer(self, model: ChatModel, picture: Picture) -> Annotation | Failure:
        """Ask about one picture; once more, with what was wrong, if the reply does not fit the questions."""
        request = self.questions.request(picture)
        first = await model.reply(request)
        said = first if isinstance(first, ChatReply) else None
        found = self.read(first, picture)
        if not isinstance(found, Failure) or found.kind != "wrong-schema":
            return found
        paid = None if said is None else said.usd
        return self.read(await model.reply(ask_again(request, found.message, said)), picture, paid)

    def read(self, reply: ChatReply | Failure, picture: Picture, paid: float | None = 0.0) -> Annotation | Failure:
        """What the reply says; tags that are repeated count once, and must still be enough."""
        if isinstance(reply, Failure):
            return reply
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
            cost_usd=None if reply.usd is None or paid is None else reply.usd + paid,
            extra=carried(picture, config, self.questions.hash),
        )


def carried(picture: Picture, config: Config, schema: str) -> dict[str, Json]:
    """What an annotation keeps of its picture: rights, asked-for metadata, which bytes it was, and which questions."""
    names, known = config.columns, metadata_of(picture, config)
    kept = (names.license, names.doi, *config.annotate.metadata_columns, SHA256, PHASH, LOOK_ALIKE)
    found = {name: known[name] for name in kept if known.get(name) is not None}
    return {**found, SCHEMA: schema}


def batch_requests(pictures: Sequence[Picture], questions: Questions) -> Requests:
    """The calls with their ids, from the first on each time that they are asked for."""
    return lambda: ((f"{STAGE}::{picture.id}", questions.request(picture)) for picture in pictures)
