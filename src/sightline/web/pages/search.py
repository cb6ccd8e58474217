"""Search by words, by a picture and by filters; ask the agent and see its steps as they happen."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping

import orjson
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from sightline.agent.ask import FOLDER as ASKED
from sightline.agent.trajectory import trajectories_of
from sightline.errors import UserError
from sightline.retrieval.results import Results
from sightline.types import Failure, Picture
from sightline.web.agent_jobs import AgentJob
from sightline.web.agent_steps import Steps
from sightline.web.app_state import AppState, go, missing
from sightline.web.index_search import SearchForm
from sightline.web.security import read_upload

_PAUSE = 0.05
_BEFORE = 20


def search(request: Request) -> Response:
    """The form, and what was found."""
    state = AppState.of(request)
    wanted = _wanted(request)
    results: Results | None = None
    error: UserError | None = None
    indexes = state.finder.names()
    left: list[Picture] = []
    try:
        if not wanted.is_empty and indexes:
            _check(state, wanted)
            results = state.finder.search(wanted)
        elif wanted.where.strip() and indexes:  # A filter alone is an answer, too.
            left = state.finder.left_by(wanted.where, wanted.k)
    except UserError as wrong:
        error = wrong
    return state.show(
        request,
        "search.html",
        wanted=wanted,
        results=results,
        keys=[] if results is None else [state.library.key(hit.picture.id) or "" for hit in results.hits],
        left=state.library.tiles(one.id for one in left),
        count=state.finder.count(wanted.where) if left else 0,
        error=error,
        has_index=bool(indexes),
        index_command=state.finder.index_command,
    )


def count(request: Request) -> Response:
    """How many pictures a filter leaves, or what is wrong with it; asked while it is typed."""
    state = AppState.of(request)
    try:
        return JSONResponse({"count": state.finder.count(request.query_params.get("where", ""))})
    except UserError as error:
        return JSONResponse({"error": str(error)})


async def upload(request: Request) -> Response:
    """A picture to look like; it stays in memory and is never written to the corpus."""
    state = AppState.of(request)
    data = await read_upload(request, state.guard)
    key = await run_in_threadpool(state.finder.keep_upload, data)
    if isinstance(key, Failure):
        raise HTTPException(415, f"{key.kind}: {key.message}")
    return JSONResponse({"upload": key})


def ask(request: Request) -> Response:
    """The form, and what was asked before."""
    state = AppState.of(request)
    return state.show(request, "ask.html", model=state.live.model, before=_before(state), job=None)


def start(request: Request, fields: Mapping[str, str]) -> Response:
    """Have the agent begin."""
    state = AppState.of(request)
    question = fields.get("question", "").strip()
    if not question:
        return go("/ask")
    job = state.live.start(question)
    if job is None:
        raise HTTPException(503, "Two questions are being answered already; wait until one is done.")
    return go(f"/ask/{job.id}")


def watch(request: Request) -> Response:
    """One question while it is answered."""
    state = AppState.of(request)
    return state.show(request, "ask.html", model=state.live.model, before=_before(state), job=_job(request))


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


def _check(state: AppState, wanted: SearchForm) -> None:
    """A picture to look like is one of the corpus; the app takes no path."""
    corpus = state.library.corpus
    if wanted.like and (corpus is None or corpus.find(wanted.like) is None):
        raise UserError(
            f"there is no picture {wanted.like} in the corpus.",
            "drop one here, or open a picture and choose `Search like this`",
        )


def _wanted(request: Request) -> SearchForm:
    query = request.query_params
    return SearchForm(
        query.get("text", ""),
        query.get("like", ""),
        query.get("upload", ""),
        query.get("where", ""),
        query.get("method", "vectors"),
    )
