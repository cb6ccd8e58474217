"""An agent's way through a task, step by step; and traces of several teachers beside each other."""

from __future__ import annotations

from itertools import islice

from starlette.requests import Request
from starlette.responses import Response

from sightline.agent.ask import FOLDER as ASKED
from sightline.agent.trajectory import read_trajectory
from sightline.reason.traces.reading import read_traces
from sightline.run import read_run
from sightline.run.folder import HEADER
from sightline.web.contradicting import side_by_side
from sightline.web.desk import Desk, missing, number
from sightline.web.pages.runs import named, shelf_of
from sightline.web.steps import Steps

_TRACES = 20


def replay(request: Request) -> Response:
    """An agent's way through one task, step by step, with what it saw."""
    desk, name, folder = named(request)
    task = request.query_params.get("task", "")
    found = read_trajectory(folder, task, number(request, "attempt"))
    run = read_run(folder) if (folder / HEADER).is_file() else None
    shelf = None if run is None else shelf_of(desk.library, run)
    steps = Steps(desk.library, shelf)
    shown = [step for record in (found.start, *found.steps) if (step := steps.step(record)) is not None]
    answer = None if found.end is None else steps.ended(found.end)
    return desk.show(
        request,
        "replay.html",
        name="" if name == ASKED else name,
        start=found.start,
        prompt=steps.sights(found.start.pictures),
        steps=shown,
        answer=answer,
    )


def traces(request: Request) -> Response:
    """Traces of several teachers beside each other."""
    desk = Desk.of(request)
    name = request.path_params["name"]
    folder = desk.library.places.traces.get(name)
    if folder is None:
        raise missing("such folder of traces")
    offset = number(request, "offset")
    rows = [
        (row, side_by_side(row.traces.references), desk.library.any_key(row.picture))
        for row in islice(read_traces(folder), offset, offset + _TRACES)
    ]
    return desk.show(request, "traces.html", name=name, rows=rows, offset=offset, step=_TRACES)
