"""What a model says of a picture, as clues."""

from __future__ import annotations

from typing import Any

from sightline.mining.clue_extraction import SCHEMA, ask_for, reading_of
from sightline.models.json_schema import schema_errors
from sightline.types import ChatReply, Picture


def said(**parts: Any) -> ChatReply:
    found = {"summary": "s", "place": "A beach.", "objects": [], "visible_text": [], "people": []} | parts
    assert not schema_errors(found, SCHEMA)
    return ChatReply("", parsed=found, usd=0.01)


def thing(kind: str, colour: str = "", confidence: float = 0.9, *, landmark: bool = False) -> dict[str, Any]:
    return {"kind": kind, "colour": colour, "description": "d", "landmark": landmark, "confidence": confidence}


def person(hair: str, headgear: str = "none", colour: str = "") -> dict[str, Any]:
    looks = {"hair": hair, "headgear": headgear, "headgear_colour": colour, "clothes": "red"}
    return {"description": "d", **looks, "confidence": 0.8}


def test_equal_looks_are_one_clue_as_sure_as_the_surest() -> None:
    reading = reading_of("p", said(objects=[thing("Kite", "Red", 0.4), thing("a kite", "red", 0.8)]), "m")
    (clue,) = reading.clues
    assert (clue.id, clue.key, clue.noun, clue.text) == ("p#0", "object:red kite", "kite", "a red kite")
    assert clue.confidence == 0.8 and reading.place == "beach" and reading.usd == 0.01


def test_landmarks_keep_their_name_and_colourless_things_their_noun() -> None:
    reading = reading_of("p", said(objects=[thing("Eiffel Tower", "brown", landmark=True), thing("owl")]), "m")
    assert [(clue.kind, clue.look, clue.text) for clue in reading.clues] == [
        ("landmark", "eiffel tower", "Eiffel Tower"),
        ("object", "owl", "an owl"),
    ]


def test_people_are_known_by_looks_that_last() -> None:
    people = [person("brown", "cap", "blue"), person("grey"), person("unknown", "hat", "red")]
    reading = reading_of("p", said(people=people), "m")
    assert [clue.text for clue in reading.clues] == [
        "a person with brown hair and a blue cap",
        "a bare-headed person with grey hair",
    ]


def test_people_and_nothing_are_no_objects_and_words_are_clues() -> None:
    objects = [thing("person", "red"), thing("none"), thing("sign", "white")]
    reading = reading_of("p", said(objects=objects, visible_text=["Ferry ", "none", "x"]), "m")
    assert [(clue.kind, clue.look) for clue in reading.clues] == [("text", "FERRY")]


def test_a_request_shows_the_picture_and_bounds_the_reply() -> None:
    request = ask_for(Picture("p", "file:///p.jpg"), "m").request
    assert request.schema == SCHEMA and request.max_tokens
    assert "file:///p.jpg" in repr(request.messages[-1].content[-1])
    assert "p.jpg" not in str(request.messages[-1].content[0])
