"""Where a mined request came from: what it begins with, what it leads along, and the occasions that it is about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sightline.reports.text import day
from sightline.types import Json, PictureSet, Task
from sightline.web.app_state import AppState
from sightline.web.corpus_view import Tile
from sightline.web.library import LoadedBenchmark

_NAMES = {"anchor": "Singled out by", "link": "Leads on by", "target": "Wanted"}


@dataclass(frozen=True, slots=True)
class OriginClue:
    """What a part of the request speaks of, and pictures that show it."""

    role: str
    text: str
    tiles: tuple[Tile, ...]


@dataclass(frozen=True, slots=True)
class OriginEvent:
    """An event: when and where it was, what it has to do with the request, and all its pictures.

    It is `near` where the words single it out, or something in it is wanted.
    """

    title: str
    role: str
    near: bool
    tiles: tuple[Tile, ...]


@dataclass(frozen=True, slots=True)
class RequestOrigin:
    """All that a person needs to say whether the request and its answer are right."""

    clues: tuple[OriginClue, ...]
    occasions: tuple[OriginEvent, ...]
    wanted: frozenset[str]
    why: str


def origin_of(state: AppState, loaded: LoadedBenchmark, task: Task) -> RequestOrigin | None:
    """What mining wrote down of a request; None for tasks that were not mined."""
    mined = task.extra.get("mined")
    if not isinstance(mined, dict):
        return None

    def tiles(ids: Json) -> tuple[Tile, ...]:
        return state.library.tiles(map(str, ids) if isinstance(ids, list) else (), loaded)

    clues = [
        OriginClue(name, text, tiles(part.get("pictures")))
        for key, name in _NAMES.items()
        for part in _objects([mined.get(key)])
        if (text := _text(part, "text"))
    ]
    truth = loaded.benchmark.truth.get(task.id)
    wanted = frozenset(truth.pictures if isinstance(truth, PictureSet) else ())
    events = []
    for event in _objects(mined.get("events")):
        held = tiles(event.get("pictures"))
        near = event.get("anchor") is True or any(tile.id in wanted for tile in held)
        where = _text(event, "where") or _place(state, held)
        events.append(OriginEvent(_title(_text(event, "from"), _text(event, "to"), where), _role(event), near, held))
    return RequestOrigin(tuple(clues), tuple(events), wanted, _text(mined, "why"))


def setting_of(state: AppState, loaded: LoadedBenchmark, picture: str) -> OriginEvent | None:
    """The occasion of one picture, as the benchmark's own hidden events have it; None where nothing is known of it."""
    events = (group for group in loaded.benchmark.corpus.groups if group.kind == "event" and picture in group.pictures)
    ids = next((group.pictures for group in events), (picture,))
    known = [found for id_ in ids if (found := loaded.benchmark.corpus.pictures.get(id_)) is not None]
    taken = sorted(found.taken_at.isoformat() for found in known if found.taken_at is not None)
    if not taken:
        return None
    tiles = state.library.tiles(ids, loaded)
    where = next((found.address for found in known if found.address), None) or _place(state, tiles)
    return OriginEvent(_title(taken[0], taken[-1], where), "", True, tiles)


def _place(state: AppState, tiles: Iterable[Tile]) -> str:
    """The place nearest to the coordinates of the first picture that has some, where there is an index."""
    return next((place for tile in tiles if (place := state.finder.place(tile.id))), "")


def _objects(held: Json) -> list[dict[str, Json]]:
    return [one for one in held if isinstance(one, dict)] if isinstance(held, list) else []


def _text(held: Mapping[str, Json], name: str) -> str:
    found = held.get(name)
    return found if isinstance(found, str) else ""


def _title(first: str, last: str, where: str) -> str:
    days = list(dict.fromkeys(day(when) for when in (first, last) if when))
    hours = list(dict.fromkeys(when[11:16] for when in (first, last) if when[11:16])) if len(days) == 1 else []
    return ", ".join(filter(None, (" to ".join(days), " to ".join(hours), where)))


def _role(event: Mapping[str, Json]) -> str:
    anchor, meant = event.get("anchor") is True, event.get("meant") is True
    if anchor and meant:
        return "singled out by the words, and meant"
    return "singled out by the words" if anchor else "meant" if meant else ""
