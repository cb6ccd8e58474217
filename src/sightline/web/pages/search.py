"""The page of pictures: a field for words, facets, a filter, what was found; and what is done with chosen pictures."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from sightline.corpus.album import PictureResult
from sightline.errors import UserError
from sightline.retrieval.filters.filter import parse_filter
from sightline.retrieval.filters.tree import And, to_text
from sightline.types import Failure, Picture
from sightline.web.app_state import AppState, number, with_value
from sightline.web.corpus_view import CorpusView
from sightline.web.found_pictures import FoundPictures, PictureQuery
from sightline.web.picture_choice import UNKNOWN, PictureChoice
from sightline.web.security import read_upload

_FIRST = 60
_WINDOW = 200
_NAMES = {
    "device": "Camera",
    "tag": "Tags",
    "rating": "Stars",
    "type": "Kind",
    "license": "Licence",
    "name": "Name has",
    "box": "Map",
}


@dataclass(frozen=True, slots=True)
class FilterChip:
    """Something that limits, in words, and the address without it."""

    text: str
    query: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class ChosenPictures(PictureResult):
    """Pictures that somebody selected, to leave as an album."""

    pictures: Sequence[Picture]

    def _places(self) -> Sequence[tuple[Picture, tuple[str, ...]]]:
        return [(one, ()) for one in self.pictures]

    def _title(self) -> str:
        return "Chosen pictures"


def search(request: Request) -> Response:
    """What the address asks for; the page's script fetches more of it as one scrolls."""
    state, corpus = of_corpus(request)
    query = PictureQuery.read(request.query_params)
    found, error = FoundPictures(np.zeros(0, np.int64)), None
    facets: Mapping[str, Sequence[tuple[str, int]]] = {}
    try:
        found = state.pictures.find(query)
        facets = state.pictures.facets(query)
    except UserError as wrong:
        error = wrong
    offset = number(request, "offset")
    return state.show(
        request,
        "search.html",
        wanted=query.form,
        choice=query.choice,
        found=found,
        error=error,
        facets={_NAMES.get(name, name.capitalize()): (name, values) for name, values in facets.items()},
        chips=list(_chips(corpus, query, request.query_params)),
        as_filter=query.as_filter,
        total=corpus.total(),
        tiles=corpus.tiles(found.files[offset : offset + _FIRST]),
        offset=offset,
        step=_FIRST,
        has_index=bool(state.finder.names()),
        index_command=state.finder.index_command,
        stage=state.finder.stamp,
        recent=state.searches.recent(),
        saved=state.searches.saved(),
        is_saved=state.searches.is_saved(str(request.query_params)),
    )


def window(request: Request) -> Response:
    """Some of the pictures, as JSON."""
    state, corpus = of_corpus(request)
    files = state.pictures.find(PictureQuery.read(request.query_params)).files
    offset, limit = number(request, "offset"), min(number(request, "limit", _WINDOW), _WINDOW)
    return JSONResponse(
        [
            [tile.key, tile.id, (tile.taken_at or "")[:16], tile.tint, tile.others, tile.stack]
            for tile in corpus.tiles(files[offset : offset + limit])
        ]
    )


def layout(request: Request) -> Response:
    """Shape and colour of all of them, three bytes each: all that the grid needs to know where each one is."""
    state, corpus = of_corpus(request)
    files = state.pictures.find(PictureQuery.read(request.query_params)).files
    return Response(corpus.looks().packed(files), media_type="application/octet-stream")


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


def adding(request: Request) -> Response:
    """How far pictures are that are being read or indexed; empty where none are."""
    state = AppState.of(request)
    return HTMLResponse(state.fragment("adding.html", busy=state.jobs.active, stage=state.finder.stamp))


def keep(request: Request, fields: Mapping[str, str]) -> Response:
    """Remember a search among the last ones, save it, or forget it."""
    searches, query = AppState.of(request).searches, fields.get("query", "")
    if fields.get("how") == "forget":
        searches.forget(query)
    else:
        searches.keep(query, is_saved=fields.get("how") == "save")
    return JSONResponse({})


def album(request: Request, fields: Mapping[str, str]) -> Response:
    """The selected pictures as links or copies in a folder of this machine, with a keyword where one is given."""
    if AppState.of(request).guard.token is not None:
        raise HTTPException(403, "Albums are written only from the machine that the app runs on.")
    folder, keyword = fields.get("folder", "").strip(), fields.get("keyword", "").strip() or None
    if not folder:
        raise UserError("An album needs a folder.", "Name a new or an empty one outside your pictures.")
    chosen, is_copied = _selected(request, fields), bool(fields.get("copy") or keyword)
    return JSONResponse({"told": str(chosen.album(Path(folder).expanduser(), copy=is_copied, keyword=keyword))})


def contact_sheet(request: Request, fields: Mapping[str, str]) -> Response:
    """The selected pictures on pages to print."""
    with tempfile.TemporaryDirectory() as folder:
        data = _selected(request, fields).contact_sheet(Path(folder) / "pictures.pdf").read_bytes()
    return Response(data, media_type="application/pdf")


def _selected(request: Request, fields: Mapping[str, str]) -> ChosenPictures:
    _, corpus = of_corpus(request)
    found = [corpus.find(id_) for id_ in fields.get("ids", "").split("\n")]
    chosen = [one for one in found if one is not None]
    if not chosen:
        raise UserError("No picture is selected.", "Select some in the grid: point at one and click its circle.")
    return ChosenPictures(chosen)


def of_corpus(request: Request) -> tuple[AppState, CorpusView]:
    """The corpus whose pictures are shown."""
    state = AppState.of(request)
    if state.library.corpus is None:
        raise HTTPException(404, "There are no pictures here yet. Add a folder under Jobs, or with sightline scan DIR.")
    return state, state.library.corpus


def _chips(corpus: CorpusView, query: PictureQuery, asked: Mapping[str, str]) -> Iterator[FilterChip]:
    """What limits: a picture, each chosen facet, and each part of the filter that must hold."""
    if query.form.like:
        yield FilterChip(query.form.like, with_value(asked, "like", ""), "Like")
    if query.form.upload:
        yield FilterChip("like this picture", with_value(asked, "upload", ""))
    for name, value in query.choice.chosen().items():
        text, title = _told(corpus, query.choice, name, value), _NAMES.get(name, name.capitalize())
        yield FilterChip(text, with_value(asked, name, ""), title)
    for part, rest in _parts(query.form.where):
        yield FilterChip(part, with_value(asked, "where", rest))


def _parts(where: str) -> Iterator[tuple[str, str]]:
    try:
        tree = parse_filter(where).tree if where else And(())
    except UserError:  # What is wrong with it is said above the pictures.
        return
    parts = tree.parts if isinstance(tree, And) else (tree,)
    for at, part in enumerate(parts):
        rest = (*parts[:at], *parts[at + 1 :])
        yield to_text(part), to_text(And(rest)) if rest else ""


def _told(corpus: CorpusView, choice: PictureChoice, name: str, value: str) -> str:
    """What limits, in words."""
    if name == "group":
        return corpus.title(value)
    if choice.box is not None and name == "box":
        west, south, east, north = choice.box
        return f"{_degrees(south, 'NS')} to {_degrees(north, 'NS')}, {_degrees(west, 'EW')} to {_degrees(east, 'EW')}"
    return "unknown" if value == UNKNOWN else value


def _degrees(value: float, names: str) -> str:
    return f"{abs(value):.2f}° {names[value < 0]}"
