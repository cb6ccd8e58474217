"""The memory graph of a mined photo history: events with their pictures, what joins them, and what any of it is."""

from __future__ import annotations

from collections.abc import Iterable

from starlette.requests import Request
from starlette.responses import Response

from sightline.mine.graph_drawing import LEGEND, ROWS, arcs_of, curves, figures_of
from sightline.web.corpus import Tile
from sightline.web.desk import Desk, missing, number
from sightline.web.library import Library
from sightline.web.memory import remember

_ROW, _WIDE = 96, 90
"""How high a row is (app.css has the same) and how wide the arcs are, in pixels."""


def graph(request: Request) -> Response:
    """Events in order of time with the arcs between them; and what was chosen, with its reasons."""
    desk = Desk.of(request)
    folder = desk.library.places.graphs.get(request.path_params["name"])
    if folder is None:
        raise missing("such graph")
    held = remember(folder)
    chosen = held.choose(request.query_params)
    owners = held.graph.owners
    owner = chosen.owner if chosen is not None else request.query_params.get("owner", "")
    owner = owner if owner in owners else next(iter(owners), "")
    events = [event for event in held.graph.events.values() if event.owner == owner]
    offset = number(request, "offset")
    drawn = events[offset : offset + ROWS]
    arcs = arcs_of(held.graph, held.links, drawn)
    return desk.show(
        request,
        "graph.html",
        name=request.path_params["name"],
        figures=figures_of(held.graph),
        legend=LEGEND,
        owners=owners,
        owner=owner,
        people=[person for person in held.graph.people.values() if person.owner == owner],
        rows=[(event, held.titles[event.id], tiles_of(desk.library, event.photos)) for event in drawn],
        curves=[(drawn[arc.first], drawn[arc.second], arc, *how) for arc, *how in curves(arcs, _ROW, _WIDE)],
        chosen=chosen,
        tiles=lambda photos: tiles_of(desk.library, photos),
        titles=held.titles,
        partners=held.partners,
        wide=_WIDE,
        high=_ROW * len(drawn),
        offset=offset,
        step=ROWS,
        count=len(events),
    )


def tiles_of(library: Library, photos: Iterable[str]) -> list[Tile]:
    """Pictures by id, from the corpus or else from a benchmark that holds them."""
    return [Tile(library.any_key(photo) or "", photo) for photo in photos]
