"""A reply as it was read off the wire, whichever API the server speaks, and whether it is an answer.

Also its tokens as the server reports them; what a server leaves out is not guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sightline.models.failures import clip, failure, meanings
from sightline.models.json_schema import fitting_json
from sightline.models.protocols import CallOutcome
from sightline.models.thinking import split_thinking, starts_thinking
from sightline.types import ChatReply, ChatRequest, Failure, ToolCall, Usage

NOT_REPORTED = Usage(reported=False)
_FAULTS = {
    "refused": "the model refused",
    "content-filter": "the provider's content filter stopped the reply",
    "overloaded": "the server had no room to finish the reply",
    "server-error": "the server broke the reply off",
}
_BLANK_RUN = 256
"""So much blank text in a row, where the reply was cut off, is a model that writes nothing but newlines."""
_LEAST_FULL = 0.1


def total_usd(costs: Iterable[float | None]) -> float | None:
    """What several replies cost together; None where one has no known price."""
    known = list(costs)
    return None if None in known else sum(cost for cost in known if cost is not None)


def read_usage(reported: Any) -> Usage:
    """The tokens of one call; `reported` is false on the result when the server did not say."""
    if not isinstance(reported, dict):
        return NOT_REPORTED
    known_in = _count(reported, "prompt_tokens", "input_tokens")
    known_out = _count(reported, "completion_tokens", "output_tokens")
    if known_in is None and known_out is None:
        return NOT_REPORTED
    input_, output = known_in or 0, known_out or 0
    sent = _details(reported, "prompt_tokens_details", "input_tokens_details")
    came = _details(reported, "completion_tokens_details", "output_tokens_details")
    if not sent and not came and "prompt_cache_hit_tokens" not in reported:
        return Usage(input=input_, output=output)
    reasoning = _count(came, "reasoning_tokens") or 0
    total = _count(reported, "total_tokens")
    # Some servers count thinking beside the output instead of in it; the total gives them away.
    if reasoning and (reasoning > output or total == input_ + output + reasoning):
        output += reasoning
    return Usage(
        input=input_,
        cached=min(input_, _count(sent, "cached_tokens") or _count(reported, "prompt_cache_hit_tokens") or 0),
        output=output,
        reasoning=reasoning,
        image=min(input_, _count(sent, "image_tokens") or 0),
        cache_written=min(input_, _count(sent, "cache_write_tokens") or 0),
    )


def _details(reported: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    for name in names:
        found = reported.get(name)
        if isinstance(found, dict):
            return found
    return {}


def _count(reported: Mapping[str, Any], *names: str) -> int | None:
    for name in names:
        value = reported.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
    return None


@dataclass(slots=True)
class ReplyText:
    """A reply as it was read off the wire; `finish` is one of ours, or the server's own unknown word."""

    text: str = ""
    thinking: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    refusal: str = ""
    finish: str = "stop"
    model: str | None = None
    usage: Usage = NOT_REPORTED


def finish_reason(word: Any) -> str:
    """Our word for how a reply ended; a server's word that is not known is kept as it is."""
    if not isinstance(word, str) or not word:
        return "stop"
    return meanings("finishes").get(word.lower(), word)


def check_reply(said: ReplyText, request: ChatRequest, seconds: float | None = None) -> CallOutcome:
    """The reply, or the named failure that it really is, with what was said beside it."""
    text, thinking = _apart(said)
    reply = ChatReply(
        text, thinking, said.tool_calls, finish=said.finish, model=said.model, usage=said.usage, seconds=seconds
    )
    wrong = _wrong(said, reply, request)
    if wrong is not None:
        return CallOutcome(wrong, partial=reply)
    if request.schema is None or (said.tool_calls and not text):
        return CallOutcome(reply)
    return _parsed(reply, request.schema)


def _apart(said: ReplyText) -> tuple[str, str]:
    # A server that gives the thinking by itself has already cut it out: a tag later on is then part of the answer.
    if said.thinking and not starts_thinking(said.text):
        return said.text, said.thinking
    split = split_thinking(said.text)
    return split.answer, "\n\n".join(filter(None, (said.thinking, split.thinking)))


def _wrong(said: ReplyText, reply: ChatReply, request: ChatRequest) -> Failure | None:
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


def _parsed(reply: ChatReply, schema: Mapping[str, Any]) -> CallOutcome:
    value, wrong = fitting_json(reply.text, schema)
    if wrong:
        return CallOutcome(failure("wrong-schema", clip("; ".join(wrong))), partial=reply)
    return CallOutcome(replace(reply, parsed=value))
