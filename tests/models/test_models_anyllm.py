"""Providers behind any-llm: the real package with Anthropic's real client, against a server on loopback."""

from __future__ import annotations

import asyncio
import importlib.util
from typing import Any

import pytest

from models_server import Answer, Received, drop, never, respond, respond_json, serving
from pictures import random_picture
from sightline.config.section import Hidden
from sightline.config.settings import ModelSettings
from sightline.errors import MissingExtraError, UserError
from sightline.models.protocols import CallOutcome
from sightline.models.transport_factory import open_transport
from sightline.models.wire_settings import WireSettings
from sightline.types import ChatReply, ChatRequest, Failure, ImagePart, Message, ToolCall, ToolSpec, Usage

INSTALLED = importlib.util.find_spec("any_llm") is not None
needs_any_llm = pytest.mark.skipif(not INSTALLED, reason="needs the extra `providers`")
KEY = "sk-ant-0123456789abcdef"
MODELS = ModelSettings(anthropic_api_key=Hidden(KEY))
NAME = "anthropic/claude-opus-5"
HELLO = ChatRequest(NAME, (Message("user", ("Hello",)),), max_tokens=50)


def claude(*content: Any, stop: str = "end_turn") -> dict[str, Any]:
    usage = {"input_tokens": 8, "cache_read_input_tokens": 4, "cache_creation_input_tokens": 2, "output_tokens": 5}
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-5",
        "content": [{"type": "text", "text": part} if isinstance(part, str) else part for part in content],
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": usage,
    }


def send(answer: Answer, request: ChatRequest = HELLO, **settings: Any) -> tuple[CallOutcome, list[Received]]:
    async def go() -> tuple[CallOutcome, list[Received]]:
        async with serving(lambda _: answer) as server:
            transport = open_transport(
                NAME,
                base_url=server.base_url.removesuffix("/v1"),
                models=ModelSettings(server_api_key=Hidden(KEY)),
                settings=WireSettings(**settings),
            )
            assert KEY not in repr(transport)
            try:
                async with asyncio.timeout(20):
                    return await transport.send(request), server.requests
            finally:
                await transport.close()

    return asyncio.run(go())


@needs_any_llm
def test_a_request_reaches_the_provider_and_its_reply_comes_back() -> None:
    picture = random_picture(1, (40, 30))
    import io

    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    request = ChatRequest(
        NAME,
        (
            Message("system", ("Be brief.",)),
            Message("user", ("What is this?", ImagePart("x", buffer.getvalue()))),
        ),
        tools=(ToolSpec("search", "Find.", {"type": "object", "properties": {"q": {"type": "string"}}}),),
        temperature=0.5,
        max_tokens=200,
        stop=("END",),
    )
    thought = {"type": "thinking", "thinking": "It is red.", "signature": "s"}
    call = {"type": "tool_use", "id": "t1", "name": "search", "input": {"q": "bicycle"}}
    outcome, requests = send(respond_json(claude(thought, "A bicycle.", call, stop="tool_use")), request)
    reply = outcome.result
    assert isinstance(reply, ChatReply)
    assert (reply.text, reply.thinking, reply.finish) == ("A bicycle.", "It is red.", "tool-calls")
    assert reply.tool_calls == (ToolCall("t1", "search", reply.tool_calls[0].arguments),)
    assert "bicycle" in reply.tool_calls[0].arguments
    assert reply.usage == Usage(input=14, cached=4, output=5, cache_written=2)
    body = requests[0].json
    assert requests[0].headers["x-api-key"] == KEY
    assert (body["model"], body["max_tokens"], body["temperature"]) == ("claude-opus-5", 200, 0.5)
    assert body["stop_sequences"] == ["END"]
    assert body["tools"][0]["name"] == "search"
    assert "Be brief." in str(body["system"])
    assert body["messages"][0]["content"][1]["source"]["media_type"] == "image/png"


@needs_any_llm
@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (respond_json({"error": {"type": "authentication_error", "message": f"bad {KEY}"}}, 401), "auth"),
        (respond_json({"error": {"type": "not_found_error", "message": "model: x"}}, 404), "unknown-model"),
        (respond_json({"error": {"type": "invalid_request_error", "message": "bad"}}, 400), "bad-request"),
        (respond_json({"error": {"type": "overloaded_error", "message": "busy"}}, 529), "overloaded"),
        (respond_json({"error": {"type": "api_error", "message": "oops"}}, 500), "server-error"),
        (respond(b"<html><title>x</title></html>", 502, "text/html"), "server-error"),
        (drop(), "connection"),
        (respond_json(claude("half", stop="max_tokens")), "length"),
        (respond_json(claude("")), "empty"),
    ],
)
def test_what_goes_wrong_there_gets_its_name_at_once(answer: Answer, kind: str) -> None:
    outcome, requests = send(answer)
    assert isinstance(outcome.result, Failure)
    assert outcome.result.kind == kind
    assert KEY not in outcome.result.message
    assert len(requests) == 1


@needs_any_llm
def test_when_to_come_back() -> None:
    error = {"error": {"type": "rate_limit_error", "message": "slow down"}}
    outcome, requests = send(respond_json(error, 429, retry_after="7"))
    assert isinstance(outcome.result, Failure)
    assert (outcome.result.kind, outcome.status, outcome.retry_after) == ("rate-limited", 429, 7.0)
    assert len(requests) == 1


@needs_any_llm
def test_what_is_no_json_is_a_failure() -> None:
    outcome, requests = send(never(), ChatRequest(NAME, (Message("user", ("\ud800",)),)))
    assert isinstance(outcome.result, Failure)
    assert (outcome.result.kind, len(requests)) == ("bad-request", 0)


@needs_any_llm
def test_waiting_ends() -> None:
    outcome, _ = send(never(), total_seconds=0.2)
    assert isinstance(outcome.result, Failure)
    assert outcome.result.kind == "timeout"


@needs_any_llm
def test_structured_output_is_native_or_in_the_prompt() -> None:
    schema: Any = {
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "required": ["n"],
        "additionalProperties": False,
    }
    request = ChatRequest(NAME, HELLO.messages, schema=schema, max_tokens=50)
    for structured in ("native", "prompt"):
        outcome, requests = send(respond_json(claude('{"n": 3}')), request, structured=structured)
        assert isinstance(outcome.result, ChatReply)
        assert outcome.result.parsed == {"n": 3}
        assert ("output_config" in requests[0].json) is (structured == "native")


@needs_any_llm
def test_providers_that_any_llm_does_not_have(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="knows no provider"):
        open_transport("any-llm/nobody/x")
    with pytest.raises(UserError, match="any-llm/provider/model"):
        open_transport("any-llm/nobody")
    monkeypatch.delenv("GROQ_API_KEY", raising=False)
    with pytest.raises(UserError, match="GROQ_API_KEY is not set"):
        open_transport("groq/x")


@pytest.mark.skipif(INSTALLED, reason="only without the extra `providers`")
def test_without_the_package_the_extra_is_named() -> None:
    with pytest.raises(MissingExtraError, match=r"sightline\[providers\]"):
        open_transport(NAME, models=MODELS)
