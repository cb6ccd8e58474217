from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import orjson
import pytest

from sightline.types import Box, ChatReply, ChatRequest, ImagePart, Message, ToolSpec
from sightline_world.models.chat.questions import options_in
from sightline_world.models.chat.verification import query_in
from sightline_world.scene import Thing
from world_chat_life import Album, person, scene, thing

STREET = scene(
    "street",
    "rain",
    [
        thing("car", "red", 0.2),
        thing("car", "blue", 0.8),
        thing("dog", "brown", 0.5),
        thing("bench", "green", 0.4),
        thing("cat", "black", 0.4, "small"),
        thing("kite", "yellow", 0.75),
    ],
    [person("purple", "blond", "cap", "orange"), person("white", "black")],
    ["LORNWICK"],
    [("t4", "on", "t3"), ("p0", "holding", "t5"), ("s0", "behind", "t0"), ("t0", "left of", "t1")],
)
BEACH = scene("beach", "day", [thing("dog", "white"), thing("dog", "white", 0.2), thing("boat", "red")])
ALBUM = Album([STREET, BEACH])
ONE = {
    "How many cars are there?": "2",
    "how many red cars can you see": "1",
    "Count the dogs.": "1",
    "How many horses are in this picture?": "0",
    "How many people are holding a kite?": "1",
    "How many people are wearing a hat or cap?": "1",
    "What colour is the dog?": "brown",
    "Which color are the cars?": "red and blue",
    "What colour is the cap of the person?": "orange",
    "What colour is the hair of the person in the purple coat?": "blond",
    "What colour is the coat of the person with black hair?": "white",
    "What colour is the thing on the bench?": "black",
    "What does the sign say?": "LORNWICK",
    "What is written on the sign behind the red car?": "LORNWICK",
    "Where was this picture taken?": "street",
    "What kind of place is this?": "street",
    "What is the weather like?": "rain",
    "What is the person holding?": "a yellow kite",
    "What is on the bench?": "a black cat",
    "What is left of the blue car?": "a red car",
    "Which animals are there?": "cat and dog",
    "What is the person with blond hair wearing?": "a purple coat and an orange cap",
    "What size is the cat?": "small",
    "Is there a dog?": "yes",
    "Is there a horse?": "no",
    "Is it raining?": "yes",
    "Is the car behind the sign?": "no",
    "Is the cat on the bench?": "yes",
    "Are there any people without a hat?": "yes",
    "Does the picture show a red car left of a blue car?": "yes",
    "Are there more cars than dogs?": "yes",
    "Are there fewer people than cars?": "no",
    "Is there no bicycle?": "yes",
    "Is there a red car on the left side?": "yes",
    "Is there a blue car in the left half?": "no",
    "A dog in the rain. True or false?": "yes",
}
SEVERAL = {
    "Which picture shows a boat?": "2",
    "In which picture are there more dogs?": "2",
    "Which image has the most people?": "1",
    "Are both pictures of the same place?": "no",
    "Is there a dog in both pictures?": "yes",
    "How many dogs are there altogether?": "3",
    "How many dogs are in the second picture?": "2",
    "Is there a boat in any of the pictures?": "yes",
}


def ask(text: str, *numbers: int, **fields: Any) -> ChatReply:
    content = tuple(ALBUM.part(number) for number in numbers)
    model = ALBUM.model()
    got = asyncio.run(model.reply(ChatRequest(model.name, (Message("user", (*content, text)),), **fields)))
    assert isinstance(got, ChatReply), got
    return got


@pytest.mark.parametrize("question", ONE)
def test_a_question_about_a_picture(question: str) -> None:
    assert ask(question, 0).text == ONE[question]


@pytest.mark.parametrize("question", SEVERAL)
def test_a_question_about_two_pictures(question: str) -> None:
    assert ask(question, 0, 1).text == SEVERAL[question]


@pytest.mark.parametrize("question", ["Who painted this?", "What is the meaning of life?", "When was it built?"])
def test_what_is_beyond_it_is_said(question: str) -> None:
    assert "can't tell" in ask(question, 0).text


def test_without_a_picture_it_says_so() -> None:
    assert "can't tell" in ask("What colour is the dog?").text or "no picture" in ask("What colour is the dog?").text


def test_a_description_shows_its_thinking_apart() -> None:
    got = ask("Describe this picture in detail.", 0)
    for word in ("red car", "street", "rain", "LORNWICK", "black cat is on", "person"):
        assert word in got.text
    assert "90% sure" in got.thinking
    assert "90%" not in got.text


def test_choices_are_answered_with_a_letter() -> None:
    text = "How many cars are there?\nA. one\nB. two\nC. three\nAnswer with the letter."
    assert ask(text, 0).text == "B"
    assert ask(f"{text}\nFinish with: Your option: X", 0).text == "Your option: B"
    assert ask("Which fits?\n(A) a horse at night\n(B) a dog in the rain\n(C) a plane", 0).text == "B"
    assert ask("What colour is the dog? A. red B. green C. brown", 0).text == "C"


def test_a_choice_that_nothing_decides_is_a_guess_that_says_so() -> None:
    got = ask("Which is faster?\nA. the first\nB. the second", 0)
    assert got.text in ("A", "B")
    assert "guess" in got.thinking


def test_options_are_found_only_where_they_follow_each_other() -> None:
    assert options_in("A. x\nB. y") == {"A": "x", "B": "y"}
    assert options_in("I saw B. Smith and A. Jones") == {}
    assert options_in("") == {}


@pytest.mark.parametrize(
    "text",
    [
        "Query: a red car",
        'The query is "a red car".',
        "<query>a red car</query>",
        '{"query_text": "a red car", "k": 3}',
        "Judge the pictures.\n**Query:** a red car\nBe strict.",
    ],
)
def test_a_query_is_found_in_a_prompt(text: str) -> None:
    assert query_in(text) == "a red car"


def test_a_judgment_in_words_names_what_holds_and_what_fails() -> None:
    got = ask("Is the picture relevant?\nQuery: a red car on a beach", 0)
    assert "not relevant" in got.text
    assert "Holds: one red car seen" in got.text
    assert "Fails: it is in a street" in got.text


def test_queries_are_written_in_the_style_asked_for() -> None:
    assert ask("Write a keyword query for this picture.", 1).text.split()[-2:] == ["beach", "day"]
    assert ask("Write a question query for this picture.", 1).text.endswith("?")
    assert "white" in ask("Please write a search query for this picture.", 1).text


def test_a_small_sign_is_looked_at_more_closely() -> None:
    far = scene("street", "day", [Thing("t0", "car", "red", "medium", Box(0.1, 0.5, 0.3, 0.7))], signs=[""])
    (sign,) = far.signs
    far = replace(far, signs=(replace(sign, box=Box(0.5, 0.5, 0.6, 0.55)),))
    near = scene("street", "day", signs=["BAKERY"])
    album = Album([far, near])
    model = album.model()
    box: Any = {"type": "array", "items": {"type": "number"}}
    zoom = ToolSpec(
        "Zoom", "look closer", {"type": "object", "properties": {"picture": {"type": "string"}, "box": box}}
    )
    messages = [Message("user", ("What does the sign say?", "picture: p1", album.part(0)))]
    first = asyncio.run(model.reply(ChatRequest(model.name, tuple(messages), (zoom,))))
    assert isinstance(first, ChatReply)
    assert [call.name for call in first.tool_calls] == ["Zoom"]
    given = orjson.loads(first.tool_calls[0].arguments)
    # With what is around it: the reader finds no sign in a picture that is all sign.
    assert given["picture"] == "p1" and given["box"] == [0.35, 0.425, 0.75, 0.625]
    messages += [
        Message("assistant", ("",), first.tool_calls),
        Message("tool", ("the part:", album.part(1)), tool_call_id=first.tool_calls[0].id),
    ]
    second = asyncio.run(model.reply(ChatRequest(model.name, tuple(messages), (zoom,))))
    assert isinstance(second, ChatReply)
    assert second.text == "BAKERY"


def test_what_the_picture_does_not_tell_is_looked_up() -> None:
    model = ALBUM.model()
    text: Any = {"type": "string"}
    web = ToolSpec("WebSearch", "the web", {"type": "object", "properties": {"query": text}})
    messages = [Message("user", (ALBUM.part(0), "Who is the mayor of the town on the sign behind the red car?"))]
    first = asyncio.run(model.reply(ChatRequest(model.name, tuple(messages), (web,))))
    assert isinstance(first, ChatReply)
    assert first.tool_calls[0].arguments == '{"query":"mayor Lornwick"}'
    page = "Lornwick is a town in the hills. The mayor of Lornwick is Ada Holm. It has 1,200 people."
    messages += [
        Message("assistant", ("",), first.tool_calls),
        Message("tool", (page,), tool_call_id=first.tool_calls[0].id),
    ]
    second = asyncio.run(model.reply(ChatRequest(model.name, tuple(messages), (web,))))
    assert isinstance(second, ChatReply)
    assert second.text == "Ada Holm"


def test_a_picture_that_cannot_be_read_is_a_failure() -> None:
    model = ALBUM.model()
    for part, kind in (
        (ImagePart("", b"no picture"), "bad-picture"),
        (ImagePart("https://example.org/x.jpg"), "unsupported"),
    ):
        got = asyncio.run(model.reply(ChatRequest(model.name, (Message("user", ("what?", part)),))))
        assert getattr(got, "kind", "") == kind


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What colour is it?", "I don't see what you ask about"),
        ("Which festival is held in the town named on the sign?", "I can't tell"),
        ("What colour is the umbrella?", "I see no umbrella"),
    ],
)
def test_what_is_not_known_is_said_in_english(question: str, text: str) -> None:
    model = ALBUM.model()
    got = asyncio.run(model.reply(ChatRequest(model.name, (Message("user", (ALBUM.part(0), question)),))))
    assert isinstance(got, ChatReply) and got.text.startswith(text)
