from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field, TypeAdapter, field_validator

from sightline.models.json_schema import fitting_json, is_strict, json_values, schema_errors, strict_schema
from sightline.models.scripted import ScriptedModel
from sightline.models.structured_output import ReplySchema, Structured, ask_structured
from sightline.types import ChatRequest, Failure, Message

NESTED = {
    "$ref": "#/$defs/N",
    "$defs": {"N": {"type": "object", "properties": {"n": {"$ref": "#/$defs/N"}}, "items": {"$ref": "#/$defs/N"}}},
}
REQUEST = ChatRequest("scripted/x", (Message("user", ("Which colour?",)),))


class Shade(BaseModel):
    name: Literal["red", "blue"]
    strength: float = Field(ge=0, le=1, description="0 to 1")


class Colours(BaseModel):
    shades: list[Shade] = Field(min_length=1, max_length=3)
    main: Shade | None = None
    note: str = "none"

    @field_validator("note")
    @classmethod
    def _polite(cls, value: str) -> str:
        if value == "rude":
            raise ValueError("be polite")
        return value


@dataclass
class Point:
    x: int
    y: int = 0


GOOD = '{"shades": [{"name": "red", "strength": 0.5}], "main": null, "note": "fine"}'


def ask(kind: Any, *script: Any) -> tuple[Any, ScriptedModel]:
    model = ScriptedModel(script)
    return asyncio.run(ask_structured(model, REQUEST, kind)), model


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"Sure! Here it is:\n\n```\n{GOOD}\n```\nAnything else?",
        f"The answer {{as asked}} is {GOOD}. Good luck!",
        f"<think>maybe {{}}</think>{GOOD}",
        f'For example {{"shades": []}}, but here: {GOOD}',
    ],
)
def test_the_json_is_found(text: str) -> None:
    got, model = ask(Colours, text)
    assert isinstance(got, Structured)
    assert got.value == Colours(shades=[Shade(name="red", strength=0.5)], note="fine")
    assert (got.asked, len(model.requests)) == (1, 1)
    assert got.reply.parsed is not None
    sent = model.requests[0]
    assert sent.schema_name == "Colours"
    assert is_strict(sent.schema)


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ("I would say red.", "there is no JSON"),
        ('{"shades": [{"name": "green", "strength": 0.5}], "main": null, "note": ""}', "shades[0].name"),
        ('{"shades": [], "main": null, "note": ""}', "shades"),
        ('{"shades": [{"name": "red", "strength": 7}], "main": null, "note": ""}', "shades[0].strength"),
        ('{"shades": [{"name": "red", "strength": 1}], "main": null}', "note is missing"),
        (GOOD.replace("fine", "rude"), "be polite"),
        (GOOD[:-9], "no JSON"),
    ],
)
def test_a_wrong_reply_is_asked_for_once_more_with_what_was_wrong(bad: str, words: str) -> None:
    got, model = ask(Colours, bad, GOOD)
    assert isinstance(got, Structured)
    assert got.asked == 2
    assert len(model.requests) == 2
    told = model.requests[1].messages[-1].content[0]
    assert isinstance(told, str) and words in told
    assert model.requests[1].messages[0] == REQUEST.messages[0]
    got, model = ask(Colours, bad, bad, GOOD)
    assert isinstance(got, Failure)
    assert got.kind == "wrong-schema"
    assert words in got.message
    assert len(model.requests) == 2


def test_another_failure_is_passed_on_at_once() -> None:
    got, model = ask(Colours, Failure("refused", "no"), GOOD)
    assert got == Failure("refused", "no")
    assert len(model.requests) == 1


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (Point, '{"x": 1, "y": 2}', Point(1, 2)),
        (list[int], '{"value": [1, 2]}', [1, 2]),
        (str, '{"value": "red"}', "red"),
        (bool, '{"value": false}', False),
        (list[Point], '{"value": [{"x": 1, "y": 2}]}', [Point(1, 2)]),
    ],
)
def test_types_that_are_no_object_travel_in_one(kind: Any, text: str, value: Any) -> None:
    got, model = ask(kind, text)
    assert isinstance(got, Structured)
    assert got.value == value
    assert is_strict(model.requests[0].schema)
    assert model.requests[0].schema is not None
    assert model.requests[0].schema["type"] == "object"


def test_nothing_is_evaluated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("builtins.eval", lambda *_: sys.exit("eval"))
    monkeypatch.setattr("builtins.exec", lambda *_: sys.exit("exec"))
    found, wrong = fitting_json("{'x': 1, 'y': __import__('os').getpid()}", {"type": "object"})
    assert found is None
    assert wrong


def test_a_part_of_what_was_cut_off_is_not_the_answer() -> None:
    schema = {"type": "object", "required": ["n"]}
    assert fitting_json('{"draft": {"n": 1}, "n": 2', schema)[1]
    assert fitting_json('[{"n": 1}, {"n": ', schema)[1]
    assert fitting_json('so [it is] {"n": 2}', schema) == ({"n": 2}, [])


class Cat(BaseModel):
    kind: Literal["cat"]


class Dog(BaseModel):
    kind: Literal["dog"]
    age: int = 3


class Zoo(BaseModel):
    pet: Cat | Dog = Field(discriminator="kind")
    best: Dog = Field(description="the best one")
    rest: list[Zoo] = []
    when: str = Field("now", json_schema_extra={"format": "uri"})


class Open(BaseModel):
    counts: dict[str, int]


def test_the_strict_form() -> None:
    schema = strict_schema(TypeAdapter(Zoo).json_schema())
    text = repr(schema)
    assert is_strict(schema)
    for word in ("title", "default", "oneOf", "discriminator", "uri"):
        assert f"'{word}'" not in text
    zoo = schema["$defs"]["Zoo"]
    assert zoo["required"] == ["pet", "best", "rest", "when"]
    assert zoo["properties"]["best"]["properties"]["kind"]
    value = {"pet": {"kind": "cat"}, "best": {"kind": "dog", "age": 1}, "rest": [], "when": "now"}
    assert schema_errors(value, schema) == []
    assert schema_errors({**value, "pet": {"kind": "cow"}}, schema) != []


def test_an_open_dictionary_can_not_be_strict() -> None:
    wanted = ReplySchema.of(Open)
    assert not is_strict(wanted.schema)
    got, _ = ask(Open, '{"counts": {"a": 1}}')
    assert isinstance(got, Structured)
    got, _ = ask(Open, '{"counts": {"a": "x"}}', "{}")
    assert isinstance(got, Failure)


@pytest.mark.parametrize(
    ("value", "schema", "fits"),
    [
        (1, {"type": "integer"}, True),
        (1.0, {"type": "integer"}, True),
        (1.5, {"type": "integer"}, False),
        (True, {"type": "integer"}, False),
        (True, {"type": "number"}, False),
        (None, {"type": ["string", "null"]}, True),
        (3, {"type": ["string", "null"]}, False),
        (True, {"enum": [1]}, False),
        (1, {"const": 1}, True),
        ("ab", {"minLength": 2, "maxLength": 2, "pattern": "^a"}, True),
        ("ab", {"minLength": 3}, False),
        ("ab", {"maxLength": 1}, False),
        ("ab", {"pattern": "^b"}, False),
        (5, {"minimum": 5, "maximum": 5}, True),
        (5, {"exclusiveMinimum": 5}, False),
        (5, {"exclusiveMaximum": 5}, False),
        (0.3, {"multipleOf": 0.1}, True),
        (0.35, {"multipleOf": 0.1}, False),
        ([1, 1], {"uniqueItems": True}, False),
        ([1, True], {"uniqueItems": True}, True),
        ([1, "a"], {"prefixItems": [{"type": "integer"}], "items": {"type": "string"}}, True),
        ([1, 2], {"prefixItems": [{"type": "integer"}], "items": {"type": "string"}}, False),
        ([], {"minItems": 1}, False),
        ({"a": 1}, {"additionalProperties": {"type": "string"}}, False),
        ({"a": 1}, {"properties": {"a": False}}, False),
        (1, {"anyOf": [{"type": "string"}, {"type": "integer"}]}, True),
        (1, {"oneOf": [{"type": "number"}, {"type": "integer"}]}, False),
        (1, {"allOf": [{"minimum": 0}, {"maximum": 0}]}, False),
        ({"n": {"n": {}}}, NESTED, True),
        ({"n": {"n": 1}}, NESTED, False),
        (1, {"$ref": "#/$defs/nowhere"}, True),
        (1, {"$ref": "#"}, False),
    ],
)
def test_schema_keywords(value: Any, schema: Any, fits: bool) -> None:
    assert (schema_errors(value, schema) == []) is fits


COLOURS = ReplySchema.of(Colours)
_SHADES = st.builds(Shade, strength=st.floats(0, 1))
_COLOURS = st.builds(
    Colours,
    shades=st.lists(_SHADES, min_size=1, max_size=3),
    main=st.none() | _SHADES,
    note=st.text(max_size=5).filter(lambda text: text != "rude"),
)
_ODD = st.sampled_from([None, True, 0, 1, -1, 0.5, 2.5, "red", "green", "", [], {}, [1], {"name": "red"}])


def _changed(value: Any, path: list[int], odd: Any) -> Any:
    """The value with something odd at one place of it; an added field where the path ends early."""
    if isinstance(value, dict) and value and path:
        key = sorted(value)[path[0] % len(value)]
        return {**value, key: _changed(value[key], path[1:], odd)}
    if isinstance(value, list) and value and path:
        at = path[0] % len(value)
        return [*value[:at], _changed(value[at], path[1:], odd), *value[at + 1 :]]
    return {**value, "more": odd} if isinstance(value, dict) else odd


@settings(deadline=None, max_examples=200)
@given(_COLOURS, st.lists(st.integers(0, 3), max_size=3), _ODD)
def test_our_check_and_the_type_agree(value: Colours, path: list[int], odd: Any) -> None:
    good = value.model_dump(mode="json")
    assert schema_errors(good, COLOURS.schema) == []
    changed = _changed(good, path, odd)
    if not schema_errors(changed, COLOURS.schema):
        COLOURS.adapter.validate_python(changed)
    elif not isinstance(changed, dict) or "more" not in repr(changed):
        # What the type takes and the schema does not is only what pydantic turns into the right kind by itself.
        try:
            taken = COLOURS.adapter.validate_python(changed, strict=True)
        except ValueError:
            return
        assert taken.model_dump(mode="json") != changed


@settings(deadline=None, max_examples=100)
@given(_COLOURS, st.text(alphabet="abc {}[]`\n", max_size=20))
def test_a_value_of_the_type_is_found_in_any_prose(value: Colours, prose: str) -> None:
    found, wrong = fitting_json(f"{prose}\n{value.model_dump_json()}\n{prose}", COLOURS.schema)
    if not wrong:
        assert COLOURS.adapter.validate_python(found) == value
    else:
        # Only a bracket that is opened in the prose can hide it.
        assert "[" in prose or "{" in prose


@settings(deadline=None, max_examples=200)
@given(st.text(alphabet='{}[]",:0123456789truefalsn`\n \\NaI', max_size=60))
def test_looking_for_json_never_raises(text: str) -> None:
    list(json_values(text))


def test_hostile_json_does_not_break_or_hang() -> None:
    assert list(json_values("[" * 100_000)) == []
    assert list(json_values('{"a": NaN}')) == []
    deep = '{"n":' * 500 + "{}" + "}" * 500
    assert schema_errors(next(iter(json_values(deep))), NESTED)
