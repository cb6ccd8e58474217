"""Questions that other pictures answer, or pages of the web."""

from __future__ import annotations

from collections.abc import Mapping

import orjson
import pytest

from sightline.types import ToolSpec
from sightline_world.models.chat.answers import full_question
from sightline_world.models.chat.images import SeenImage
from sightline_world.models.chat.planning.conversation import ToolConversation, ToolStep
from sightline_world.models.chat.planning.lookups import Found, needs_others, recall, relations_in, walk
from sightline_world.models.chat.planning.tools import Facts, Toolbox
from world_chat_life import TOOLS, Shot, reading, small_life

PAGES = {
    "https://w.test/rovers": "# Rovers\n\n- Rival: [The Gulls](https://w.test/gulls)\n- Stadium: Hill Park\n",
    "https://w.test/gulls": "# The Gulls\n\n- Coach: [Ada Finch](https://w.test/ada)\n- Founded: 1911\n",
    "https://w.test/ada": "# Ada Finch\n\nAda Finch was born in 1980 and keeps a grey parrot.\n",
}
WEB = (
    ToolSpec("WebSearch", "", {"type": "object", "properties": {"query": {"type": "string"}}}),
    ToolSpec("OpenPage", "", {"type": "object", "properties": {"url": {"type": "string"}}}),
)


def walked(question: str, subject: str) -> tuple[Found, list[str]]:
    """Follow a walk to its end; what was opened on the way."""
    steps: list[ToolStep] = []
    tools = Toolbox(WEB)
    while True:
        found = walk(ToolConversation(question, tuple(steps)), tools, relations_in(question), subject)
        if found.call is None:
            return found, [str(step.arguments.get("url")) for step in steps if step.use == "open"]
        arguments = orjson.loads(found.call.arguments)
        hit = {"url": "https://w.test/rovers", "title": "Rovers"}
        text = orjson.dumps({"results": [hit]}).decode() if "query" in arguments else PAGES[arguments["url"]]
        steps.append(ToolStep(found.call.name, tools.use_of(found.call.name), arguments, text))


@pytest.mark.parametrize(
    ("question", "answer", "pages"),
    [
        ("What is the stadium of the team named on the sign?", "Hill Park", 1),
        ("Who is the coach of the rival of the team named on the sign?", "Ada Finch", 2),
        ("In which year was the foundation of the rival of the team whose name is on the board?", "1911", 2),
        ("What is the year of birth of the coach of the rival of the team on the sign?", "1980", 3),
        ("What is the favourite tune of the team named on the sign?", "", 1),
    ],
)
def test_pages_are_walked_to_the_answer(question: str, answer: str, pages: int) -> None:
    found, opened = walked(question, "Rovers")
    assert (found.text, len(opened)) == (answer, pages)


def asked_of(shots: Mapping[str, Shot], own: str, question: str) -> tuple[str, list[str]]:
    """Run a question about a picture to its answer, with tools over the small life."""
    steps: list[ToolStep] = []
    seen: dict[str, SeenImage] = {}
    shown = (SeenImage(own, reading(shots[own].graph)),)
    tools = Toolbox(TOOLS)
    for _ in range(12):
        facts = {name: fact for step in steps for name, fact in facts_of(step, shots).items()}
        history = ToolConversation(f"photo_id: {own}\n{question}", tuple(steps), seen, facts, shown=shown)
        found = recall(history, tools)
        if found is None or found.move is None:
            return ("" if found is None else found.text), [step.name for step in steps]
        for call in found.move.calls:
            arguments = orjson.loads(call.arguments)
            use = tools.use_of(call.name)
            if use == "view":
                seen |= {name: SeenImage(name, reading(shots[name].graph)) for name in arguments["photos"]}
            steps.append(ToolStep(call.name, use, arguments, orjson.dumps({"photos": list(shots)}).decode()))
    raise AssertionError("no end")


def facts_of(step: ToolStep, shots: Mapping[str, Shot]) -> dict[str, Facts]:
    names = step.arguments["photos"] if step.use == "metadata" else ()
    return {name: Facts(shots[name].when, shots[name].address) for name in names}


@pytest.mark.parametrize(
    ("own", "question", "answer"),
    [
        ("210605_0.jpg", "On the day of this picture we also saw a bucket. What colour was it?", "yellow"),
        (
            "210605_0.jpg",
            "We also saw a green boat on the trip of this picture. What did the sign there say?",
            "marwick",
        ),
        ("231209_1.jpg", "The brown thing is mine. In what kind of place do my pictures show it first?", "beach"),
        ("231209_1.jpg", "The brown thing is mine. In which year do my pictures show it for the first time?", "2021"),
        (
            "220702_0.jpg",
            "The person in a yellow coat is also in a picture taken in a garden on another occasion. "
            "What colour is the coat there?",
            "green",
        ),
    ],
)
def test_other_pictures_are_looked_at(own: str, question: str, answer: str) -> None:
    shots = {shot.id: shot for shot in small_life()}
    text, calls = asked_of(shots, own, question)
    assert text.lower() == answer
    assert {"ImageSearch", "GetMetadata", "ViewPhotos"} <= set(calls)


def test_a_question_about_the_picture_alone_needs_no_others() -> None:
    shown = (SeenImage("a", reading(small_life()[0].graph)),)
    assert not needs_others(ToolConversation("How many kites are there?", shown=shown))
    assert not needs_others(ToolConversation("Which other pictures show a kite?"))  # No picture came with it.


def test_a_question_takes_its_thing_from_the_sentence_before() -> None:
    assert full_question("Look at the cups. How many are there?") == "Look at the cups. How many are there?"
    assert full_question("Here is a picture. How many cups are there?") == "How many cups are there?"
