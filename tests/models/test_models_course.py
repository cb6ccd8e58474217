"""The course of a call: the reply that comes out of it says what the whole call took."""

from __future__ import annotations

from dataclasses import MISSING, fields, replace

from sightline.engine.foresight import NOTHING
from sightline.models.course import Course
from sightline.types import ChatReply, ToolCall, Usage


def test_a_finished_reply_loses_nothing() -> None:
    reply = ChatReply("a", "b", (ToolCall("i", "n", "{}"),), {"p": 1}, "length", "m", Usage(3), 0.1, 9.0, 7, True)
    for field in fields(ChatReply):  # A field that is added later is to be seen here, too.
        assert field.default is MISSING or getattr(reply, field.name) != field.default
    course = Course(NOTHING, attempts=2, known_usd=0.5, seconds=1.5)
    assert course.finished(reply) == replace(reply, usd=0.5, seconds=1.5, attempts=2)
    course.charge(None)
    assert course.finished(reply).usd is None
