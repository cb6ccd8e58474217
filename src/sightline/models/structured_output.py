"""An answer of a given type: asked with its schema, checked, and asked for once more with what was wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import orjson
from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from sightline.models.failures import clip, failure
from sightline.models.json_schema import strict_schema, with_names
from sightline.models.protocols import ChatModel
from sightline.types import ChatReply, ChatRequest, Failure, Json, Message

T = TypeVar("T")
_WRAPPED = "value"
_MOST_WRONG = 8


@dataclass(frozen=True, slots=True)
class Structured(Generic[T]):
    """An answer as a value of the type that was asked for; `asked` is 2 when the first reply did not fit."""

    value: T
    reply: ChatReply
    asked: int = 1


@dataclass(frozen=True, slots=True)
class ReplySchema(Generic[T]):
    """A type, and the schema that a model is asked with; what is no object travels in a field of one."""

    adapter: TypeAdapter[T]
    schema: Mapping[str, Json]
    name: str
    wrapped: bool

    @classmethod
    def of(cls, kind: type[T], names: Mapping[type, str] | None = None) -> ReplySchema[T]:
        """From a pydantic model, a dataclass, or any type that pydantic knows, such as `list[str]`.

        A schema names the type and those of its parts, and journal keys hash it: `names` says what it calls them, so
        that they can be renamed in code. Without it they are called as they are there.
        """
        adapter: TypeAdapter[T] = TypeAdapter(kind)
        fixed = {each.__name__: name for each, name in (names or {}).items()}
        schema = with_names(adapter.json_schema(), fixed)
        wrapped = schema.get("type") != "object"
        if wrapped:
            definitions = {"$defs": schema.pop("$defs")} if "$defs" in schema else {}
            schema = {"type": "object", "properties": {_WRAPPED: schema}, **definitions}
        called = getattr(kind, "__name__", "answer")
        name = re.sub(r"[^A-Za-z0-9_-]+", "_", fixed.get(called, called))[:64]
        return cls(adapter, strict_schema(schema), name or "answer", wrapped)

    def read(self, reply: ChatReply) -> T | Failure:
        """The value in the reply, or a failure that says what is wrong with it."""
        value = reply.parsed
        if self.wrapped and isinstance(value, dict):
            value = value.get(_WRAPPED)
        try:
            return self.adapter.validate_json(orjson.dumps(value))
        except ValidationError as error:
            wrong = error.errors(include_url=False, include_input=False)[:_MOST_WRONG]
        return failure("wrong-schema", f"the reply is no {self.name}: {clip('; '.join(map(_worded, wrong)))}")


async def ask_structured(
    model: ChatModel, request: ChatRequest, kind: type[T] | ReplySchema[T]
) -> Structured[T] | Failure:
    """Ask for an answer of this type; a reply that does not fit is asked for again once, with what was wrong."""
    wanted = kind if isinstance(kind, ReplySchema) else ReplySchema.of(kind)
    found, replies = await ask_twice(model, with_schema(request, wanted), wanted.read)
    if isinstance(found, Failure):
        return found
    last = replies[-1]
    assert isinstance(last, ChatReply)
    return Structured(found, last, len(replies))


async def ask_twice(
    model: ChatModel, request: ChatRequest, read: Callable[[ChatReply], T | Failure]
) -> tuple[T | Failure, tuple[ChatReply | Failure, ...]]:
    """Ask; once more, with what was wrong, if the reply does not fit. What was read last, and all replies."""
    first = await model.reply(request)
    found = first if isinstance(first, Failure) else read(first)
    if not isinstance(found, Failure) or found.kind != "wrong-schema":
        return found, (first,)
    again = ask_again(request, found.message, first if isinstance(first, ChatReply) else None)
    second = await model.reply(again)
    return second if isinstance(second, Failure) else read(second), (first, second)


def with_schema(request: ChatRequest, wanted: ReplySchema[T]) -> ChatRequest:
    """The request as it is sent when a reply of a type is wanted."""
    return replace(request, schema=wanted.schema, schema_name=wanted.name)


def ask_again(request: ChatRequest, wrong: str, said: ChatReply | None = None) -> ChatRequest:
    """The same request, followed by what was said and what was wrong with it."""
    before = () if said is None or not said.text else (Message("assistant", (said.text,)),)
    complaint = (
        f"Your reply could not be used: {wrong}\nReply again with nothing but one JSON object that fits the schema."
    )
    return replace(request, messages=(*request.messages, *before, Message("user", (complaint,))))


def _worded(error: ErrorDetails) -> str:
    place = ".".join(map(str, error["loc"])) or "the reply"
    return f"{place}: {error['msg']}"
