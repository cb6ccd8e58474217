"""Tools that do as they are told, and a scripted OpenAI-compatible server for agents to talk to."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
from PIL import Image

import models_server as wire
from sightline.agent.loop import Agent, Answered
from sightline.agent.settings import AgentQuestion, AgentSettings
from sightline.agent.state import AgentState, PictureNames, PictureView
from sightline.agent.tools.base import Observation
from sightline.agent.trajectory import Recorder
from sightline.calls.caller import Caller
from sightline.calls.journal import Journal
from sightline.calls.retry import RetryPolicy
from sightline.models.transport_factory import open_transport
from sightline.types import ImagePart, Json, Option, Task, TaskKind, ToolSpec

MODEL = "vllm/agent"
IDS = tuple(f"ana/{number:02}.jpg" for number in range(12))


def png(number: int) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (8, 8), (number % 256, number // 256, 7)).save(buffer, "PNG")
    return buffer.getvalue()


def view(number: int) -> PictureView:
    return PictureView(IDS[number], ImagePart("", png(number)), IDS[number])


@dataclass
class StubTool:
    """Answers by a function of its arguments, and remembers them."""

    name: str
    answer: Callable[[Mapping[str, Json], AgentState], Observation]
    calls: list[Mapping[str, Json]] = field(default_factory=list)

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(self.name, f"Does {self.name}.", {"type": "object", "properties": {"q": {"type": "string"}}})

    async def call(self, arguments: Mapping[str, Json], state: AgentState) -> Observation:
        self.calls.append(arguments)
        return self.answer(arguments, state)


def finder(found: Sequence[str] = IDS[:3]) -> StubTool:
    """Finds the same pictures whatever is asked, and saves them where a name is given."""

    def answer(arguments: Mapping[str, Json], state: AgentState) -> Observation:
        if isinstance(name := arguments.get("save_as"), str):
            state.save(name, found)
        return Observation(orjson.dumps({"results": list(found)}).decode(), found=tuple(found))

    return StubTool("ImageSearch", answer)


def viewer() -> StubTool:
    def answer(arguments: Mapping[str, Json], state: AgentState) -> Observation:
        wanted = [IDS.index(str(each)) for each in arguments.get("photos", [])]  # type: ignore[union-attr]
        return Observation(f"{len(wanted)} photos", tuple(map(view, wanted)), found=tuple(IDS[n] for n in wanted))

    return StubTool("ViewPhotos", answer)


def call(name: str, arguments: Any = None, id_: str = "c1") -> dict[str, Any]:
    text = arguments if isinstance(arguments, str) else orjson.dumps(arguments or {}).decode()
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": text}}


def calls(*each: dict[str, Any], text: str | None = None) -> wire.Answer:
    """A reply that calls tools."""
    return wire.respond_json(wire.chat(text, tool_calls=list(each), finish_reason="tool_calls"))


def says(text: str) -> wire.Answer:
    return wire.respond_json(wire.chat(text))


def overflow() -> wire.Answer:
    error = {"message": "This model's maximum context length is 8192 tokens.", "code": "context_length_exceeded"}
    return wire.respond_json({"error": error}, 400)


@asynccontextmanager
async def model_at(script: wire.Script, workspace: Path) -> AsyncIterator[tuple[Caller, wire.Server]]:
    """A model behind real HTTP, with journal, that is asked once for each call."""
    async with wire.serving(script) as server:
        transport = open_transport(MODEL, base_url=server.base_url)
        with Journal(workspace) as journal:
            caller = Caller(
                transport, journal, name=MODEL, stage="agent", retry=RetryPolicy(attempts=1), journal_as="stub"
            )
            try:
                yield caller, server
            finally:
                await caller.close()


def question(kind: TaskKind = "select", text: str = "the photos of the boat", **given: Any) -> AgentQuestion:
    options = tuple(Option(key, (word,)) for key, word in (("A", "a dog"), ("B", "a cat"))) if kind == "choose" else ()
    task = Task("t1", kind, (text,), options)
    attempt = given.pop("attempt", 0)
    content = given.pop("content", (text,))
    return AgentQuestion(task, content, AgentState(**given), PictureNames(IDS), attempt)


async def attempted(
    script: wire.Script,
    tmp_path: Path,
    tools: Sequence[StubTool] = (),
    asked: AgentQuestion | None = None,
    settings: AgentSettings | None = None,
    recorder: Recorder | None = None,
    **more: Any,
) -> tuple[Answered, wire.Server, Recorder]:
    """One attempt against a scripted server."""
    recorder = recorder or Recorder()
    async with model_at(script, tmp_path / "ws") as (caller, server):
        agent = Agent(caller, tools, settings or AgentSettings(), **more)
        answered = await agent.attempt(asked or question(), recorder)
    return answered, server, recorder
