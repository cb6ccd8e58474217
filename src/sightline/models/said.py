"""What a server said, whichever API it speaks, and whether it is an answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sightline.models.failures import clip, failure
from sightline.models.json_text import fitting_json
from sightline.models.protocols import Outcome
from sightline.models.thinking import split_thinking, starts_thinking
from sightline.models.usage import NOT_REPORTED
from sightline.types import ChatReply, ChatRequest, Failure, ToolCall, Usage

FINISHES = {
    "stop": "stop",
    "completed": "stop",
    "end_turn": "stop",
    "eos": "stop",
    "eos_token": "stop",
    "stop_sequence": "stop",
    "tool_calls": "tool-calls",
    "tool_use": "tool-calls",
    "function_call": "tool-calls",
    "length": "length",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "model_length": "length",
    "content_filter": "content-filter",
    "safety": "content-filter",
    "recitation": "content-filter",
    "prohibited_content": "content-filter",
    "refusal": "refused",
    "insufficient_system_resource": "overloaded",
    "error": "server-error",
    "abort": "server-error",
    "cancelled": "server-error",
    "failed": "server-error",
    "in_progress": "server-error",
    "queued": "server-error",
}
"""A server's word for how a reply ended → ours; an unknown word is kept as it is."""
_FAULTS = {
    "refused": "the model refused",
    "content-filter": "the provider's content filter stopped the reply",
    "overloaded": "the server had no room to finish the reply",
    "server-error": "the server broke the reply off",
}
_BLANK_RUN = 256
"""So much blank text in a row, where the reply was cut off, is a model that writes nothing but newlines."""
_LEAST_FULL = 0.1


@dataclass(frozen=True, slots=True)
class Said:
    """A reply as it was read off the wire; `finish` is one of ours, or the server's own unknown word."""

    text: str = ""
    thinking: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    refusal: str = ""
    finish: str = "stop"
    model: str | None = None
    usage: Usage = NOT_REPORTED


def finish_word(word: Any) -> str:
    """Our word for how a reply ended."""
    if not isinstance(word, str) or not word:
        return "stop"
    return FINISHES.get(word.lower(), word)


def judge(said: Said, request: ChatRequest, seconds: float | None = None) -> Outcome:
    """The reply, or the named failure that it really is, with what was said beside it."""
    text, thinking = _apart(said)
    reply = ChatReply(
        text, thinking, said.tool_calls, finish=said.finish, model=said.model, usage=said.usage, seconds=seconds
    )
    wrong = _wrong(said, reply, request)
    if wrong is not None:
        return Outcome(wrong, partial=reply)
    if request.schema is None or (said.tool_calls and not text):
        return Outcome(reply)
    return _parsed(reply, request.schema)


def _apart(said: Said) -> tuple[str, str]:
    # A server that gives the thinking by itself has already cut it out: a tag later on is then part of the answer.
    if said.thinking and not starts_thinking(said.text):
        return said.text, said.thinking
    split = split_thinking(said.text)
    return split.answer, "\n\n".join(filter(None, (said.thinking, split.thinking)))


def _wrong(said: Said, reply: ChatReply, request: ChatRequest) -> Failure | None:
    if said.refusal or said.finish == "refused":
        return failure("refused", f"{_FAULTS['refused']}: {clip(said.refusal or reply.text or 'no reason given')}")
    if said.finish in _FAULTS:
        return failure(said.finish, _FAULTS[said.finish])
    if _is_endless(said.text, said.finish):
        return failure("endless", "the model wrote blank text without end")
    if said.finish == "length":
        return failure("length", _cut_off(reply, request))
    if not reply.text.strip() and not reply.tool_calls:
        return failure("empty", "the model thought, but gave no answer" if reply.thinking else "the reply is empty")
    return None


def _cut_off(reply: ChatReply, request: ChatRequest) -> str:
    where = "while thinking" if reply.thinking and not reply.text.strip() else "in the middle of the reply"
    if request.max_tokens is None:
        return f"the model's own limit of tokens was reached {where}"
    return f"the limit of {request.max_tokens:,} tokens was reached {where}; raise max_tokens or ask for less"


def _is_endless(text: str, finish: str) -> bool:
    if len(text) < _BLANK_RUN:
        return False
    if finish == "length" and not text[-_BLANK_RUN:].strip():
        return True
    least = _LEAST_FULL * len(text)
    # Most replies have enough in their first quarter.
    return _letters(text[: len(text) // 4]) < least and _letters(text) < least


def _letters(text: str) -> int:
    """All characters but white space."""
    return sum(map(len, text.split()))


def _parsed(reply: ChatReply, schema: Mapping[str, Any]) -> Outcome:
    value, wrong = fitting_json(reply.text, schema)
    if wrong:
        return Outcome(failure("wrong-schema", clip("; ".join(wrong))), partial=reply)
    return Outcome(replace(reply, parsed=value))
