"""The app: which address leads to which page, and what is said when something goes wrong."""

from __future__ import annotations

import re
import sqlite3

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from sightline.errors import SightlineError, explain_fault
from sightline.reports.html import page_style
from sightline.web.app_state import AppState, harmless, missing, posting, static_text
from sightline.web.pages import ask, bench, compare, corpus, graph, home, jobs, judging, map, review, runs, search  # noqa: A004
from sightline.web.security import SecurityGate

_STATIC = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


def build(state: AppState) -> ASGIApp:
    """The whole app, behind its gate."""
    app = Starlette(
        routes=[
            Route("/", home.home),
            Route("/static/{name}", static),
            Route("/thumb/{key}", corpus.thumb),
            Route("/timeline", corpus.timeline),
            Route("/map", map.world),
            Route("/groups", corpus.groups),
            Route("/problems", corpus.problems),
            Route("/picture", corpus.picture),
            Route("/graph/{name}", graph.graph),
            Route("/search", search.search),
            Route("/api/pictures", search.window),
            Route("/api/layout", search.layout),
            Route("/api/count", search.count),
            Route("/api/adding", search.adding),
            Route("/api/upload", search.upload, methods=["POST"]),
            Route("/api/searches", posting(search.keep), methods=["POST"]),
            Route("/api/album", posting(search.album), methods=["POST"]),
            Route("/api/contact-sheet", posting(search.contact_sheet), methods=["POST"]),
            Route("/ask", ask.ask),
            Route("/ask", posting(ask.start), methods=["POST"]),
            Route("/ask/{job}", ask.watch),
            Route("/ask/{job}/events", ask.events),
            Route("/bench", bench.listing),
            Route("/bench/{name}", bench.overview),
            Route("/bench/{name}/audit", bench.audit),
            Route("/bench/{name}/task", bench.task),
            Route("/review", review.choose),
            Route("/review", posting(review.introduce), methods=["POST"]),
            Route("/review/{name}", review.queue),
            Route("/review/{name}", posting(review.decide), methods=["POST"]),
            Route("/review/{name}/undo", posting(review.undo), methods=["POST"]),
            Route("/review/{name}/people", review.people),
            Route("/judge/{name}", judging.judging),
            Route("/judge/{name}", posting(judging.tell), methods=["POST"]),
            Route("/judge/{name}/undo", posting(judging.undo), methods=["POST"]),
            Route("/runs", runs.boards),
            Route("/runs/{name}", runs.one_run),
            Route("/runs/{name}/replay", runs.replay),
            Route("/compare", compare.compare),
            Route("/jobs", jobs.listing),
            Route("/jobs", posting(jobs.start), methods=["POST"]),
            Route("/report/{name}", jobs.report),
            Route("/api/folders", jobs.folders),
            Route("/traces/{name}", runs.traces),
        ],
        exception_handlers={
            **dict.fromkeys((HTTPException, SightlineError, OSError, sqlite3.Error), _told),
            Exception: _fault,
        },
    )
    app.state.sightline = state
    return SecurityGate(app, state.guard)


def static(request: Request) -> Response:
    """A style sheet, a script or a drawing that is part of the app."""
    name = request.path_params["name"]
    kind = _STATIC.get(name.rpartition(".")[2])
    if kind is None or not re.fullmatch(r"[a-z]+\.[a-z]+", name):
        raise missing("such file")
    try:
        text = page_style() if name == "page.css" else static_text(name)
    except FileNotFoundError:
        raise missing("such file") from None
    return Response(text, media_type=kind, headers={"cache-control": "private, max-age=60"})


def _told(request: Request, error: Exception) -> Response:
    """What was wrong, in words; paths of this machine are not among them."""
    fault = explain_fault(error)
    status = error.status_code if isinstance(error, HTTPException) else 400 if fault is None else 500
    said = error.detail if isinstance(error, HTTPException) else str(fault or error)
    return _page(request, status, harmless(said, AppState.of(request).library.places.roots))


def _fault(request: Request, error: Exception) -> Response:
    """Our own fault: what it was is in the terminal."""
    return _page(request, 500, "Something went wrong in the app itself. The terminal it runs in says more.")


def _page(request: Request, status: int, message: str) -> Response:
    if request.url.path.startswith("/api/"):
        return JSONResponse({"error": message}, status)
    return AppState.of(request).show(request, "error.html", status=status, code=status, message=message)
