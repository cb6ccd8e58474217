"""Questions about a whole album, as `ask` puts them: with a `Finish` that wants a text and its evidence."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
import pytest

from sightline.agent.finish import finish_spec
from sightline.types import ChatReply, ChatRequest, Message, Task, ToolCall, ToolSpec
from sightline_world.models.chat.answers import CANNOT
from sightline_world.models.chat.planning.planner import CANNOT_COUNT
from world_chat_life import TOOLS, Agent, Album, small_life

COUNT = ToolSpec("Count", "Counts.", {"type": "object", "properties": {"expression": {"type": "string"}}})
DOGS = ["210605_1.jpg", "210911_3.jpg", "220910_1.jpg", "231209_1.jpg"]


def finished(question: str, *, without: tuple[str, ...] = (), fails: tuple[str, ...] = ()) -> dict[str, Any]:
    """The arguments of the call that ends the work."""
    life = small_life()
    agent, album = Agent(life, fails=frozenset(fails)), Album([shot.graph for shot in life])
    offered = [tool for tool in (*TOOLS, COUNT) if tool.name not in without]
    specs = (*offered, finish_spec(Task("t", "answer", (question,))))
    messages = [Message("user", (question,))]
    model = album.model()
    for _ in range(12):
        got = asyncio.run(model.reply(ChatRequest(model.name, tuple(messages), specs)))
        assert isinstance(got, ChatReply) and got.tool_calls
        messages.append(Message("assistant", (got.text,), got.tool_calls))
        for call in got.tool_calls:
            arguments = orjson.loads(call.arguments)
            if call.name == "Finish":
                return arguments  # type: ignore[no-any-return]
            counts = call.name == "Count" and call.name not in fails
            content = (f'{{"count": {len(life)}}}',) if counts else agent._use(call.name, arguments, album)
            messages.append(Message("tool", content, tool_call_id=call.id))
    raise AssertionError("no answer within the turns")


def test_pictures_that_were_found_are_the_evidence_of_a_sentence() -> None:
    said = finished("find a brown dog")
    assert said["answer"] == "These show a brown dog." and sorted(said["evidence"]) == DOGS


@pytest.mark.parametrize("question", ["find a purple hot-air balloon over the desert", "What colour is the teapot?"])
def test_nothing_found_is_an_answer(question: str) -> None:
    assert finished(question, without=("WebSearch",)) == {"answer": "None of them shows it."}


def test_what_means_nothing_is_told() -> None:
    assert "understand nothing" in finished("find a purple elephant")["answer"]
    assert finished("what is the meaning of it?") == {"answer": CANNOT}


def test_which_of_these_asks_for_pictures() -> None:
    said = finished("which of these is purple?")
    assert sorted(said["evidence"]) == ["210911_0.jpg", "220820_1.jpg"]


def test_a_question_names_the_picture_that_shows_it() -> None:
    said = finished("What colour is the tent?")
    assert said["answer"] == "orange" and sorted(said["evidence"]) == ["220702_0.jpg", "220702_2.jpg", "220702_3.jpg"]


@pytest.mark.parametrize(
    ("question", "number"),
    [
        ("how many photos from 2022 are there?", 10),
        ("How many of my pictures were taken in Marwick in June?", 4),
        ("how many photos show a brown dog?", 4),
        ("how many pictures of a dog did we take in 2021?", 2),
    ],
)
def test_pictures_are_counted(question: str, number: int) -> None:
    said = finished(question)
    assert said["answer"] == str(number) and len(said["evidence"]) == number


def test_all_pictures_are_counted_by_the_tool_for_it() -> None:
    assert finished("how many photos do I have?") == {"answer": "24"}


@pytest.mark.parametrize("how", ["without", "fails"])
def test_what_can_not_be_counted_is_told(how: str) -> None:
    tools: Any = {how: ("FilterMetadata", "Count")}
    for question in ("how many photos from 2022 are there?", "how many pictures of a dog did we take in 2021?"):
        assert finished(question, **tools) == {"answer": CANNOT_COUNT}
    assert finished("how many photos did Grandma take?") == {"answer": CANNOT}


def test_a_last_turn_without_pictures_still_has_an_answer() -> None:
    model = Album([]).model()
    messages = (
        Message("system", ("End with the line\nThe final answer is: ANSWER.",)),
        Message("user", ("find a brown dog",)),
        Message("assistant", ("",), ()),
        Message("user", ("This is the last turn: no more tools can be used.",)),
    )
    got = asyncio.run(model.reply(ChatRequest(model.name, messages, TOOLS)))
    assert isinstance(got, ChatReply) and got.text.startswith("The final answer is: No further step")


def test_a_memory_of_counting_keeps_what_was_counted() -> None:
    life = small_life()
    album = Album([shot.graph for shot in life])
    dog = next(number for number, shot in enumerate(life) if shot.id == DOGS[0])
    looked = ToolCall("1", "ViewPhotos", orjson.dumps({"photos": [DOGS[0]]}).decode())
    messages = (
        Message("user", ("how many photos show a brown dog?",)),
        Message("assistant", ("",), (looked,)),
        Message("tool", (f"photo_id: {DOGS[0]}", album.part(dog)), tool_call_id="1"),
        Message("user", ("Compress the conversation so far.",)),
    )
    got = asyncio.run(album.model().reply(ChatRequest("builtin/world", messages)))
    assert isinstance(got, ChatReply) and f'Noted target yes: ["{DOGS[0]}"]' in got.text


@pytest.mark.parametrize("question", ["What colour is the tent?", "What does the sign say?", "Who wears a red hat?"])
def test_a_verdict_is_kept_when_the_pictures_are_gone(question: str) -> None:
    whole, forgetful = Agent(small_life()), Agent(small_life(), forget_after=2)
    assert forgetful.run(question).text == whole.run(question).text
    assert forgetful.looked <= whole.looked + 20
