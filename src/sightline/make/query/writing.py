"""Queries by a chat model, which sees the seeds and nothing else: not the candidates, not the file names."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace

import orjson

from sightline.calls.ask_many import Ask
from sightline.config import Config
from sightline.config.making import Difficulty, QueryStyle
from sightline.make.plan.pool import SeededQuery
from sightline.models.structured import ask_again
from sightline.types import Annotation, ChatReply, ChatRequest, ImagePart, Json, Message, Picture

STAGE = "query"
SCHEMA_NAME = "sightline_query"
_SYSTEM = (
    "You write queries for a test of picture search. You see one or more pictures that a query must find. Write what a "
    "person would type who remembers such a picture. Ask only for what can be seen, in words that other pictures could "
    "match too; never name a file."
)
_STYLES: Mapping[QueryStyle, str] = {
    "keyword": "two to five keywords, with no sentence around them",
    "sentence": "one plain sentence that describes the picture",
    "question": "one question that asks for such pictures",
    "vague": "a few vague words, as of somebody who half remembers it, that still leave out most other pictures",
}
_DIFFICULTIES: Mapping[Difficulty, str] = {
    "easy": "ask for the main thing alone",
    "medium": "ask for the main thing and one or two details",
    "hard": "ask for several things at once that only few pictures share",
}


@dataclass(frozen=True, slots=True)
class Wish:
    """A query that is to be written: its seeds, how it is to be worded, and how much it asks for."""

    query: SeededQuery
    style: QueryStyle
    difficulty: Difficulty
    notes: tuple[Annotation, ...]
    pictures: tuple[Picture, ...] = ()

    def hash(self, model: str, config: Config) -> str:
        """What tells that the same was wished for before, of the same."""
        settings = config.query
        parts = [
            model,
            self.query.seeds,
            self.style,
            self.difficulty,
            [settings.system_prompt, settings.user_prompt, settings.max_output_tokens, settings.reasoning_effort],
            [_told(note, config) for note in self.notes],
        ]
        return hashlib.sha256(orjson.dumps(parts)).hexdigest()[:16]


def request(wish: Wish, model: str, config: Config) -> ChatRequest:
    """The call for one query."""
    settings = config.query
    asked = settings.user_prompt or "Write one query for these pictures."
    told = orjson.dumps([_told(note, config) for note in wish.notes]).decode()
    words = (
        f"{asked}\nStyle: {_STYLES[wish.style]}.\nDifficulty: {_DIFFICULTIES[wish.difficulty]}.\n"
        f"What was said of them: {told}"
    )
    shown = tuple(ImagePart(picture.uri, detail=settings.image_detail) for picture in wish.pictures)
    name = config.columns.query
    schema: dict[str, Json] = {
        "type": "object",
        "properties": {name: {"type": "string"}},
        "required": [name],
        "additionalProperties": False,
    }
    return ChatRequest(
        model,
        (Message("system", (settings.system_prompt or _SYSTEM,)), Message("user", (words, *shown))),
        schema=schema,
        schema_name=SCHEMA_NAME,
        max_tokens=settings.max_output_tokens,
        reasoning_effort=settings.reasoning_effort,
    )


def again(asked: Ask, wrong: str, said: ChatReply | None) -> Ask:
    """The same call once more, with what was wrong."""
    return replace(asked, request=ask_again(asked.request, wrong, said))


def _told(note: Annotation, config: Config) -> dict[str, object]:
    """An annotation without ids, licences and hashes: nothing that could give the picture away by name."""
    names = config.columns
    found = {names.summary: note.summary, **note.facets, **note.flags, names.tags: list(note.tags)}
    return {name: value for name, value in found.items() if value}
