"""Ask the agent, and see its steps as they happen."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping

import orjson
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from sightline.agent.ask import FOLDER as ASKED
from sightline.agent.trajectory import trajectories_of
from sightline.web.agent_jobs import AgentJob
from sightline.web.agent_steps import Steps
from sightline.web.app_state import AppState, go, missing

_PAUSE = 0.05
_BEFORE = 20


def ask(request: Request) -> Response:
    """The form, and what was asked before."""
    return _page(request, None)


def start(request: Request, fields: Mapping[str, str]) -> Response:
    """Have the agent begin."""
    state = AppState.of(request)
    question = fields.get("question", "").strip()
    if not question:
        return go("/ask")
    if (model := fields.get("model", "").strip()) and state.guard.token is None:
        state.live.model = model  # Kept until the app stops; others may not choose what is paid for here.
    job = state.live.start(question)
    if job is None:
        raise HTTPException(503, "Two questions are being answered already; wait until one is done.")
    return go(f"/ask/{job.id}")


def watch(request: Request) -> Response:
    """One question while it is answered."""
    return _page(request, _job(request))


def _page(request: Request, job: AgentJob | None) -> Response:
    state = AppState.of(request)
    may_name, model = state.guard.token is None, state.live.model
    return state.show(request, "ask.html", model=model, may_name=may_name, before=_before(state), job=job)


async def events(request: Request) -> Response:
    """The steps so far and those to come, as server-sent events; a reader that lost its line goes on where it was."""
    state, job = AppState.of(request), _job(request)
    last = request.headers.get("last-event-id", "")
    first = int(last) + 1 if last.isascii() and last.isdigit() else 0
    return StreamingResponse(_stream(state, job, first), media_type="text/event-stream")


async def _stream(state: AppState, job: AgentJob, first: int) -> AsyncIterator[bytes]:
    steps = Steps(state.library)
    for record in job.events[:first]:
        steps.step(record)  # What a subset held before is known to the steps that follow.
    at = first
    while True:
        while at < len(job.events):
            step = steps.step(job.events[at])
            if step is not None:
                html = await run_in_threadpool(state.fragment, "step.html", step=step)
                yield _event(at, "step", {"html": html})
            at += 1
        if job.done:
            break
        await asyncio.sleep(_PAUSE)
    html = await run_in_threadpool(state.fragment, "answer.html", answer=steps.answer(job))
    yield _event(at, "done", {"html": html})


def _event(number: int, kind: str, data: object) -> bytes:
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (number, kind.encode(), orjson.dumps(data))


def _job(request: Request) -> AgentJob:
    job = AppState.of(request).live.find(request.path_params["job"])
    if job is None:
        raise missing("such question in this sitting")
    return job


def _before(state: AppState) -> list[tuple[str, str]]:
    """The last questions of this workspace, with the names of their trajectories."""
    folder = state.library.run(ASKED)
    if folder is None or not folder.is_dir():
        return []
    found = [(one.start.task, one.start.question) for one in trajectories_of(folder)]
    return found[::-1][:_BEFORE]
