"""Requests on disk: as a user writes them, and as a job keeps them until they are answered."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from sightline.engine.keys import file_of
from sightline.io import LineError, read_jsonl, write_whole
from sightline.types import ChatRequest, ImagePart, Message, ToolCall, ToolSpec

_FIELDS = frozenset({"id", "prompt", "system", "pictures", "schema"})
_PLAIN = tuple(field for field in fields(ChatRequest) if field.name not in ("messages", "tools", "stop"))


def read_requests(path: Path, model: str, **parameters: Any) -> Iterator[tuple[str, ChatRequest]]:
    """Lines of {"id", "prompt", "system"?, "pictures"?, "schema"?}; pictures: paths beside the file, or URLs."""
    for number, row in read_jsonl(path):
        if not isinstance(row, dict):
            raise LineError(path, number, "expected an object", 'for example {"id": "1", "prompt": "…"}')
        _check(path, number, row)
        content = (*(_picture(path, source) for source in row.get("pictures") or ()), row["prompt"])
        system = (Message("system", (row["system"],)),) if row.get("system") else ()
        messages = (*system, Message("user", content))
        yield row["id"], ChatRequest(model, messages, schema=row.get("schema"), **parameters)


def _check(path: Path, number: int, row: Mapping[str, Any]) -> None:
    wrong = sorted(row.keys() - _FIELDS)
    if wrong:
        raise LineError(path, number, f'unknown field "{wrong[0]}"', f"fields: {', '.join(sorted(_FIELDS))}")
    for name in ("id", "prompt"):
        if not isinstance(row.get(name), str) or not row[name]:
            raise LineError(path, number, f'"{name}" must be a text that is not empty')
    if row.get("system") is not None and not isinstance(row["system"], str):
        raise LineError(path, number, '"system" must be a text')
    pictures = row.get("pictures")
    if pictures is not None and not (isinstance(pictures, list) and all(isinstance(one, str) for one in pictures)):
        raise LineError(path, number, '"pictures" must be a list of paths or addresses')
    if row.get("schema") is not None and not isinstance(row["schema"], dict):
        raise LineError(path, number, '"schema" must be a JSON schema, which is an object')


def _picture(path: Path, source: str) -> ImagePart:
    file = file_of(ImagePart(source))
    return ImagePart(source if file is None or source.startswith("file://") else str(path.parent / file))


# --- as a job keeps them -------------------------------------------------------------------------------------


def to_json(request: ChatRequest, folder: Path) -> dict[str, Any]:
    """A request without what is at its default; pictures at hand go to `folder`, by their hash."""
    found: dict[str, Any] = {"messages": [_message(message, folder) for message in request.messages]}
    for field in _PLAIN:
        value = getattr(request, field.name)
        if field.name == "extra" and not value:
            continue
        if value != field.default:
            found[field.name] = dict(value) if isinstance(value, Mapping) else value
    if request.tools:
        found["tools"] = [{**asdict(tool), "parameters": dict(tool.parameters)} for tool in request.tools]
    if request.stop:
        found["stop"] = list(request.stop)
    return found


def from_json(found: Mapping[str, Any], folder: Path) -> ChatRequest:
    """The request that `to_json` was given."""
    rest: dict[str, Any] = dict(found)
    messages = tuple(
        Message(
            message["role"],
            tuple(part if isinstance(part, str) else _part(part, folder) for part in message["content"]),
            tuple(ToolCall(**call) for call in message.get("tool_calls", ())),
            message.get("tool_call_id"),
        )
        for message in rest.pop("messages")
    )
    tools = tuple(ToolSpec(**tool) for tool in rest.pop("tools", ()))
    return ChatRequest(messages=messages, tools=tools, stop=tuple(rest.pop("stop", ())), **rest)


def _message(message: Message, folder: Path) -> dict[str, Any]:
    content = [part if isinstance(part, str) else _keep(part, folder) for part in message.content]
    found: dict[str, Any] = {"role": message.role, "content": content}
    if message.tool_calls:
        found["tool_calls"] = [asdict(call) for call in message.tool_calls]
    if message.tool_call_id is not None:
        found["tool_call_id"] = message.tool_call_id
    return found


def _keep(part: ImagePart, folder: Path) -> dict[str, str]:
    if part.data is not None:
        name = hashlib.sha256(part.data).hexdigest()
        if not (folder / name).exists():
            folder.mkdir(parents=True, exist_ok=True)
            write_whole(folder / name, part.data)
        return {"kept": name, "detail": part.detail}
    file = file_of(part)
    source = part.source if file is None or part.source.startswith("file://") else str(file.absolute())
    return {"source": source, "detail": part.detail}


def _part(found: Mapping[str, Any], folder: Path) -> ImagePart:
    source = str(folder / found["kept"]) if "kept" in found else found["source"]
    return ImagePart(source, detail=found["detail"])
