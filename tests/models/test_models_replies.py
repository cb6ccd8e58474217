"""What replies say, and that no JSON whatever makes the readers raise."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models_server import chat, responses, said
from sightline.models.openai_chat import read_chat
from sightline.models.openai_responses import read_responses
from sightline.models.protocols import CallOutcome
from sightline.models.replies import ReplyText, check_reply, read_usage
from sightline.types import ChatReply, ChatRequest, Message, ToolCall, Usage

HELLO = ChatRequest("vllm/m", (Message("user", ("Hello",)),))


def reply(payload: dict[str, Any], read: Any = read_chat) -> ChatReply:
    found = read(payload)
    assert found is not None
    result = check_reply(found, HELLO).result
    assert isinstance(result, ChatReply), result
    return result


def test_a_plain_reply() -> None:
    got = reply(chat("A red bicycle."))
    assert (got.text, got.thinking, got.finish, got.model) == ("A red bicycle.", "", "stop", "gpt-5-mini-2026")
    assert got.usage == Usage(input=12, output=5)
    assert got.usd is None


@pytest.mark.parametrize(
    "message",
    [
        {"reasoning_content": "It is red."},
        {"reasoning": "It is red."},
        {"reasoning": {"content": "It is red."}},
        {"thinking": "It is red."},
        {"reasoning_details": [{"type": "reasoning.text", "text": "It is red."}, {"type": "reasoning.encrypted"}]},
        {"reasoning_details": [{"type": "reasoning.summary", "summary": "It is red."}]},
        {"reasoning_content": "", "reasoning": "It is red."},
    ],
)
def test_thinking_in_a_field_of_its_own(message: dict[str, Any]) -> None:
    got = reply(chat("A bicycle.", **message))
    assert (got.text, got.thinking) == ("A bicycle.", "It is red.")


def test_thinking_in_tags_and_in_parts() -> None:
    got = reply(chat("<think>It is red.</think>\nA bicycle."))
    assert (got.text, got.thinking) == ("A bicycle.", "It is red.")
    parts: Any = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "It is red."}]},
        {"type": "text", "text": "A "},
        {"type": "text", "text": "bicycle."},
    ]
    got = reply(chat(parts))
    assert (got.text, got.thinking) == ("A bicycle.", "It is red.")


def test_a_tag_in_an_answer_whose_thinking_came_apart_is_left_alone() -> None:
    got = reply(chat("End it with </think>, they say.", reasoning_content="It is red."))
    assert (got.text, got.thinking) == ("End it with </think>, they say.", "It is red.")


def test_parallel_tool_calls_with_broken_arguments_kept() -> None:
    calls = [
        {"id": "a", "type": "function", "function": {"name": "search", "arguments": '{"q": "dog'}},
        {"id": "b", "type": "function", "function": {"name": "crop", "arguments": {"x": 1}}},
        {"type": "function", "function": {"name": "look"}},
        {"id": "d", "type": "custom", "custom": {"name": "code", "input": "free text"}},
        "nonsense",
    ]
    got = reply(chat(None, tool_calls=calls, finish_reason="tool_calls"))
    assert got.finish == "tool-calls"
    assert got.tool_calls == (
        ToolCall("a", "search", '{"q": "dog'),
        ToolCall("b", "crop", '{"x":1}'),
        ToolCall("call_2", "look", ""),
        ToolCall("d", "code", "free text"),
    )


def test_a_responses_reply() -> None:
    got = reply(
        responses(
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "It is red."}]},
            {"type": "web_search_call", "status": "completed"},
            said("A "),
            said("bicycle."),
            {"type": "function_call", "call_id": "c", "name": "search", "arguments": "{"},
        ),
        read_responses,
    )
    assert (got.text, got.thinking, got.finish) == ("A bicycle.", "It is red.", "tool-calls")
    assert got.tool_calls == (ToolCall("c", "search", "{"),)
    assert got.usage == Usage(input=12, cached=4, output=9, reasoning=3)


@pytest.mark.parametrize(
    ("reported", "usage"),
    [
        (None, Usage(reported=False)),
        ({}, Usage(reported=False)),
        ("many", Usage(reported=False)),
        ({"prompt_tokens": None, "completion_tokens": None}, Usage(reported=False)),
        ({"prompt_tokens": 5}, Usage(input=5)),
        ({"prompt_tokens": -5, "completion_tokens": True, "input_tokens": 3}, Usage(input=3)),
        (
            {
                "prompt_tokens": 100,
                "completion_tokens": 20,
                "prompt_tokens_details": {"cached_tokens": 60, "image_tokens": 30, "cache_write_tokens": 10},
                "completion_tokens_details": {"reasoning_tokens": 15},
            },
            Usage(input=100, cached=60, output=20, reasoning=15, image=30, cache_written=10),
        ),
        (
            {
                "input_tokens": 100,
                "output_tokens": 20,
                "input_tokens_details": {"cached_tokens": 60, "image_tokens": 30},
                "output_tokens_details": {"reasoning_tokens": 15},
            },
            Usage(input=100, cached=60, output=20, reasoning=15, image=30),
        ),
        ({"prompt_tokens": 9, "completion_tokens": 1, "prompt_tokens_details": None}, Usage(input=9, output=1)),
        ({"prompt_tokens": 9, "completion_tokens": 1, "prompt_cache_hit_tokens": 4}, Usage(9, 4, 1)),
        ({"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 50}}, Usage(input=9, cached=9)),
        # Thinking that is counted beside the output, as the total shows, belongs into it.
        (
            {
                "prompt_tokens": 10,
                "completion_tokens": 20,
                "total_tokens": 45,
                "completion_tokens_details": {"reasoning_tokens": 15},
            },
            Usage(input=10, output=35, reasoning=15),
        ),
    ],
)
def test_usage(reported: Any, usage: Usage) -> None:
    assert read_usage(reported) == usage


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def _odd(names: list[str]) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(st.sampled_from(names), _JSON, max_size=len(names))


_MESSAGE = _odd(["role", "content", "reasoning", "reasoning_content", "reasoning_details", "tool_calls", "refusal"])
_CHOICE = st.fixed_dictionaries({"message": _MESSAGE | _JSON, "finish_reason": _JSON})
_ITEM = _odd(["type", "content", "summary", "call_id", "name", "arguments"]).flatmap(
    lambda item: st.sampled_from(["message", "reasoning", "function_call", 3]).map(lambda kind: {**item, "type": kind})
)
_PAYLOAD = st.fixed_dictionaries(
    {},
    optional={
        "choices": st.lists(_CHOICE | _JSON, max_size=2) | _JSON,
        "output": st.lists(_ITEM | _JSON, max_size=3) | _JSON,
        "usage": _JSON | _odd(["prompt_tokens", "completion_tokens", "prompt_tokens_details"]),
        "model": _JSON,
        "status": _JSON | st.sampled_from(["completed", "incomplete"]),
        "incomplete_details": _JSON,
    },
)


@settings(deadline=None, max_examples=200)
@given(_PAYLOAD)
def test_whatever_json_a_server_sends_the_readers_never_raise(payload: dict[str, Any]) -> None:
    for read in (read_chat, read_responses):
        found = read(payload)
        assert found is None or isinstance(found, ReplyText)
        if found is not None:
            assert isinstance(check_reply(found, HELLO), CallOutcome)
