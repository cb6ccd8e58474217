from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from sightline.errors import UserError
from sightline.models.protocols import CallOutcome
from sightline.models.scripted import ScriptedModel
from sightline.models.transport_factory import open_transport
from sightline.types import ChatReply, ChatRequest, Failure, Message


def request(text: str, **fields: Any) -> ChatRequest:
    return ChatRequest("scripted/x", (Message("user", (text,)),), **fields)


def test_a_list_is_said_in_order_and_runs_out() -> None:
    busy = CallOutcome(Failure("rate-limited", "later", True), 429, 3.0)
    model = ScriptedModel(["<think>hm</think>one", ChatReply("two"), Failure("refused", "no"), busy])
    first, second, third = (asyncio.run(model.reply(request("x"))) for _ in range(3))
    assert isinstance(first, ChatReply)
    assert (first.text, first.thinking) == ("one", "hm")
    assert second == ChatReply("two")
    assert third == Failure("refused", "no")
    assert asyncio.run(model.send(request("x"))) is busy
    last = asyncio.run(model.reply(request("x")))
    assert isinstance(last, Failure)
    assert "run out" in last.message
    assert len(model.requests) == 5


def test_a_function_sees_the_request_and_the_schema_is_checked() -> None:
    model = ScriptedModel(lambda asked: f'{{"seed": {asked.seed}}}')
    schema: Any = {"type": "object", "properties": {"seed": {"type": "integer"}}}
    got = asyncio.run(model.reply(request("x", seed=4, schema=schema)))
    assert isinstance(got, ChatReply)
    assert got.parsed == {"seed": 4}
    got = asyncio.run(model.reply(request("x", schema=schema)))
    assert isinstance(got, Failure)
    assert got.kind == "wrong-schema"


def ask(name: str, text: str) -> ChatReply | Failure:
    transport = open_transport(name)
    return asyncio.run(transport.send(request(text))).result


def test_echo() -> None:
    got = ask("scripted/echo", "two words")
    assert isinstance(got, ChatReply)
    assert (got.text, got.usage.input, got.usage.output) == ("two words", 2, 2)


def test_a_script_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "script.jsonl"
    path.write_text('{"match": "colour", "text": "red"}\n{"match": "secret", "failure": "refused"}\n{"text": "eh?"}\n')
    name = f"scripted/{path}"
    answers = [ask(name, text) for text in ("Which colour?", "Tell a secret", "Hello")]
    assert isinstance(answers[0], ChatReply)
    assert answers[0].text == "red"
    assert answers[1] == Failure("refused", "scripted")
    assert isinstance(answers[2], ChatReply)
    assert answers[2].text == "eh?"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("[]", "expected"),
        ('{"match": "x"}', "expected"),
        ('{"text": "x", "other": 1}', "expected"),
        ('{"text": 3}', "strings"),
        ('{"failure": "tired"}', '"tired" is not a failure'),
        ("{", "line 1"),
    ],
)
def test_a_wrong_line_is_told(tmp_path: Path, line: str, words: str) -> None:
    path = tmp_path / "script.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(UserError) as caught:
        open_transport(f"scripted/{path}")
    assert words in str(caught.value)


def test_no_such_script() -> None:
    with pytest.raises(UserError, match=r'no script "nothing"'):
        open_transport("scripted/nothing")
    with pytest.raises(UserError):
        open_transport("scripted/nowhere.jsonl")
