from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.calls.budget import Budget
from sightline.calls.caller import Caller
from sightline.calls.journal import Journal
from sightline.calls.prices import Prices
from sightline.errors import UserError
from sightline.models.providers import leaves_machine
from sightline.models.transport_factory import find_endpoint, open_transport
from sightline.types import ChatReply, ChatRequest, Failure, ImagePart, Message, Role
from sightline_world.models.chat.model import WorldChat
from world_chat_life import Album, person, scene, thing

ALBUM = Album([scene("garden", "fog", [thing("teapot", "blue")], [person("red")], ["EXIT"])])


def test_it_is_opened_by_its_name_and_leaves_the_machine_never() -> None:
    model = open_transport("builtin/world", local_only=True)
    assert isinstance(model, WorldChat)
    assert model.endpoint == find_endpoint("builtin/world")
    assert not leaves_machine(model.endpoint)
    with pytest.raises(UserError, match='no built-in chat model "moon"'):
        open_transport("builtin/moon")


def test_its_price_is_known_to_be_nothing(tmp_path: Path) -> None:
    assert Prices().needed("builtin/world").is_free
    with Journal(tmp_path) as journal:
        caller = Caller(ALBUM.model(), journal, budget=Budget.usd(0.01), name="builtin/world")
        request = ChatRequest("builtin/world", (Message("user", ("How many people?", ALBUM.part(0))),))
        first, again = asyncio.run(caller.reply(request)), asyncio.run(caller.reply(request))
    assert isinstance(first, ChatReply)
    assert isinstance(again, ChatReply)
    assert (first.text, first.usd, first.from_journal) == ("1", 0.0, False)
    assert (again.text, again.from_journal) == ("1", True)
    assert first.usage.reported
    assert first.usage.image > 0


def test_equal_requests_get_equal_replies() -> None:
    request = ChatRequest("builtin/world", (Message("user", ("Describe it.", ALBUM.part(0))),))
    replies = [asyncio.run(ALBUM.model().reply(request)) for _ in range(2)]
    first, second = (replace(reply, seconds=None) for reply in replies if isinstance(reply, ChatReply))
    assert first == second
    assert first.thinking


def test_a_picture_is_read_once() -> None:
    looks = 0

    def read(pixels: object) -> object:
        nonlocal looks
        looks += 1
        return ALBUM.read(pixels)  # type: ignore[arg-type]

    model = WorldChat(read)  # type: ignore[arg-type]
    for text in ("Is there a teapot?", "What colour is the teapot?"):
        asyncio.run(model.reply(ChatRequest(model.name, (Message("user", (text, ALBUM.part(0))),))))
    assert looks == 1


def test_it_sees_pixels_and_not_names() -> None:
    """A file name or a path that tells something changes nothing."""
    part = ALBUM.part(0)
    lying = ImagePart("/life/beach/red_dog_at_night.jpg", part.data)
    told = [
        asyncio.run(ALBUM.model().reply(ChatRequest("builtin/world", (Message("user", ("Describe it.", each)),))))
        for each in (part, lying)
    ]
    assert isinstance(told[0], ChatReply)
    assert isinstance(told[1], ChatReply)
    assert told[0].text == told[1].text
    assert "beach" not in told[1].text


_roles: st.SearchStrategy[Role] = st.sampled_from(["system", "user", "assistant", "tool"])


@settings(deadline=None, max_examples=80)
@given(
    st.lists(st.tuples(_roles, st.lists(st.text(max_size=40) | st.just(None), max_size=3)), max_size=5), st.booleans()
)
def test_no_messages_break_it(turns: list[tuple[Role, list[str | None]]], schema: bool) -> None:
    messages = tuple(
        Message(role, tuple(ALBUM.part(0) if text is None else text for text in texts)) for role, texts in turns
    )
    wanted: Any = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
    got = asyncio.run(ALBUM.model().reply(ChatRequest("builtin/world", messages, schema=wanted if schema else None)))
    assert isinstance(got, ChatReply), got
    assert got.text


def test_hostile_bytes_are_a_failure() -> None:
    bad = ImagePart("", ALBUM.png(0)[:40])
    got = asyncio.run(ALBUM.model().reply(ChatRequest("builtin/world", (Message("user", ("What?", bad)),))))
    assert isinstance(got, Failure)
    assert got.kind == "bad-picture"
