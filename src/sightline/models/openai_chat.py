"""OpenAI's chat completions, as spoken by most servers: a request's body, and what a reply says."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from sightline.models.failures import failure
from sightline.models.json_schema import is_strict_cached
from sightline.models.picture_cache import PreparedPictures
from sightline.models.providers import MaxTokens
from sightline.models.replies import ReplyText, finish_reason, read_usage
from sightline.models.wire_settings import Structure
from sightline.types import ChatRequest, Failure, ImagePart, Message, ToolCall, ToolSpec

PATH = "/chat/completions"


def build_chat(
    request: ChatRequest,
    model: str,
    pictures: PreparedPictures,
    *,
    max_tokens_field: MaxTokens = "max_completion_tokens",
    structured: Structure = "native",
) -> dict[str, Any]:
    """The body, with every parameter that is set and no other; pictures are ready-made JSON in it."""
    body: dict[str, Any] = {"model": model, "messages": chat_messages(request, pictures, structured)}
    if request.tools:
        body["tools"] = [{"type": "function", "function": describe_tool(tool)} for tool in request.tools]
    if request.tool_choice is not None:
        body["tool_choice"] = _tool_choice(request.tool_choice)
    if request.schema is not None and structured == "native":
        body["response_format"] = {"type": "json_schema", "json_schema": describe_schema(request)}
    body |= sampling_fields(request, max_tokens_field)
    if request.seed is not None:
        body["seed"] = request.seed
    if request.reasoning_effort is not None:
        body["reasoning_effort"] = request.reasoning_effort
    if request.stop:
        body["stop"] = list(request.stop)
    add_extra(body, request.extra)
    return body


def sampling_fields(request: ChatRequest, max_tokens_field: str) -> dict[str, Any]:
    """How to sample, in the words that both APIs share."""
    fields = {"temperature": request.temperature, "top_p": request.top_p, max_tokens_field: request.max_tokens}
    return {name: value for name, value in fields.items() if value is not None}


def add_extra(body: dict[str, Any], extra: Mapping[str, Any]) -> None:
    """Put fields that we have no word for into the body; one that is an object on both sides is united."""
    for name, value in extra.items():
        ours = body.get(name)
        body[name] = {**ours, **value} if isinstance(ours, dict) and isinstance(value, Mapping) else value


def as_json(body: Mapping[str, Any]) -> bytes | Failure:
    """The body as it is sent; what JSON can't hold (half of a surrogate pair, a huge number) is a failure."""
    try:
        return orjson.dumps(body, default=_plain)
    except orjson.JSONEncodeError as error:
        return failure("bad-request", f"the request can't be written as JSON: {error}")


def _plain(value: object) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


def describe_tool(tool: ToolSpec) -> dict[str, Any]:
    """A tool in the words that both APIs share."""
    return {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}


def describe_schema(request: ChatRequest) -> dict[str, Any]:
    """The schema in the words that both APIs share; `strict` only if the schema has the strict form."""
    schema = dict(request.schema or {})
    strict = is_strict_cached(orjson.dumps(schema, default=dict))
    return {"name": request.schema_name, "schema": schema, "strict": strict}


def schema_in_words(request: ChatRequest) -> str:
    """For a server that takes no schema: what the reply must look like."""
    schema = orjson.dumps(dict(request.schema or {}), default=dict).decode()
    return (
        "Reply with one JSON object and nothing else: no explanation, no Markdown. "
        f"It must fit this JSON schema:\n{schema}"
    )


def _tool_choice(choice: str) -> str | dict[str, Any]:
    if choice in ("auto", "none", "required"):
        return choice
    return {"type": "function", "function": {"name": choice}}


def chat_messages(
    request: ChatRequest, pictures: PreparedPictures, structured: Structure = "native"
) -> list[dict[str, Any]]:
    """All messages, in order; a tool's pictures follow its words as the user's, because tools may send only text."""
    out: list[dict[str, Any]] = []
    waiting: list[dict[str, Any]] = []
    for message in request.messages:
        if message.role != "tool" and waiting:
            out.append({"role": "user", "content": waiting})
            waiting = []
        if message.role == "tool":
            out.append({"role": "tool", "tool_call_id": message.tool_call_id or "", "content": _words(message)})
            waiting += _tool_pictures(message, pictures)
        else:
            out.append(_message(message, pictures))
    if waiting:
        out.append({"role": "user", "content": waiting})
    if request.schema is not None and structured == "prompt":
        out.append({"role": "user", "content": schema_in_words(request)})
    return out


def _message(message: Message, pictures: PreparedPictures) -> dict[str, Any]:
    out: dict[str, Any] = {"role": message.role, "content": _content(message.content, pictures)}
    if message.tool_calls:
        out["content"] = out["content"] or None
        out["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    return out


def _content(content: Sequence[str | ImagePart], pictures: PreparedPictures) -> str | list[dict[str, Any]]:
    if len(content) == 1 and isinstance(content[0], str):
        return content[0]
    if not content:
        return ""
    return [{"type": "text", "text": part} if isinstance(part, str) else _picture(part, pictures) for part in content]


def _picture(part: ImagePart, pictures: PreparedPictures) -> dict[str, Any]:
    picture: dict[str, Any] = {"url": orjson.Fragment(pictures[id(part)].url)}
    if part.detail != "auto":
        picture["detail"] = part.detail
    return {"type": "image_url", "image_url": picture}


def _words(message: Message) -> str:
    return "".join(part for part in message.content if isinstance(part, str))


def _tool_pictures(message: Message, pictures: PreparedPictures) -> list[dict[str, Any]]:
    """The pictures of a tool's answer, each after the words that stood before it there: mostly its name."""
    found: list[dict[str, Any]] = []
    before = ""
    for number, part in enumerate(message.content):
        if isinstance(part, ImagePart):
            found += [{"type": "text", "text": before}] if before else []
            found.append(_picture(part, pictures))
        before = part.strip() if isinstance(part, str) and number else ""
    return [{"type": "text", "text": f"Pictures from tool call {message.tool_call_id}:"}, *found] if found else []


# --- replies -----------------------------------------------------------------------------------------------


def read_chat(payload: Mapping[str, Any]) -> ReplyText | None:
    """What a reply says, whatever a server leaves out; None when there is no choice in it."""
    choices = payload.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, dict):
        return None
    message = choice.get("message")
    message = message if isinstance(message, dict) else {"content": choice.get("text")}
    text, thinking = _parts(message.get("content"))
    model = payload.get("model")
    return ReplyText(
        text=text,
        thinking=thinking or _reasoning(message),
        tool_calls=_tool_calls(message.get("tool_calls")),
        refusal=_text(message.get("refusal")),
        finish=finish_reason(choice.get("finish_reason")),
        model=model if isinstance(model, str) else None,
        usage=read_usage(payload.get("usage")),
    )


def _parts(content: Any) -> tuple[str, str]:
    """Text and thinking of a message's content: a string, or a list of parts."""
    if not isinstance(content, list):
        return _text(content), ""
    texts: list[str] = []
    thoughts: list[str] = []
    for part in content:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict) and part.get("type") == "thinking":
            thoughts.append(_parts(part.get("thinking"))[0])
        elif isinstance(part, dict):
            texts.append(_text(part.get("text")))
    return "".join(texts), "\n\n".join(filter(None, thoughts))


def _reasoning(message: Mapping[str, Any]) -> str:
    for name in ("reasoning_content", "reasoning", "thinking"):
        if not (value := message.get(name)):
            continue
        found = _text(value.get("content") if isinstance(value, dict) else value)
        if found:
            return found
    details = message.get("reasoning_details")
    if not isinstance(details, list):
        return ""
    texts = [_text(item.get("text")) or _text(item.get("summary")) for item in details if isinstance(item, dict)]
    return "\n\n".join(filter(None, texts))


def _tool_calls(calls: Any) -> tuple[ToolCall, ...]:
    if not isinstance(calls, list):
        return ()
    found = []
    for number, call in enumerate(calls):
        wanted = call.get("function") or call.get("custom") if isinstance(call, dict) else None
        if not isinstance(wanted, dict):
            continue
        arguments = wanted.get("arguments", wanted.get("input", ""))
        found.append(
            ToolCall(_text(call.get("id")) or f"call_{number}", _text(wanted.get("name")), as_json_text(arguments))
        )
    return tuple(found)


def as_json_text(arguments: Any) -> str:
    """A tool call's arguments as the model wrote them, also where a server has already parsed them."""
    if isinstance(arguments, str):
        return arguments
    try:
        return orjson.dumps(arguments).decode()
    except orjson.JSONEncodeError:  # An integer of more than 64 bits, for example.
        return json.dumps(arguments)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
