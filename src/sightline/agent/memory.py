"""The conversation, and the memory that takes its place when it grows too long."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from sightline.agent.prompts import COMPRESS, MEMORY, MemoryForm
from sightline.agent.trajectory import Use
from sightline.calls.tokens import request_tokens
from sightline.types import ChatRequest, Failure, ImagePart, Message, ToolSpec

COMPRESS_TOOL = ToolSpec(
    "Compress",
    "Replace the conversation so far by a short memory of it, when much in it is no longer needed. Saved subsets stay.",
    {"type": "object", "properties": {}, "additionalProperties": False},
)
_OVERFLOW = re.compile(
    r"context.{0,30}(?:length|window|size|limit|exceed)|exceed.{0,40}\bcontext\b|"
    r"(?:prompt|input|request)\b.{0,40}too (?:long|large)|too many (?:input )?tokens|"
    r"maximum (?:number of )?(?:input |prompt )?tokens|reduce the length",
    re.IGNORECASE | re.DOTALL,
)
_OVERFLOWING = frozenset({"bad-request", "server-error", "rate-limited"})
_LISTED = 20
_CLIPPED = 2_000
_LEFT_OUT = "(a picture was shown here)"


@dataclass(frozen=True, slots=True)
class MemorySettings:
    """When a conversation is compressed: past so many tokens (estimated) or pictures in it, or at the agent's wish.

    Without `compress` it never is, and an overflow is the end. `form` is what a memory consists of: session and working
    memory, or the three tiers of the DISBench paper (global, local, tool use).
    """

    compress: bool = True
    tokens: int = 128_000
    pictures: int = 60
    form: MemoryForm = "two-part"


@dataclass(slots=True)
class Conversation:
    """What a model is sent: the beginning, the memory of what was compressed, and the exchanges since."""

    head: tuple[Message, ...]
    memory: Message | None = None
    exchanges: list[list[Message]] = field(default_factory=list)
    uses: list[Use] = field(default_factory=list)

    @property
    def messages(self) -> tuple[Message, ...]:
        after = (message for exchange in self.exchanges for message in exchange)
        return (*self.head, *((self.memory,) if self.memory is not None else ()), *after)

    @property
    def pictures(self) -> int:
        """How many pictures are in it, beside those of the question."""
        return sum(_pictures(message) for exchange in self.exchanges for message in exchange)

    def say(self, text: str) -> None:
        """A word of the user's after the last exchange."""
        if self.exchanges:
            self.exchanges[-1].append(Message("user", (text,)))
        else:
            self.exchanges.append([Message("user", (text,))])

    def replace_by(self, memory: str, *, keep_last: bool) -> None:
        """Put a memory in the place of all exchanges but the last, which the model has not reacted to yet."""
        self.memory = Message("user", (MEMORY.format(text=memory),))
        if keep_last:
            del self.exchanges[:-1]
        else:
            self.exchanges.clear()


def is_overflow(failure: Failure) -> bool:
    """Did a server say that the conversation is longer than its model reads?"""
    return failure.kind in _OVERFLOWING and _OVERFLOW.search(failure.message) is not None


def is_due(settings: MemorySettings, conversation: Conversation, request: ChatRequest) -> str | None:
    """Why the conversation should be compressed before this request; None while it need not be."""
    if not settings.compress or len(conversation.exchanges) < 2:
        return None
    if conversation.pictures > settings.pictures:
        return "pictures"
    return "tokens" if request_tokens(request).total > settings.tokens else None


def compress_request(
    conversation: Conversation, like: ChatRequest, settings: MemorySettings, *, model: str, keep_last: bool, flat: bool
) -> ChatRequest:
    """What the compressor is asked: the conversation itself, or (`flat`) its words alone in one message."""
    kept = conversation.exchanges[:-1] if keep_last else conversation.exchanges
    before = (conversation.memory,) if conversation.memory is not None else ()
    messages = (*conversation.head, *before, *(message for exchange in kept for message in exchange))
    if flat:
        room = settings.tokens * 2  # Characters: about half of what the model may be sent.
        told = "\n\n".join(_told(messages[1:]))
        messages = (Message("user", (told if len(told) <= room else f"…{told[-room:]}",)),)
    return replace(
        like, model=model, messages=(*messages, Message("user", (COMPRESS[settings.form],))), tools=(), tool_choice=None
    )


def outline(conversation: Conversation) -> str:
    """A memory that needs no model: the calls so far, and what each found."""
    lines = [] if conversation.memory is None else [_words(conversation.memory)]
    for use in conversation.uses:
        found = ", ".join(use.found[:_LISTED]) + (" …" if len(use.found) > _LISTED else "")
        came = "an error" if use.error else found or "see the saved subsets"
        lines.append(f"- {use.tool} {use.arguments[:300]}: {came}")
    return "\n".join(lines) or "Nothing was done yet."


def _told(messages: Sequence[Message]) -> Iterator[str]:
    for message in messages:
        calls = "".join(f"\n[calls {call.name} with {call.arguments[:_CLIPPED]}]" for call in message.tool_calls)
        yield f"{message.role}: {_words(message)[: _CLIPPED * 2]}{calls}"


def _words(message: Message) -> str:
    return "".join(part if isinstance(part, str) else _LEFT_OUT for part in message.content)


def _pictures(message: Message) -> int:
    return sum(isinstance(part, ImagePart) for part in message.content)
