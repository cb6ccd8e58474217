"""Trajectories for other tools: ATIF (one JSON file for each attempt), ms-swift's tool-call training rows, inspect_ai.

| here | ATIF | ms-swift | inspect_ai |
|---|---|---|---|
| system prompt, question | steps with source `system`, `user` | `system`, `user`, `<image>` for a picture | messages |
| a turn: text, thought | step, `reasoning_content` | `assistant`, thought in `<think>` | message, model event |
| a tool call | `tool_calls` with parsed `arguments` | `tool_call`, JSON of name and arguments | in its message |
| an observation | `observation.results` | `tool_response` | message, tool event |
| a memory | step with source `system` | (the conversation goes on) | user message, info event |
| tokens, money | `metrics`, `final_metrics` | | usage of the model event |

Pictures are files of the run's `blobs`, by path relative to the run. In a log of inspect_ai they are attachments, once
a sample, as the tool itself keeps them; so are long texts in events, each of which holds the conversation before it.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import orjson

from sightline import __version__
from sightline.agent.trajectory import (
    Memory,
    Trajectory,
    Turn,
    Use,
    ViewedPicture,
    read_trajectory_file,
    trajectories_of,
    trajectory_path,
)
from sightline.benchmark.formats import inspect_log
from sightline.benchmark.formats.base import Content, Format, FormatOptions
from sightline.benchmark.formats.scored_run import made_at
from sightline.corpus.pixels import MIMES, identify
from sightline.errors import UserError
from sightline.io.files import whole_folder
from sightline.io.jsonl import json_object, write_json, write_jsonl
from sightline.runs.folder import BLOBS, blob_path
from sightline.types import Attempt, Failure, Run

ATIF_VERSION = "ATIF-v1.6"
MARKER = "index.json"
# Longer texts of events are attachments, as in inspect_ai's own logs.
_LONG_TEXT = 100
_ATIF_PICTURES = frozenset(("image/jpeg", "image/png", "image/gif", "image/webp"))


def to_atif(trajectory: Trajectory, folder: Path) -> dict[str, Any]:
    """One attempt as an ATIF trajectory."""
    start, end = trajectory.start, trajectory.end
    steps: list[dict[str, Any]] = [
        *([{"source": "system", "message": start.system}] if start.system else []),
        {"source": "user", "message": _parts(start.prompt, folder)},
        *(_step(step, start.model, folder) for step in trajectory.steps),
    ]
    costs = [step.cost for step in trajectory.steps]
    final = {
        "total_prompt_tokens": sum(cost.input for cost in costs),
        "total_completion_tokens": sum(cost.output for cost in costs),
        "total_cached_tokens": sum(cost.cached for cost in costs),
        "total_cost_usd": None if end is None else end.usd,
        "total_steps": len(steps),
    }
    return {
        "schema_version": ATIF_VERSION,
        "session_id": f"{start.task}@{start.attempt}",
        "agent": {
            "name": "sightline",
            "version": __version__,
            "model_name": start.model,
            "tool_definitions": [_definition(each.name, each.description, each.parameters) for each in start.tools],
        },
        "steps": [{"step_id": number, **step} for number, step in enumerate(steps, 1)],
        "final_metrics": _without_none(final),
        "extra": {} if end is None else {"ended": end.ended, "forced": end.forced, "answer": end.answer},
    }


def to_swift(trajectory: Trajectory, folder: Path) -> dict[str, Any]:
    """One attempt as a row of ms-swift's agent format; `images` are in the order of their `<image>` marks."""
    start = trajectory.start
    images: list[str] = []
    asked = "".join(part if isinstance(part, str) else _mark(part, folder, images) for part in start.prompt)
    messages = [{"role": "system", "content": start.system}] if start.system else []
    messages.append({"role": "user", "content": asked})
    for turn in trajectory.turns:
        if turn.failure is None:
            messages += _said(turn, folder, images)
    tools = [_definition(each.name, each.description, each.parameters) for each in start.tools]
    return {"messages": messages, "tools": orjson.dumps(tools).decode(), "images": images}


class InspectTranscript:
    """One attempt as messages, events and attachments of an inspect_ai sample."""

    def __init__(self, trajectory: Trajectory, folder: Path, began: datetime) -> None:
        start = trajectory.start
        self._model, self._folder, self._now, self._began = start.model, folder, began, began
        self._tools = [asdict(each) for each in start.tools]
        self.attachments: dict[str, str] = {}
        self.events: list[dict[str, Any]] = []
        self.messages: list[dict[str, Any]] = []
        if start.system:
            self.messages.append({"role": "system", "content": start.system})
        self.messages.append({"role": "user", "content": self._content(start.prompt)})
        for step in trajectory.steps:
            self._remember(step) if isinstance(step, Memory) else self._turn(step)

    def _remember(self, step: Memory) -> None:
        self.messages.append({"role": "user", "content": step.text})
        self._event("info", step.cost.seconds, source=f"memory by {step.made_by} ({step.why})", data=step.text)

    def _turn(self, turn: Turn) -> None:
        cost, thought = turn.cost, turn.thought if turn.thought != turn.text else ""
        said = [{"type": "reasoning", "reasoning": thought}] if thought else []
        calls = [{"id": use.id, "function": use.tool, "arguments": _arguments(use)} for use in turn.uses]
        reply = {
            "role": "assistant",
            "content": [*said, {"type": "text", "text": turn.text}] if said else turn.text,
            "model": self._model,
            "source": "generate",
            **({"tool_calls": calls} if calls else {}),
        }
        used = {
            "input_tokens": cost.input - cost.cached,
            "input_tokens_cache_read": cost.cached,
            "output_tokens": cost.output,
            "reasoning_tokens": cost.reasoning,
            "total_tokens": cost.input + cost.output,
        }
        choices = [{"message": reply, "stop_reason": "tool_calls" if calls else "stop"}] if turn.failure is None else []
        self._event(
            "model",
            cost.seconds,
            model=self._model,
            input=self.messages,
            tools=self._tools,
            tool_choice="auto",
            config={},
            output={"model": self._model, "choices": choices, "usage": used, "time": cost.seconds},
            error=None if turn.failure is None else f"{turn.failure.kind}: {turn.failure.message}",
        )
        if turn.failure is None:
            self.messages.append(reply)
        for use, call in zip(turn.uses, calls, strict=True):
            self._use(use, call)

    def _use(self, use: Use, call: dict[str, Any]) -> None:
        content = self._content((use.observation, *use.pictures))
        error = {"type": "unknown", "message": use.observation} if use.error else None
        self._event("tool", use.seconds, type="function", result=content, error=error, **call)
        shown = {"role": "tool", "content": content, "tool_call_id": use.id, "function": use.tool, "error": error}
        self.messages.append(_without_none(shown))

    def _event(self, kind: str, seconds: float | None, **fields: Any) -> None:
        began, self._now = self._now, self._now + timedelta(seconds=seconds or 0)
        times = {
            "timestamp": began.isoformat(),
            "completed": self._now.isoformat(),
            "working_start": (began - self._began).total_seconds(),
            "working_time": seconds or 0.0,
        }
        self.events.append({"event": kind, **times, **_without_none(self._condensed(fields))})

    def _content(self, parts: Sequence[str | ViewedPicture]) -> str | list[dict[str, str]]:
        """Words alone as a text; a picture without a blob is named."""
        found: list[dict[str, str]] = []
        for part in parts:
            words = part if isinstance(part, str) else f"photo_id: {part.name}"
            found.append({"type": "text", "text": words})
            blob = None if isinstance(part, str) else _blob(part, self._folder)
            if blob is not None:
                data = f"data:{_mime(blob)};base64,{base64.b64encode(blob.read_bytes()).decode()}"
                found.append({"type": "image", "image": self._attached(data)})
        return found if any(isinstance(part, ViewedPicture) for part in parts) else "".join(map(str, parts))

    def _attached(self, text: str) -> str:
        name = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        self.attachments[name] = text
        return f"attachment://{name}"

    def _condensed(self, value: Any) -> Any:
        """A copy in which long texts are attachments."""
        if isinstance(value, str):
            return self._attached(value) if len(value) > _LONG_TEXT else value
        if isinstance(value, dict):
            return {name: self._condensed(one) for name, one in value.items()}
        return [self._condensed(one) for one in value] if isinstance(value, list) else value


def _step(step: Turn | Memory, model: str, folder: Path) -> dict[str, Any]:
    if isinstance(step, Memory):
        return {"source": "system", "message": step.text, "extra": {"compressed": step.why, "by": step.made_by}}
    thought = step.thought if step.thought != step.text else None
    cost = step.cost
    metrics = {
        "prompt_tokens": cost.input,
        "completion_tokens": cost.output,
        "cached_tokens": cost.cached,
        "cost_usd": cost.usd,
    }
    found = {
        "source": "agent",
        "model_name": model,
        "message": step.text,
        "reasoning_content": thought,
        "tool_calls": [_call(use) for use in step.uses] or None,
        "observation": {"results": [_result(use, folder) for use in step.uses]} if step.uses else None,
        "metrics": _without_none(metrics),
        "extra": {"failure": step.failure.kind} if step.failure else None,
    }
    return _without_none(found)


def _call(use: Use) -> dict[str, Any]:
    return {"tool_call_id": use.id, "function_name": use.tool, "arguments": _arguments(use)}


def _result(use: Use, folder: Path) -> dict[str, Any]:
    content = _parts((use.observation, *use.pictures), folder)
    return {"source_call_id": use.id, "content": content}


def _arguments(use: Use) -> dict[str, Any]:
    """As an object; what the model wrote and is none is kept as text."""
    read = json_object(use.arguments.strip() or "{}")
    return {"_unreadable": use.arguments} if read is None else read


def _parts(parts: Sequence[str | ViewedPicture], folder: Path) -> str | list[dict[str, Any]]:
    """Words alone as a text, else a list of parts; a picture without a blob, or of a type unknown to ATIF, is named."""
    if all(isinstance(part, str) for part in parts):
        return "".join(part for part in parts if isinstance(part, str))
    found: list[dict[str, Any]] = []
    for part in parts:
        if isinstance(part, str):
            found.append({"type": "text", "text": part})
            continue
        blob = _blob(part, folder)
        found.append({"type": "text", "text": f"photo_id: {part.name}"})
        mime = "" if blob is None else _mime(blob)
        if mime in _ATIF_PICTURES:
            found.append({"type": "image", "source": {"media_type": mime, "path": f"{BLOBS}/{part.sha256}"}})
    return found


def _said(turn: Turn, folder: Path, images: list[str]) -> Iterator[dict[str, str]]:
    thought = turn.thought if turn.thought != turn.text else ""
    text = f"<think>\n{thought}\n</think>\n\n{turn.text}" if thought else turn.text
    if text:
        yield {"role": "assistant", "content": text}
    for use in turn.uses:
        called = {"name": use.tool, "arguments": _arguments(use)}
        yield {"role": "tool_call", "content": orjson.dumps(called).decode()}
    for use in turn.uses:
        shown = "".join(f"\nphoto_id: {sight.name}\n{_mark(sight, folder, images)}" for sight in use.pictures)
        yield {"role": "tool_response", "content": _plain(use.observation) + shown}


def _mark(sight: ViewedPicture, folder: Path, images: list[str]) -> str:
    blob = _blob(sight, folder)
    if blob is None:
        return "(a picture)"
    images.append(str(blob.resolve()))
    return "<image>"


def _plain(text: str) -> str:
    """Words that look like a picture's mark would need a picture."""
    return text.replace("<image>", "< image >")


def _blob(sight: ViewedPicture, folder: Path) -> Path | None:
    path = None if sight.sha256 is None else blob_path(folder, sight.sha256)
    return path if path is not None and path.is_file() else None


def _mime(blob: Path) -> str:
    with blob.open("rb") as file:
        return MIMES.get(identify(file.read(64)) or "", "application/octet-stream")


def _definition(name: str, description: str, parameters: dict[str, Any]) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


def _without_none(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


# --- as formats of `export` ------------------------------------------------------------------------------------


def _source(content: Content, options: FormatOptions) -> tuple[Path, list[Trajectory]]:
    folder = options.source
    assert isinstance(content, Run)
    found = [] if folder is None else list(trajectories_of(folder))[: options.limit]
    if folder is None or not found:
        raise UserError("this run has no trajectories.", "only runs of agents and chat models have; export such a one")
    return folder, found


def _write_atif(content: Content, path: Path, options: FormatOptions) -> None:
    folder, found = _source(content, options)
    with whole_folder(path, marker=MARKER) as fresh:
        names = []
        for each in found:
            name = trajectory_path(fresh, each.start.task, each.start.attempt).with_suffix(".json").name
            write_json(fresh / name, to_atif(each, folder))
            names.append(name)
        write_json(fresh / MARKER, {"schema_version": ATIF_VERSION, "run": str(folder), "trajectories": names})


def _write_swift(content: Content, path: Path, options: FormatOptions) -> None:
    folder, found = _source(content, options)
    answered = (each for each in found if each.end is not None and not isinstance(each.end.prediction, Failure))
    write_jsonl(path, (to_swift(each, folder) for each in answered))


def _write_inspect(content: Content, path: Path, options: FormatOptions) -> None:
    """A log with what was said between question and answer, where the run has its trajectories."""
    folder, began = options.source, made_at(options)

    def conversation(attempt: Attempt) -> dict[str, Any]:
        kept = None if folder is None else trajectory_path(folder, attempt.task_id, attempt.number)
        if folder is None or kept is None or not kept.is_file():
            return {}
        made = InspectTranscript(read_trajectory_file(kept), folder, began)
        return {"messages": made.messages, "events": made.events, "attachments": made.attachments}

    inspect_log.write(content, path, options, conversation)


FORMATS = {
    "inspect": Format(
        "inspect", "inspect_ai log, opens in `inspect view`", inspect_log.read, _write_inspect, writes=(Run,)
    ),
    "atif": Format("atif", "trajectories of a run as ATIF, a folder of JSON files", write=_write_atif, writes=(Run,)),
    "ms-swift": Format(
        "ms-swift", "answered trajectories of a run as tool-call training rows", write=_write_swift, writes=(Run,)
    ),
}
