"""What goes over the wire: the whole body that a real server received, for requests with everything set."""

from __future__ import annotations

import asyncio
import base64
import io
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest

from models_server import Received, after, chat, respond_json, responses, said, serving
from pictures import random_picture
from sightline.config.section import Hidden
from sightline.config.settings import ModelSettings
from sightline.models.protocols import CallOutcome
from sightline.models.transport_factory import open_transport
from sightline.models.wire_settings import WireSettings
from sightline.types import ChatReply, ChatRequest, Failure, ImagePart, Message, ToolCall, ToolSpec


def _jpeg() -> bytes:
    buffer = io.BytesIO()
    random_picture(1, (40, 30)).save(buffer, "JPEG")
    return buffer.getvalue()


JPEG = _jpeg()
DATA_URL = "data:image/jpeg;base64," + base64.b64encode(JPEG).decode()
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"colour": {"type": "string"}},
    "required": ["colour"],
    "additionalProperties": False,
}
PARAMETERS: dict[str, Any] = {"type": "object", "properties": {"query": {"type": "string"}}}
EVERYTHING = ChatRequest(
    model="openai/gpt-5-mini",
    messages=(
        Message("system", ("Be brief.",)),
        Message("user", ("What is this? ", ImagePart("at hand", JPEG, "high"), " And this? ", ImagePart("x", JPEG))),
        Message(
            "assistant", ("Let me look.",), (ToolCall("c1", "search", '{"query":"a"}'), ToolCall("c2", "crop", "{"))
        ),
        Message("tool", ("found it",), tool_call_id="c1"),
        Message("tool", ("cropped", ImagePart("crop", JPEG, "low")), tool_call_id="c2"),
        Message("user", ("Go on.", ImagePart("https://example.org/a.jpg"))),
    ),
    tools=(ToolSpec("search", "Find pictures.", PARAMETERS),),
    tool_choice="search",
    schema=SCHEMA,
    schema_name="colours",
    temperature=0.5,
    top_p=0.9,
    max_tokens=321,
    seed=7,
    reasoning_effort="low",
    stop=("END", "STOP"),
    sample=3,
    extra={"service_tier": "flex", "metadata": {"run": "1"}},
)
KEY = "sk-test-0123456789abcdef"
MODELS = ModelSettings(openai_api_key=Hidden(KEY))
ANSWERS = {
    "chat": chat('{"colour": "red"}'),
    "responses": responses(said('{"colour": "red"}')),
}


def ask(
    request: ChatRequest, api: Any = "chat", name: str = "openai/gpt-5-mini", **settings: Any
) -> tuple[CallOutcome, Received]:
    """One call to a real server: what came back, and what the server received."""

    async def go() -> tuple[CallOutcome, Received]:
        async with serving(lambda _: respond_json(ANSWERS[api])) as server:
            models = ModelSettings(openai_api_key=Hidden(KEY), base_url=server.base_url)
            transport = open_transport(
                name, base_url=server.base_url, api=api, settings=WireSettings(**settings), models=models
            )
            try:
                return await transport.send(request), server.requests[0]
            finally:
                await transport.close()

    return asyncio.run(go())


def test_chat_completions_with_everything_set() -> None:
    outcome, received = ask(EVERYTHING)
    assert isinstance(outcome.result, ChatReply)
    assert (received.method, received.path) == ("POST", "/v1/chat/completions")
    assert received.headers["authorization"] == f"Bearer {KEY}"
    assert received.headers["content-type"] == "application/json"
    assert received.json == {
        "model": "gpt-5-mini",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "What is this? "},
                    {"type": "image_url", "image_url": {"url": DATA_URL, "detail": "high"}},
                    {"type": "text", "text": " And this? "},
                    {"type": "image_url", "image_url": {"url": DATA_URL}},
                ],
            },
            {
                "role": "assistant",
                "content": "Let me look.",
                "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"query":"a"}'}},
                    {"id": "c2", "type": "function", "function": {"name": "crop", "arguments": "{"}},
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "found it"},
            {"role": "tool", "tool_call_id": "c2", "content": "cropped"},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "Pictures from tool call c2:"},
                    {"type": "image_url", "image_url": {"url": DATA_URL, "detail": "low"}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "Go on."},
                    {"type": "image_url", "image_url": {"url": "https://example.org/a.jpg"}},
                ],
            },
        ],
        "tools": [
            {
                "type": "function",
                "function": {"name": "search", "description": "Find pictures.", "parameters": PARAMETERS},
            }
        ],
        "tool_choice": {"type": "function", "function": {"name": "search"}},
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "colours", "schema": SCHEMA, "strict": True},
        },
        "temperature": 0.5,
        "top_p": 0.9,
        "max_completion_tokens": 321,
        "seed": 7,
        "reasoning_effort": "low",
        "stop": ["END", "STOP"],
        "service_tier": "flex",
        "metadata": {"run": "1"},
    }


def test_responses_with_everything_that_it_has_set() -> None:
    outcome, received = ask(replace(EVERYTHING, seed=None, stop=()), "responses")
    assert isinstance(outcome.result, ChatReply)
    assert (received.method, received.path) == ("POST", "/v1/responses")
    assert received.headers["authorization"] == f"Bearer {KEY}"
    assert received.json == {
        "model": "gpt-5-mini",
        "input": [
            {"role": "system", "content": "Be brief."},
            {
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "What is this? "},
                    {"type": "input_image", "image_url": DATA_URL, "detail": "high"},
                    {"type": "input_text", "text": " And this? "},
                    {"type": "input_image", "image_url": DATA_URL, "detail": "auto"},
                ],
            },
            {"role": "assistant", "content": "Let me look."},
            {"type": "function_call", "call_id": "c1", "name": "search", "arguments": '{"query":"a"}'},
            {"type": "function_call", "call_id": "c2", "name": "crop", "arguments": "{"},
            {"type": "function_call_output", "call_id": "c1", "output": "found it"},
            {
                "type": "function_call_output",
                "call_id": "c2",
                "output": [
                    {"type": "input_text", "text": "cropped"},
                    {"type": "input_image", "image_url": DATA_URL, "detail": "low"},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "Go on."},
                    {"type": "input_image", "image_url": "https://example.org/a.jpg", "detail": "auto"},
                ],
            },
        ],
        "tools": [
            {
                "type": "function",
                "name": "search",
                "description": "Find pictures.",
                "parameters": PARAMETERS,
                "strict": False,
            }
        ],
        "tool_choice": {"type": "function", "name": "search"},
        "text": {"format": {"type": "json_schema", "name": "colours", "schema": SCHEMA, "strict": True}},
        "temperature": 0.5,
        "top_p": 0.9,
        "max_output_tokens": 321,
        "reasoning": {"effort": "low"},
        "service_tier": "flex",
        "metadata": {"run": "1"},
    }


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_nothing_is_sent_that_is_not_set(api: str) -> None:
    _, received = ask(ChatRequest("openai/gpt-5-mini", (Message("user", ("Hello",)),)), api)
    field = "messages" if api == "chat" else "input"
    assert received.json == {"model": "gpt-5-mini", field: [{"role": "user", "content": "Hello"}]}


@pytest.mark.parametrize(
    ("field", "value", "sent"),
    [
        ("temperature", 0.0, {"temperature": 0.0}),
        ("top_p", 0.0, {"top_p": 0.0}),
        ("seed", 0, {"seed": 0}),
        ("max_tokens", 1, {"max_completion_tokens": 1}),
        ("tool_choice", "none", {"tool_choice": "none"}),
        ("reasoning_effort", "none", {"reasoning_effort": "none"}),
    ],
)
def test_a_zero_is_a_value(field: str, value: Any, sent: dict[str, Any]) -> None:
    request = replace(ChatRequest("openai/m", (Message("user", ("Hello",)),)), **{field: value})
    _, received = ask(request)
    assert {key: item for key, item in received.json.items() if key not in ("model", "messages")} == sent


@pytest.mark.parametrize(("field", "value"), [("seed", 0), ("stop", ("x",))])
def test_what_responses_has_no_word_for_is_refused_and_not_dropped(field: str, value: Any) -> None:
    request = replace(ChatRequest("openai/m", (Message("user", ("Hello",)),)), **{field: value})

    async def go() -> tuple[CallOutcome, int]:
        async with serving([]) as server:
            transport = open_transport("openai/m", base_url=server.base_url, api="responses")
            outcome = await transport.send(request)
            await transport.close()
            return outcome, len(server.requests)

    outcome, asked = asyncio.run(go())
    assert isinstance(outcome.result, Failure)
    assert (outcome.result.kind, asked) == ("unsupported", 0)
    assert field in outcome.result.message


HELLO = ChatRequest("vllm/Qwen/Qwen3-VL", (Message("user", ("Hello",)),), max_tokens=5)


@pytest.mark.parametrize(
    ("settings", "field"),
    [({}, "max_tokens"), ({"max_tokens_field": "max_completion_tokens"}, "max_completion_tokens")],
)
def test_what_the_limit_of_tokens_is_called(settings: dict[str, Any], field: str) -> None:
    _, received = ask(HELLO, name="vllm/Qwen/Qwen3-VL", **settings)
    assert received.json[field] == 5
    assert received.json["model"] == "Qwen/Qwen3-VL"
    assert "authorization" not in received.headers


def test_settings_reach_the_wire() -> None:
    request = replace(HELLO, extra={"top_k": 3, "options": {"b": 2}})
    _, received = ask(
        request, name="vllm/Qwen/Qwen3-VL", headers={"X-Team": "maps"}, extra={"store": False, "top_k": 1}
    )
    assert received.headers["x-team"] == "maps"
    assert (received.json["store"], received.json["top_k"], received.json["options"]) == (False, 3, {"b": 2})


def test_extra_adds_to_an_object_that_we_send_too() -> None:
    request = replace(HELLO, reasoning_effort="low", extra={"reasoning": {"summary": "auto"}})
    _, received = ask(request, "responses", name="vllm/Qwen/Qwen3-VL")
    assert received.json["reasoning"] == {"effort": "low", "summary": "auto"}


def test_a_schema_goes_into_the_prompt_where_the_server_takes_none() -> None:
    outcome, received = ask(replace(HELLO, schema=SCHEMA), structured="prompt")
    assert "response_format" not in received.json
    last = received.json["messages"][-1]
    assert last["role"] == "user"
    assert '"colour"' in last["content"]
    assert isinstance(outcome.result, ChatReply)
    assert outcome.result.parsed == {"colour": "red"}


def test_a_schema_in_the_prompt_of_responses() -> None:
    _, received = ask(replace(HELLO, schema=SCHEMA), "responses", structured="prompt")
    assert "text" not in received.json
    assert '"colour"' in received.json["input"][-1]["content"]


def test_a_loose_schema_is_not_called_strict() -> None:
    loose: dict[str, Any] = {"type": "object", "properties": {"colour": {"type": "string"}}}
    _, received = ask(replace(HELLO, schema=loose))
    assert received.json["response_format"]["json_schema"]["strict"] is False


def test_read_only_mappings_are_sent() -> None:
    frozen: Any = MappingProxyType({"type": "object", "properties": MappingProxyType({})})
    _, received = ask(replace(HELLO, tools=(ToolSpec("t", "d", frozen),), extra=MappingProxyType({"x": frozen})))
    assert received.json["tools"][0]["function"]["parameters"] == {"type": "object", "properties": {}}
    assert received.json["x"] == {"type": "object", "properties": {}}


def test_an_assistant_who_only_called_a_tool() -> None:
    messages = (Message("user", ("Go",)), Message("assistant", (), (ToolCall("c", "t", "{}"),)))
    _, received = ask(replace(HELLO, messages=messages))
    assert received.json["messages"][1]["content"] is None
    _, received = ask(replace(HELLO, messages=messages), "responses")
    assert received.json["input"][1:] == [{"type": "function_call", "call_id": "c", "name": "t", "arguments": "{}"}]


@pytest.mark.parametrize(
    "bad", [{"seed": 2**70}, {"extra": {"x": object()}}, {"messages": (Message("user", ("\ud800",)),)}]
)
def test_what_is_no_json_is_a_failure_and_not_an_exception(bad: dict[str, Any]) -> None:
    async def go() -> CallOutcome:
        transport = open_transport("vllm/m", base_url="http://127.0.0.1:1/v1")
        try:
            return await transport.send(replace(HELLO, **bad))
        finally:
            await transport.close()

    result = asyncio.run(go()).result
    assert isinstance(result, Failure)
    assert (result.kind, result.retryable) == ("bad-request", False)


def test_a_query_in_the_address_is_kept() -> None:
    async def go() -> Received:
        async with serving(lambda _: respond_json(chat())) as server:
            transport = open_transport("openai/m", base_url=f"{server.base_url}?api-version=1", models=MODELS)
            await transport.send(HELLO)
            await transport.close()
            return server.requests[0]

    assert asyncio.run(go()).path == "/v1/chat/completions?api-version=1"


def test_calls_share_connections() -> None:
    async def go() -> tuple[int, int]:
        async with serving(lambda _: respond_json(chat())) as server:
            transport = open_transport("vllm/m", base_url=server.base_url)
            for _ in range(5):
                await transport.send(HELLO)
            await transport.close()
            return len(server.requests), server.connections

    assert asyncio.run(go()) == (5, 1)


def test_many_calls_at_once() -> None:
    async def go() -> tuple[int, int]:
        async with serving(lambda _: after(0.05, respond_json(chat()))) as server:
            transport = open_transport("vllm/m", base_url=server.base_url)
            outcomes = await asyncio.gather(*(transport.send(HELLO) for _ in range(200)))
            await transport.close()
            return sum(isinstance(outcome.result, ChatReply) for outcome in outcomes), server.connections

    answered, connections = asyncio.run(go())
    assert answered == 200
    assert connections > 100
