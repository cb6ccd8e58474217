"""A teacher's reply in two parts, whatever tags they came in."""

from __future__ import annotations

import re
from dataclasses import replace

from sightline.models.failures import failure
from sightline.models.thinking import split_thinking
from sightline.reason.traces.nouns import CUT_OFF, NO_USAGE, Said
from sightline.types import ChatReply, Failure, Partial

# What templates put around the answer, or around a part of the thinking; it says nothing more.
_WRAPPED = re.compile(
    r"</?(?:answer|response|output|conclusion|solution|final(?:[_-]?answer)?|reflection|step)>"
    r"|<\|(?:begin|end)_of_(?:box|text|solution)\|>|<\|(?:im_end|eot_id|endoftext|eom_id|end_of_turn)\|>|<end_of_turn>",
    re.IGNORECASE,
)
# What begins and ends a text for some models, and was left in the reply.
_BEGIN, _ENDS = "<s>", ("</s>", "[e~[")


def said_in(reply: ChatReply | Failure) -> Said | Failure:
    """Thinking and answer of a reply, whatever tags they came in; without an answer it is a failure.

    What came of a reply that was cut off or declined is said, too: its `finish` tells that it is no trace.
    """
    if isinstance(reply, Failure):
        return _cut_off(reply)
    thinking, answer = _apart(reply)
    if not answer:
        empty = failure("empty", "the model thought, but gave no answer")
        return replace(empty, usage=reply.usage, usd=reply.usd)
    return Said(thinking, answer, reply.finish, reply.usage, reply.usd)


def _cut_off(failed: Failure) -> Said | Failure:
    thinking, answer = ("", "") if failed.partial is None else _apart(failed.partial)
    if failed.kind not in CUT_OFF or not (thinking or answer):
        return failed
    return Said(thinking, answer, failed.kind, failed.usage or NO_USAGE, failed.usd)


def _apart(reply: ChatReply | Partial) -> tuple[str, str]:
    """What stands in tags of steps is thinking as well, unless no answer would be left."""
    if reply.thinking and not reply.text.lstrip().startswith("<"):  # The server has parted it: a tag is only spoken of.
        return _unwrapped(reply.thinking), _unwrapped(reply.text)
    split = split_thinking(reply.text, steps=True)
    if not _unwrapped(split.answer):
        split = split_thinking(reply.text)
    thinking = "\n\n".join(filter(None, (reply.thinking, split.thinking)))
    return _unwrapped(thinking), _unwrapped(split.answer)


def _unwrapped(text: str) -> str:
    found = (_WRAPPED.sub("", text) if "<" in text else text).strip()
    while found.endswith(_ENDS):
        for end in _ENDS:
            found = found.removesuffix(end).rstrip()
    return found.removeprefix(_BEGIN).lstrip()
