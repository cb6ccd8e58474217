"""`builtin/world` as who verifies: numbered claims, each with a verdict in the words that are asked for."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from sightline.models.json_schema import strict_schema
from sightline.types import ChatReply, ChatRequest, Message
from sightline_world.models.chat.verification import claims_in, verdicts, verify
from sightline_world.models.scene_reader import Reading
from sightline_world.scene import SceneGraph
from world_chat_life import Album, person, scene, thing

SCENE = scene(
    "harbour", "day", [thing("boat", "white", 0.2), thing("dog", "brown", 0.8)], [person("red")], signs=["OPEN"]
)
CLAIMS = "Judge each claim.\n\n1. There is a white boat.\n2. There is a green boat.\n3. The mood is wistful."


def read(graph: SceneGraph) -> Reading:
    items: list[Any] = [*graph.things, *graph.figures, *graph.signs]
    names = (item.id for item in items)
    return Reading(graph, 0.9, 0.9, dict.fromkeys(names, 0.9))


def schema(*words: str, **more: Any) -> dict[str, Any]:
    item = {"properties": {"id": {"type": "integer"}, "is": {"type": "string", "enum": list(words)}, **more}}
    return strict_schema(
        {"type": "object", "properties": {"list": {"type": "array", "items": {"type": "object", **item}}}}
    )


@pytest.mark.parametrize(
    ("claim", "found"),
    [
        ("There is a white boat at the harbour.", "supported"),
        ("There is a green boat at the harbour.", "contradicted"),
        ("There is no green boat in the picture.", "supported"),
        ("There is no white boat in the picture.", "contradicted"),
        ("A boat lies on the left side of the picture.", "supported"),
        ("A boat lies on the right side of the picture.", "contradicted"),
        ("The thing in [0.1, 0.3, 0.3, 0.7] is a white boat.", "supported"),
        ("The thing in [0.7, 0.3, 0.9, 0.7] is a white boat.", "contradicted"),
        ("It feels wistful and serene.", "unclear"),
    ],
)
def test_what_is_seen_of_a_claim(claim: str, found: str) -> None:
    assert verify(claim, read(SCENE)) == found


@pytest.mark.parametrize(
    "words",
    [("supported", "contradicted", "unclear"), ("unknown", "false", "true"), ("refuted", "entailed", "neutral")],
)
def test_any_words_for_the_three_verdicts(words: tuple[str, ...]) -> None:
    found = verdicts(schema(*words), CLAIMS, read(SCENE))
    assert found is not None and [each["id"] for each in found["list"]] == [1, 2, 3]
    said = [each["is"] for each in found["list"]]
    assert len(set(said)) == 3 and set(said) == set(words)
    assert said[0] in ("supported", "true", "entailed") and said[1] in ("contradicted", "false", "refuted")


def test_other_schemas_and_texts_without_a_list_are_not_meant() -> None:
    three = ("true", "false", "unknown")
    assert verdicts(schema("true", "false"), CLAIMS, read(SCENE)) is None
    assert verdicts(schema("red", "green", "blue"), CLAIMS, read(SCENE)) is None
    assert verdicts(schema(*three, why={"type": "string"}), CLAIMS, read(SCENE)) is None
    assert verdicts({"type": "object", "properties": {"answer": {"type": "string"}}}, CLAIMS, read(SCENE)) is None
    assert verdicts(schema(*three), "Is there a boat?", read(SCENE)) is None
    assert claims_in("1. One.\n 2) Two.\nIn 1990. Three.") == {1: "One.", 2: "Two."}


def test_the_model_replies_in_the_form_that_is_asked_for() -> None:
    album = Album([SCENE])
    model = album.model()
    form = schema("supported", "contradicted", "unclear")
    message = Message("user", (album.part(0), CLAIMS))
    reply = asyncio.run(model.reply(ChatRequest(model.name, (message,), schema=form)))
    assert isinstance(reply, ChatReply)
    assert reply.parsed == {
        "list": [{"id": 1, "is": "supported"}, {"id": 2, "is": "contradicted"}, {"id": 3, "is": "unclear"}]
    }
