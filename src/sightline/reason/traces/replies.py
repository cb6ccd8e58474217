"""A teacher's reply in two parts, whatever tags they came in."""

from __future__ import annotations

import re

from sightline.models.failures import failure
from sightline.models.thinking import split_thinking
from sightline.reason.traces.nouns import Said
from sightline.types import ChatReply, Failure

# What some templates put around the answer; it says nothing more.
_WRAPPED = re.compile(r"</?answer>|<\|(?:begin|end)_of_box\|>", re.IGNORECASE)


def said_in(reply: ChatReply) -> Said | Failure:
    """Thinking and answer of a reply, whatever tags they came in; without an answer it is a failure."""
    split = split_thinking(reply.text) if not reply.thinking else None
    thinking, answer = (reply.thinking, reply.text) if split is None else (split.thinking, split.answer)
    answer = _WRAPPED.sub("", answer).strip()
    if not answer:
        return failure("empty", "the model thought, but gave no answer")
    return Said(_WRAPPED.sub("", thinking).strip(), answer, reply.finish, reply.usage, reply.usd)
