"""The corpus: timeline, groups, problems, one picture, and small copies of pictures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from sightline.errors import SightlineError
from sightline.types import Failure, Picture
from sightline.web.app_state import AppState, missing, number, static_text
from sightline.web.corpus_view import Tile
from sightline.web.index_search import SearchForm
from sightline.web.library import LoadedBenchmark
from sightline.web.pages.home import KINDS
from sightline.web.pages.map import spot_of
from sightline.web.pages.search import of_corpus
from sightline.web.picture_choice import PictureChoice
from sightline.web.thumbnails import KEY, SIZES

_GROUPS = 40
_GROUP_TILES = 8
_LISTED = 200
_NEIGHBOURS = 12
_EXPOSURE: Mapping[str, Callable[[float], str]] = {
    "exposure_seconds": lambda value: f"1/{1 / value:.0f} s" if 0 < value < 0.4 else f"{value:g} s",
    "aperture": lambda value: f"f/{value:g}",
    "iso": lambda value: f"ISO {value:g}",
    "focal_length_mm": lambda value: f"{value:g} mm",
}
_FOREVER = "private, max-age=31536000, immutable"


def timeline(request: Request) -> Response:
    """Pictures by month and the events among them."""
    state, corpus = of_corpus(request)
    months = corpus.months()
    years = [(year, list(held)) for year, held in groupby(months, key=lambda month: month[0][:4])]
    offset = number(request, "offset")
    return state.show(
        request,
        "timeline.html",
        years=years[::-1],
        most=max((count for _, count in months), default=1),
        undated=corpus.count(PictureChoice(year="?")),
        events=corpus.group_rows("event", offset, _GROUPS, 6),
        count=corpus.group_counts().get("event", 0),
        offset=offset,
        step=_GROUPS,
    )


def groups(request: Request) -> Response:
    """Duplicates, bursts, and other groups, with their first pictures."""
    state, corpus = of_corpus(request)
    counts = corpus.group_counts()
    kind = request.query_params.get("kind") or next(
        (name for name in ("duplicate", "burst") if name in counts), "event"
    )
    offset = number(request, "offset")
    return state.show(
        request,
        "groups.html",
        kind=kind,
        kinds=KINDS,
        counts=counts,
        rows=corpus.group_rows(kind, offset, _GROUPS, _GROUP_TILES),
        count=counts.get(kind, 0),
        offset=offset,
        step=_GROUPS,
    )


def problems(request: Request) -> Response:
    """What the scan could not take in, and what it noticed."""
    state, corpus = of_corpus(request)
    skipped, warnings = corpus.problems()
    offset = number(request, "offset")
    rows = corpus.skipped(offset, _LISTED)
    count = sum(skipped.values())
    return state.show(
        request,
        "problems.html",
        skipped=skipped,
        warnings=warnings,
        rows=rows,
        count=count,
        offset=offset,
        step=_LISTED,
    )


def picture(request: Request) -> Response:
    """One picture: what is known of it, what was said of it, and what is near it; of the corpus, else a benchmark's."""
    state, query = AppState.of(request), request.query_params
    id_, key = query.get("id", ""), query.get("key", "")
    corpus, found = state.library.corpus, _of_corpus(state, id_, key)
    held = state.library.held(id_, key) if found is None else None
    if held is not None:
        return _held_picture(request, state, *held)
    if found is None and corpus is not None:
        found = corpus.find(id_)
    if found is None or corpus is None:
        raise missing("such picture")
    before, after = corpus.beside(PictureChoice(), found.id)
    near, why = _neighbours(state, found)
    return state.show(
        request,
        "picture.html",
        picture=found,
        key=found.sha256,
        loaded=None,
        facts=_facts(found, state.finder.place(found.id)),
        spot=spot_of(found.lon, found.lat),
        before=before,
        after=after,
        groups=[(group, corpus.title(group)) for group in corpus.groups.of_picture(found.id)],
        said=_annotations(state, found.id),
        near=near,
        why=why,
    )


def _of_corpus(state: AppState, id_: str, key: str) -> Picture | None:
    """By its id where that has this content; else by the content alone: a benchmark may call it something else."""
    corpus = state.library.corpus
    found = None if corpus is None else corpus.find(id_)
    if corpus is None or (found is not None and key in ("", found.sha256)):
        return found
    return corpus.by_key(key) if KEY.fullmatch(key) else None


def _held_picture(request: Request, state: AppState, loaded: LoadedBenchmark, found: Picture) -> Response:
    """A picture that only a benchmark has."""
    return state.show(
        request,
        "picture.html",
        picture=found,
        key=loaded.keys[found.id],
        loaded=loaded,
        facts=_facts(found),
        spot=None,
        before=None,
        after=None,
        groups=(),
        said=loaded.annotations.get(found.id, ()),
        near=(),
        why="Only pictures of the corpus are compared with each other, and this one is not in it.",
    )


def thumb(request: Request) -> Response:
    """The small copy of a picture that the app knows, by its key."""
    state = AppState.of(request)
    key, size = request.path_params["key"], number(request, "size", SIZES[0])
    if KEY.fullmatch(key) is None or size not in SIZES:
        raise missing("such picture")
    if state.finder.has_upload(key):
        return Response(state.finder.upload(key), media_type="image/jpeg", headers={"cache-control": _FOREVER})
    path = state.library.path(key)
    if path is None:
        raise missing("such picture")
    data = state.library.thumbs.get(key, size, path)
    if isinstance(data, Failure):
        return Response(static_text("unreadable.svg"), media_type="image/svg+xml")
    return Response(data, media_type="image/jpeg", headers={"cache-control": _FOREVER})


def _facts(picture: Picture, near: str | None = None) -> list[tuple[str, str]]:
    taken = None if picture.taken_at is None else picture.taken_at.isoformat(" ", "minutes")
    at = None if picture.lat is None or picture.lon is None else f"{picture.lat:.5f}, {picture.lon:.5f}"
    size = f"{picture.width} × {picture.height}" if picture.width and picture.height else None
    rights = picture.rights
    pairs: list[tuple[str, Any]] = [
        ("Taken", taken),
        ("Place", picture.address or (near and f"near {near}")),
        ("Coordinates", at),
        ("Altitude", None if picture.altitude is None else f"{picture.altitude:g} m"),
        ("Device", picture.device),
        ("Exposure", _exposure(picture.extra)),
        ("Size", size),
        ("Type", picture.mime),
        ("Licence", rights.license),
        ("Source", rights.source),
        ("DOI", rights.doi),
        ("By", rights.attribution),
        *(
            (name.replace("_", " ").capitalize(), _plain(value))
            for name, value in picture.extra.items()
            if name not in _EXPOSURE
        ),
        ("SHA-256", picture.sha256),
    ]
    return [(name, str(value)) for name, value in pairs if value not in (None, "")]


def _exposure(extra: Mapping[str, Any]) -> str:
    """`1/250 s · f/2.8 · ISO 200 · 50 mm`, as far as it is known."""
    told = ((name, extra.get(name)) for name in _EXPOSURE)
    return " · ".join(_EXPOSURE[name](value) for name, value in told if isinstance(value, float | int))


def _plain(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _annotations(state: AppState, id_: str) -> list[Any]:
    """What the index and the benchmarks hold on a picture."""
    found = [note for loaded in state.library.benchmarks() for note in loaded.annotations.get(id_, ())]
    searcher = state.finder.searcher()
    if searcher is not None:
        with searcher.reading_table():
            note = searcher.table.annotation(id_)
        if note is not None and note not in found:
            found.append(note)
    return found


def _neighbours(state: AppState, picture: Picture) -> tuple[Sequence[Tile], str]:
    """Pictures that look like it, where there is an index with vectors; else why not."""
    if state.finder.searcher() is None:
        return [], f"Pictures that look like it are shown once there is an index: {state.finder.index_command}"
    try:
        hits = state.finder.search(SearchForm(like=picture.id, k=_NEIGHBOURS + 1)).hits
    except SightlineError as error:
        return [], str(error)
    near = [hit.picture.id for hit in hits if hit.picture.id != picture.id][:_NEIGHBOURS]
    return state.library.tiles(near), ""
