"""OpenAI's responses API: a request's body, and what a reply says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from sightline.models.failures import failure
from sightline.models.openai_chat import (
    add_extra,
    as_json_text,
    describe_schema,
    describe_tool,
    sampling_fields,
    schema_in_words,
)
from sightline.models.picture_cache import PreparedPictures
from sightline.models.replies import ReplyText, finish_reason, read_usage
from sightline.models.wire_settings import Structure
from sightline.types import ChatRequest, Failure, ImagePart, Message, ToolCall

PATH = "/responses"


def build_responses(
    request: ChatRequest, model: str, pictures: PreparedPictures, *, structured: Structure = "native"
) -> dict[str, Any] | Failure:
    """The body, with every parameter that is set and no other; what the API has no word for is a failure."""
    missing = [name for name, value in (("seed", request.seed), ("stop", request.stop or None)) if value is not None]
    if missing:
        names = " and ".join(missing)
        return failure("unsupported", f"the responses API has no {names}; leave it out, or use the chat API")
    body: dict[str, Any] = {"model": model, "input": list(_input(request, pictures, structured))}
    if request.tools:
        # Said outright, because strict is this API's own default.
        body["tools"] = [{"type": "function", **describe_tool(tool), "strict": False} for tool in request.tools]
    if request.tool_choice is not None:
        body["tool_choice"] = _tool_choice(request.tool_choice)
    if request.schema is not None and structured == "native":
        body["text"] = {"format": {"type": "json_schema", **describe_schema(request)}}
    body |= sampling_fields(request, "max_output_tokens")
    if request.reasoning_effort is not None:
        body["reasoning"] = {"effort": request.reasoning_effort}
    add_extra(body, request.extra)
    return body


def _tool_choice(choice: str) -> str | dict[str, Any]:
    return choice if choice in ("auto", "none", "required") else {"type": "function", "name": choice}


def _input(request: ChatRequest, pictures: PreparedPictures, structured: Structure) -> Iterator[dict[str, Any]]:
    for message in request.messages:
        if message.role == "tool":
            yield {
                "type": "function_call_output",
                "call_id": message.tool_call_id or "",
                "output": _output(message, pictures),
            }
            continue
        if message.content or not message.tool_calls:
            yield {"role": message.role, "content": _content(message, pictures)}
        for call in message.tool_calls:
            yield {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments}
    if request.schema is not None and structured == "prompt":
        yield {"role": "user", "content": schema_in_words(request)}


def _content(message: Message, pictures: PreparedPictures) -> str | list[dict[str, Any]]:
    content = message.content
    if len(content) == 1 and isinstance(content[0], str):
        return content[0]
    kind = "output_text" if message.role == "assistant" else "input_text"
    return [{"type": kind, "text": part} if isinstance(part, str) else _picture(part, pictures) for part in content]


def _output(message: Message, pictures: PreparedPictures) -> str | list[dict[str, Any]]:
    if all(isinstance(part, str) for part in message.content):
        return "".join(part for part in message.content if isinstance(part, str))
    return [
        {"type": "input_text", "text": part} if isinstance(part, str) else _picture(part, pictures)
        for part in message.content
    ]


def _picture(part: ImagePart, pictures: PreparedPictures) -> dict[str, Any]:
    # Here `detail` is a required field, so it is also sent when it is "auto".
    return {"type": "input_image", "image_url": orjson.Fragment(pictures[id(part)].url), "detail": part.detail}


# --- replies -----------------------------------------------------------------------------------------------


def read_responses(payload: Mapping[str, Any]) -> ReplyText | None:
    """What a reply says, whatever a server leaves out; None when it has no output."""
    items = payload.get("output")
    if not isinstance(items, list) or (not items and payload.get("status") in (None, "completed")):
        return None
    texts: list[str] = []
    thoughts: list[str] = []
    refusals: list[str] = []
    calls: list[ToolCall] = []
    for item in items:
        if not isinstance(item, dict):
            continue
        match item.get("type"):
            case "message":
                texts += _texts(item.get("content"), "text")
                refusals += _texts(item.get("content"), "refusal")
            case "reasoning":
                thoughts += _texts(item.get("content"), "text") or _texts(item.get("summary"), "text")
            case "function_call":
                calls.append(_tool_call(item, len(calls)))
    model = payload.get("model")
    return ReplyText(
        text="".join(texts),
        thinking="\n\n".join(thoughts),
        tool_calls=tuple(calls),
        refusal="\n".join(refusals),
        finish=_finish(payload, bool(calls)),
        model=model if isinstance(model, str) else None,
        usage=read_usage(payload.get("usage")),
    )


def _texts(parts: Any, field: str) -> list[str]:
    if not isinstance(parts, list):
        return []
    found = (part.get(field) for part in parts if isinstance(part, dict))
    return [text for text in found if isinstance(text, str) and text]


def _tool_call(item: Mapping[str, Any], number: int) -> ToolCall:
    name, call_id = item.get("name"), item.get("call_id")
    return ToolCall(
        call_id if isinstance(call_id, str) and call_id else f"call_{number}",
        name if isinstance(name, str) else "",
        as_json_text(item.get("arguments", "")),
    )


def _finish(payload: Mapping[str, Any], called: bool) -> str:
    details = payload.get("incomplete_details")
    if payload.get("status") == "incomplete":
        reason = details.get("reason") if isinstance(details, dict) else None
        return finish_reason(reason or "length")
    finish = finish_reason(payload.get("status"))
    return "tool-calls" if called and finish == "stop" else finish
