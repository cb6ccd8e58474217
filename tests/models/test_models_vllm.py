"""vLLM in this process, against a stand-in for its package: what we ask of it, and what we make of its output."""

from __future__ import annotations

import asyncio
import sys
import time
from dataclasses import replace
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from sightline.models.protocols import CallOutcome
from sightline.models.transport_factory import open_transport
from sightline.models.wire_settings import WireSettings
from sightline.types import ChatReply, ChatRequest, Failure, Message, ToolSpec, Usage

HELLO = ChatRequest("vllm-local/tiny", (Message("user", ("hello",)),), max_tokens=9)


class Engine:
    """Stands for `vllm.LLM`."""

    batches: list[int] = []  # noqa: RUF012

    def __init__(self, model: str) -> None:
        self.model = model

    def chat(self, messages: list[Any], sampling_params: list[Any], use_tqdm: bool) -> list[Any]:
        self.batches.append(len(messages))
        time.sleep(0.05)
        return [self._output(*pair) for pair in zip(messages, sampling_params, strict=True)]

    def _output(self, messages: list[Any], sampling: Any) -> Any:
        words = messages[-1]["content"]
        if words == "break":
            raise RuntimeError("out of memory")
        made = SimpleNamespace(text=f"{words} {sampling}", token_ids=[1, 2], finish_reason="stop")
        return SimpleNamespace(outputs=[made], prompt_token_ids=[1, 2, 3], num_cached_tokens=1)


@pytest.fixture(autouse=True)
def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = ModuleType("vllm")
    module.LLM = Engine
    module.SamplingParams = lambda **options: sorted(options.items())
    monkeypatch.setitem(sys.modules, "vllm", module)
    Engine.batches = []


def ask(*requests: ChatRequest, **settings: Any) -> list[CallOutcome]:
    async def go() -> list[CallOutcome]:
        transport = open_transport("vllm-local/tiny", local_only=True, settings=WireSettings(**settings))
        try:
            return await asyncio.gather(*map(transport.send, requests))
        finally:
            await transport.close()

    return asyncio.run(go())


def test_a_reply_and_the_parameters() -> None:
    (outcome,) = ask(replace(HELLO, temperature=0.0, top_p=0.5, seed=1, stop=("x",), extra={"top_k": 2}))
    assert isinstance(outcome.result, ChatReply)
    wanted = [("max_tokens", 9), ("seed", 1), ("stop", ["x"]), ("temperature", 0.0), ("top_k", 2), ("top_p", 0.5)]
    assert outcome.result.text == f"hello {wanted}"
    assert outcome.result.usage == Usage(input=3, cached=1, output=2)


def test_what_waits_together_runs_together() -> None:
    outcomes = ask(*(replace(HELLO, seed=number) for number in range(20)))
    assert all(f"({'seed'!r}, {number})" in outcome.result.text for number, outcome in enumerate(outcomes))  # type: ignore[union-attr]
    assert sum(Engine.batches) == 20
    assert len(Engine.batches) <= 2


def test_what_goes_wrong() -> None:
    broken, late = ask(replace(HELLO, messages=(Message("user", ("break",)),)))[0], ask(HELLO, total_seconds=0.01)[0]
    tools = ask(replace(HELLO, tools=(ToolSpec("t", "d", {}),)))[0]
    kinds = [outcome.result.kind for outcome in (broken, late, tools) if isinstance(outcome.result, Failure)]
    assert kinds == ["server-error", "timeout", "unsupported"]
