"""What is asked of a chat model, and what it said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Literal, TypeAlias

from sightline.class_names import known_as
from sightline.types.corpus import Json

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]


@known_as("ImagePart")
@dataclass(frozen=True, slots=True)
class ImagePart:
    """A picture in a message: a file, an address, or bytes at hand; sent resized to the provider's limit."""

    source: str
    data: bytes | None = field(default=None, repr=False)
    detail: Literal["auto", "low", "high"] = "auto"


@known_as("ToolCall")
@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's wish to use a tool; `arguments` is the JSON text as the model wrote it."""

    id: str
    name: str
    arguments: str


@known_as("ToolSpec")
@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool that a model may call; `parameters` is a JSON schema."""

    name: str
    description: str
    parameters: Mapping[str, Json]


@known_as("Message")
@dataclass(frozen=True, slots=True)
class Message:
    """One turn: text and pictures in order; a tool's answer names the call that it answers."""

    role: Role
    content: tuple[str | ImagePart, ...]
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None


def split_model(text: str) -> tuple[str, str | None]:
    """`provider/model@http://host:port/v1` → the model, and the address where it is asked (None: its usual one)."""
    name, at, url = text.strip().partition("@http")
    return name, f"http{url}" if at else None


@known_as("ChatRequest")
@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One call; two equal requests are one paid call, and `sample` tells n wanted answers to the same apart.

    Of a `model` that is named with its address the address is left out: it belongs to whoever is asked.
    """

    model: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    tool_choice: str | None = None
    schema: Mapping[str, Json] | None = None
    schema_name: str = "answer"
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    reasoning_effort: str | None = None
    stop: tuple[str, ...] = ()
    sample: int = 0
    extra: Mapping[str, Json] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "model", split_model(self.model)[0])


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call; cached, image and cache-written ones are part of `input`, reasoning ones part of `output`."""

    input: int = 0
    cached: int = 0
    output: int = 0
    reasoning: int = 0
    image: int = 0
    cache_written: int = 0
    reported: bool = True
    """False when the server said nothing of its tokens: then the zeros mean "not known", never "free"."""

    def __add__(self, other: Usage) -> Usage:
        """Of two calls together; reported only if both are."""
        sums = {one.name: getattr(self, one.name) + getattr(other, one.name) for one in fields(Usage)}
        return Usage(**{**sums, "reported": self.reported and other.reported})


@dataclass(frozen=True, slots=True)
class Partial:
    """What a model had said when it was cut off, declined, or did not fit: kept, but no answer."""

    text: str
    thinking: str = ""


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What a model said: thinking apart from the answer; `parsed` where a schema was asked for."""

    text: str
    thinking: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    parsed: Json = None
    finish: str = "stop"
    model: str | None = None
    usage: Usage = Usage()
    usd: float | None = None
    """None means that the price is not known."""
    seconds: float | None = None
    attempts: int = 1
    from_journal: bool = False
    """A repeated answer, which cost nothing now."""
