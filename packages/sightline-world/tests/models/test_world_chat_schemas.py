from __future__ import annotations

import asyncio
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from sightline.models.json_schema import schema_errors
from sightline.models.structured_output import ReplySchema, Structured, ask_structured
from sightline.types import ChatReply, ChatRequest, Failure, Message
from world_chat_life import Album, person, scene, thing

BEACH = scene(
    "beach",
    "sunset",
    [thing("kite", "red", 0.2), thing("dog", "brown", 0.5, wide=0.4), thing("dog", "brown", 0.8)],
    [person("blue", "blond", "cap", "green")],
    ["FERRY"],
    [("p0", "holding", "t0")],
)
KITCHEN = scene("kitchen", "day", [thing("cake", "pink"), thing("mug", "red")])
ALBUM = Album([BEACH, KITCHEN])
OBJECT = {"type": "object", "additionalProperties": False}


def ask(schema: Any, text: str = "Annotate this picture.", *numbers: int) -> Any:
    content: list[Any] = [text]
    for number in numbers or (0,):
        content += [f"image_id: pic-{number}", ALBUM.part(number)]
    model = ALBUM.model()
    got = asyncio.run(model.reply(ChatRequest(model.name, (Message("user", tuple(content)),), schema=schema)))
    assert isinstance(got, ChatReply), got
    assert orjson.loads(got.text) == got.parsed
    assert schema_errors(got.parsed, schema) == []
    return got.parsed


def fields(**properties: Any) -> dict[str, Any]:
    return {**OBJECT, "properties": properties, "required": list(properties)}


def test_the_annotation_of_benchmaker() -> None:
    number = {"type": "number", "minimum": 0, "maximum": 1}
    vocabulary = [
        "dog",
        "cat",
        "kite",
        "sunset",
        "night",
        "beach",
        "kitchen",
        "red kite",
        "people",
        "sign",
        "zebra",
        "outdoors",
    ]
    got = ask(
        fields(
            summary={"type": "string"},
            setting={"enum": ["indoor", "outdoor", "unknown"]},
            weather={"enum": ["sunny", "rain", "fog", "snow", "sunset", "unknown"]},
            main_subject={"enum": ["person", "dog", "cat", "kite", "other"]},
            viewpoint={"enum": ["aerial", "ground", "unknown"]},
            has_people={"type": "boolean"},
            is_night={"type": "boolean"},
            contains_text={"type": "boolean"},
            tags={"type": "array", "items": {"enum": vocabulary}, "minItems": 3, "maxItems": 6},
            confidence=fields(setting=number, weather=number, viewpoint=number, has_people=number),
        )
    )
    assert "Two brown dogs" in got["summary"]
    assert (got["setting"], got["weather"], got["main_subject"], got["viewpoint"]) == (
        "outdoor",
        "sunset",
        "dog",
        "unknown",
    )
    assert (got["has_people"], got["is_night"], got["contains_text"]) == (True, False, True)
    assert 3 <= len(got["tags"]) <= 6
    assert not {"zebra", "cat", "kitchen", "night"} & set(got["tags"])
    assert got["confidence"]["viewpoint"] < 0.3 < 0.7 < got["confidence"]["setting"]


def test_a_vocabulary_that_does_not_fit_still_gives_its_least_number() -> None:
    tags = ask(
        fields(tags={"type": "array", "items": {"enum": ["zebra", "tank", "moon"]}, "minItems": 2, "maxItems": 3})
    )
    assert len(tags["tags"]) == 2
    assert len(set(tags["tags"])) == 2


def test_counts_colours_and_lists() -> None:
    got = ask(
        fields(
            num_dogs={"type": "integer"},
            people_count={"type": "integer", "minimum": 0},
            cat_count={"type": "integer"},
            kite_colour={"enum": ["blue", "red", "unknown"]},
            dominant_color={"type": "string"},
            objects={"type": "array", "items": {"type": "string"}},
            text_in_picture={"type": "array", "items": {"type": "string"}},
            place={"type": "string"},
            number_of_people={"enum": ["none", "one", "few", "many"]},
            photographer={"type": ["string", "null"]},
            lens={"anyOf": [{"type": "string"}, {"type": "null"}]},
        )
    )
    assert (got["num_dogs"], got["people_count"], got["cat_count"]) == (2, 1, 0)
    assert (got["kite_colour"], got["dominant_color"], got["place"]) == ("red", "brown", "beach")
    assert set(got["objects"]) == {"dog", "kite"}
    assert got["text_in_picture"] == ["FERRY"]
    assert got["number_of_people"] == "one"
    assert got["photographer"] is None
    assert got["lens"] is None


def test_things_and_people_one_by_one() -> None:
    text = {"type": "string"}
    got = ask(
        fields(
            objects={"type": "array", "items": fields(kind=text, colour=text, count={"type": "integer"})},
            people={"type": "array", "items": fields(hair=text, headgear=text, headgear_colour=text, coat=text)},
        )
    )
    assert {"kind": "dog", "colour": "brown", "count": 2} in got["objects"]
    assert got["people"] == [{"hair": "blond", "headgear": "cap", "headgear_colour": "green", "coat": "blue"}]


def test_judgments_of_several_pictures_each_by_its_id() -> None:
    judged = fields(
        image_id={"type": "string"},
        grade={"type": "integer", "minimum": 0, "maximum": 3},
        relevant={"type": "boolean"},
        confidence={"type": "number", "minimum": 0, "maximum": 1},
        reason={"type": "string"},
    )
    schema = fields(judgments={"type": "array", "items": judged})
    got = ask(schema, "Judge each picture.\nQuery: a red kite and two dogs on a beach at sunset", 0, 1)["judgments"]
    assert [(each["image_id"], each["grade"], each["relevant"]) for each in got] == [
        ("pic-0", 3, True),
        ("pic-1", 0, False),
    ]
    assert "one red kite seen" in got[0]["reason"]
    assert "it is in a kitchen" in got[1]["reason"]
    near = ask(schema, "Judge each picture.\nQuery: a blue kite on a beach at sunset", 0)["judgments"]
    assert (near[0]["grade"], near[0]["relevant"]) == (2, False)


def test_grades_in_other_forms() -> None:
    query = "Query: a red kite on a beach"
    forms: dict[str, Any] = {
        "relevance": {"enum": [0, 1]},
        "relevance_label": {"type": "integer", "enum": [1, 0]},
        "grade": {"enum": ["not relevant", "partially relevant", "highly relevant"]},
        "score": {"type": "number", "minimum": 0, "maximum": 1},
    }
    best = {"relevance": 1, "relevance_label": 1, "grade": "highly relevant", "score": 1.0}
    worst = {"relevance": 0, "relevance_label": 0, "grade": "not relevant", "score": 0.0}
    assert ask(fields(**forms), query, 0) == best
    assert ask(fields(**forms), query, 1) == worst


@pytest.mark.parametrize(
    ("labels", "text", "bounds", "numbers"),
    [
        (("Picture 1:", "Picture 2:"), "", {}, [1, 2]),
        (("Image 0:", "Image 1:"), "", {"minimum": 0, "maximum": 1}, [0, 1]),
        (("", ""), "", {}, [1, 2]),
        (("", ""), "Pictures are numbered from 0.", {}, [0, 1]),
        (("", ""), "", {"minimum": 0, "maximum": 1}, [0, 1]),
        (("image_id: one", "image_id: two"), "", {"minimum": 1}, [1, 2]),
        (("Picture 7:", "Picture 3:"), "", {}, [7, 3]),
    ],
)
def test_graded_pictures_by_their_number(
    labels: tuple[str, str], text: str, bounds: dict[str, int], numbers: list[int]
) -> None:
    graded = fields(picture={"type": "integer", **bounds}, grade={"type": "number", "minimum": 0, "maximum": 10})
    schema = fields(grades={"type": "array", "items": graded})
    content: list[Any] = [f"The query: a pink cake\n\n{text}"]
    for number, label in enumerate(labels):
        content += [label, ALBUM.part(number)]
    model = ALBUM.model()
    got = asyncio.run(model.reply(ChatRequest(model.name, (Message("user", tuple(content)),), schema=schema)))
    assert isinstance(got, ChatReply), got
    parsed: Any = got.parsed
    assert [each["picture"] for each in parsed["grades"]] == numbers
    assert [each["grade"] for each in parsed["grades"]] == [0, 10]


def test_a_bare_list_of_grades_has_one_for_each_picture() -> None:
    schema = fields(scores={"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 3}})
    assert ask(schema, "Query: a pink cake", 0, 1, 0) == {"scores": [0, 3, 0]}


def test_annotations_in_words_are_judged_where_there_is_no_picture() -> None:
    model = ALBUM.model()
    told = [
        {"image_id": "a", "summary": "A red kite on a beach."},
        {"image_id": "b", "summary": "A cat.", "tags": ["kitchen"]},
    ]
    text = f"Query: a red kite by the sea\nCandidates: {orjson.dumps(told).decode()}"
    item = fields(image_id={"type": "string"}, relevance={"type": "integer", "enum": [0, 1]})
    schema: Any = fields(judgments={"type": "array", "items": item})
    got = asyncio.run(model.reply(ChatRequest(model.name, (Message("user", (text,)),), schema=schema)))
    assert isinstance(got, ChatReply)
    assert got.parsed == {"judgments": [{"image_id": "a", "relevance": 1}, {"image_id": "b", "relevance": 0}]}


def test_queries_in_several_styles() -> None:
    item = fields(style={"type": "string"}, query={"type": "string"})
    got = ask(fields(queries={"type": "array", "items": item, "minItems": 4}), "Write queries.", 0)["queries"]
    assert len({each["query"] for each in got}) == 4
    text = ask(fields(query_text={"type": "string"}), "Write a query for this picture.", 0)["query_text"]
    assert "dogs" in text
    assert "pic-0" not in text


def test_answers_under_a_schema() -> None:
    schema = fields(answer={"type": "string"}, reasoning={"type": "string"})
    assert ask(schema, "How many dogs are there?", 0)["answer"] == "2"
    option = fields(option={"enum": ["A", "B", "C"]}, reason={"type": "string"})
    assert ask(option, "What is the place?\nA. forest\nB. beach\nC. kitchen", 0)["option"] == "B"
    assert ask(fields(answer={"enum": ["yes", "no"]}), "Is there a dog?", 0)["answer"] == "yes"


class Note(BaseModel):
    summary: str = Field(min_length=3, max_length=60)
    people: int = Field(ge=0, le=9)
    tags: list[str]
    inside: Note | None = None


def test_a_python_type_is_answered_at_once() -> None:
    request = ChatRequest("builtin/world", (Message("user", ("Annotate.", ALBUM.part(0))),))
    got = asyncio.run(ask_structured(ALBUM.model(), request, Note))
    assert isinstance(got, Structured)
    assert got.asked == 1
    assert got.value.people == 1
    assert len(got.value.summary) <= 60
    assert schema_errors(orjson.loads(got.reply.text), ReplySchema.of(Note).schema) == []


def test_a_schema_that_nothing_can_meet_is_a_failure_that_says_so() -> None:
    schema: Any = fields(code={"type": "string", "pattern": "^(?=x)y$"})
    model = ALBUM.model()
    got = asyncio.run(model.reply(ChatRequest(model.name, (Message("user", ("?", ALBUM.part(0))),), schema=schema)))
    assert isinstance(got, Failure)
    assert (got.kind, got.retryable) == ("unsupported", False)
    assert "code" in got.message


_FIELDS = """summary title place scene light weather setting tags objects people num_people dogs has_cat is_indoor
confidence grade relevance relevant reason thinking image_id query queries answer option text colour main_color size box
count kind relations foo bar_baz animals value"""
_VALUES = (
    "red blue beach forest night day indoor outdoor dog cat person none unknown other 0 1 3+ few A B yes no high zebra"
)
_NAMES, _WORDS = st.sampled_from(_FIELDS.split()), st.sampled_from(_VALUES.split())


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {**OBJECT, "properties": properties, "required": list(properties)}


def _text(low: int, more: int) -> dict[str, Any]:
    return {"type": "string", "minLength": low, "maxLength": low + more}


def _whole(low: int, more: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": low, "maximum": low + more}


def _real(low: int, more: int) -> dict[str, Any]:
    return {"type": "number", "exclusiveMinimum": low, "maximum": low + more}


def _list(item: Any, low: int, more: int) -> dict[str, Any]:
    return {"type": "array", "items": item, "minItems": low, "maxItems": low + more}


def _leaves() -> st.SearchStrategy[dict[str, Any]]:
    bound, few = st.integers(-3, 5), st.integers(0, 4)
    plain: list[dict[str, Any]] = [
        {"type": "boolean"},
        {"type": "null"},
        {"type": ["string", "null"]},
        {"type": "string", "format": "date"},
        {"type": "string", "pattern": "^[a-z]{3}$"},
        {"type": "string"},
        {},
    ]
    return st.one_of(
        st.sampled_from(plain),
        st.builds(_text, st.integers(0, 9), st.integers(0, 40)),
        st.builds(_whole, bound, few),
        st.builds(_real, bound, st.integers(1, 4)),
        st.builds(lambda step: {"type": "integer", "multipleOf": step, "minimum": 0, "maximum": 20}, st.integers(1, 5)),
        st.builds(lambda words: {"enum": words}, st.lists(_WORDS, min_size=1, max_size=5, unique=True)),
        st.builds(lambda numbers: {"enum": numbers}, st.lists(bound, min_size=1, max_size=4, unique=True)),
        st.builds(lambda word: {"const": word}, _WORDS),
    )


def _larger(part: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.builds(_object, st.dictionaries(_NAMES, part, max_size=4)),
        st.builds(_list, part, st.integers(0, 3), st.integers(0, 3)),
        st.builds(lambda options: {"anyOf": options}, st.lists(part, min_size=1, max_size=3)),
    )


@settings(deadline=None, max_examples=120)
@given(
    st.dictionaries(_NAMES, st.recursive(_leaves(), _larger, max_leaves=6), min_size=1, max_size=5),
    st.sampled_from(["Annotate.", "Query: a red kite", "How many dogs?", "Is it night?\nA. yes\nB. no", "", "{}"]),
    st.lists(st.integers(0, 1), max_size=2),
)
def test_every_reply_fits_its_schema(properties: dict[str, Any], text: str, numbers: list[int]) -> None:
    schema: Any = _object(properties)
    content: tuple[Any, ...] = (text, *(ALBUM.part(number) for number in numbers))
    model = ALBUM.model()
    got = asyncio.run(model.reply(ChatRequest(model.name, (Message("user", content),), schema=schema)))
    assert isinstance(got, ChatReply), got
    assert schema_errors(got.parsed, schema) == []
