"""vLLM in this process (install vLLM yourself; it needs a GPU): requests that wait together run as one batch.

Our tests have no GPU and run it against a stand-in for the package; a vLLM server is asked by `vllm/…` over HTTP.
"""

from __future__ import annotations

import asyncio
import importlib
import time
from dataclasses import dataclass
from typing import Any

import orjson

from sightline.errors import UserError
from sightline.models.failures import clip, failure
from sightline.models.openai_chat import as_json, build_chat
from sightline.models.picture_cache import PictureCache
from sightline.models.protocols import CallOutcome
from sightline.models.providers import ModelName
from sightline.models.replies import ReplyText, check_reply, finish_reason
from sightline.models.wire_settings import WireSettings
from sightline.types import ChatRequest, Failure, Usage

_UNSUPPORTED = ("tools", "tool_choice", "reasoning_effort")
_MOST_AT_ONCE = 256


@dataclass(frozen=True, slots=True)
class _Job:
    request: ChatRequest
    messages: list[dict[str, Any]]
    sampling: Any
    done: asyncio.Future[Any]


class VllmTransport:
    """A model in vLLM's engine; whatever is waiting when the engine is free runs as the next batch."""

    def __init__(self, name: ModelName, *, settings: WireSettings | None = None) -> None:
        self.endpoint = f"vllm-local:{name.model}"
        self._name = name
        self._settings = settings = settings or WireSettings()
        self.wire = settings.fingerprint(name.provider)
        self._pictures = PictureCache(settings.limit_for("vllm-local"), allow_web=False)
        try:
            self._vllm = importlib.import_module("vllm")
        except ImportError:
            raise UserError(
                f"{name} needs vLLM in this environment.", "pip install vllm, or start a server and use vllm/MODEL"
            ) from None
        self._engine: Any = None
        self._waiting: list[_Job] = []
        self._worker: asyncio.Task[None] | None = None

    def __repr__(self) -> str:
        return f"VllmTransport({str(self._name)!r})"

    async def send(self, request: ChatRequest) -> CallOutcome:
        """One reply, generated together with whatever else is waiting."""
        missing = [name for name in _UNSUPPORTED if getattr(request, name)]
        if missing:
            return CallOutcome(failure("unsupported", f"{self._name} takes no {' and no '.join(missing)}"))
        pictures = await self._pictures.prepare(request)
        if isinstance(pictures, Failure):
            return CallOutcome(pictures)
        encoded = as_json(build_chat(request, self._name.model, pictures, structured="prompt"))
        if isinstance(encoded, Failure):
            return CallOutcome(encoded)
        messages = orjson.loads(encoded)["messages"]
        job = _Job(request, messages, self._sampling(request), asyncio.get_running_loop().create_future())
        self._waiting.append(job)
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._work())
        started = time.perf_counter()
        try:
            async with asyncio.timeout(self._settings.total_seconds):
                output = await job.done
        except TimeoutError:
            return CallOutcome(failure("timeout", f"{self._name}: not done within {self._settings.total_seconds:g} s"))
        except RuntimeError as error:
            return CallOutcome(failure("server-error", f"{self._name}: {clip(str(error))}"))
        return check_reply(_said(output), request, time.perf_counter() - started)

    async def close(self) -> None:
        """Let what is running end, and let go of the engine."""
        if self._worker is not None:
            await self._worker
        self._engine = None
        await asyncio.to_thread(self._pictures.close)

    def _sampling(self, request: ChatRequest) -> Any:
        given = {
            "temperature": request.temperature,
            "top_p": request.top_p,
            "max_tokens": request.max_tokens,
            "seed": request.seed,
            "stop": list(request.stop) or None,
        }
        chosen = {name: value for name, value in given.items() if value is not None}
        return self._vllm.SamplingParams(**chosen, **request.extra)

    async def _work(self) -> None:
        while self._waiting:
            jobs, self._waiting = self._waiting[:_MOST_AT_ONCE], self._waiting[_MOST_AT_ONCE:]
            jobs = [job for job in jobs if not job.done.done()]
            try:
                outputs = await asyncio.to_thread(self._run, jobs)
            except Exception as error:  # Whatever the engine raises belongs to the jobs that it was raised for.
                _settle(jobs, [error] * len(jobs))
            else:
                _settle(jobs, outputs)

    def _run(self, jobs: list[_Job]) -> list[Any]:
        if self._engine is None:
            self._engine = self._vllm.LLM(model=self._name.model)
        outputs = self._engine.chat(
            [job.messages for job in jobs], sampling_params=[job.sampling for job in jobs], use_tqdm=False
        )
        return list(outputs)


def _settle(jobs: list[_Job], results: list[Any]) -> None:
    for job, result in zip(jobs, results, strict=True):
        if job.done.done():
            continue
        if isinstance(result, BaseException):
            job.done.set_exception(RuntimeError(f"{type(result).__name__}: {result}"))
        else:
            job.done.set_result(result)


def _said(output: Any) -> ReplyText:
    made = output.outputs[0]
    return ReplyText(
        text=made.text,
        finish=finish_reason(made.finish_reason),
        usage=Usage(
            input=len(output.prompt_token_ids or ()),
            cached=getattr(output, "num_cached_tokens", None) or 0,
            output=len(made.token_ids),
        ),
    )


def open_vllm(name: ModelName, *, settings: WireSettings, local_only: bool) -> VllmTransport:
    """What `vllm-local/…` names; vLLM itself is told where to look for its models."""
    return VllmTransport(name, settings=settings)
