"""Tools that tell of many pictures at once, or of a few in detail: Timeline, Map, GetMetadata, People."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sightline.agent.state import AgentState
from sightline.agent.tools.arguments import (
    SAVE_FIELD,
    MistakeError,
    ToolArguments,
    shown,
    spec,
    text_field,
    texts_field,
)
from sightline.agent.tools.base import FunctionTool, Materials, Observation, Tool, mistake, tool
from sightline.agent.tools.catalog import Catalog
from sightline.agent.tools.picture_refs import NamedPictures
from sightline.agent.tools.search_tools import answered, listed
from sightline.retrieval.columns.kinds import PictureColumns
from sightline.retrieval.vector_stores.base import Rows
from sightline.types import Json, Picture

MOST_BARS = 120
MOST_PLACES = 60
MOST_AT_ONCE = 100
_PEOPLE = "people"
"""The column of names, as Google Takeout and others write them beside a picture."""
_STEPS = {"year": 4, "month": 7, "day": 10, "hour": 13}
"""How much of an ISO time tells one bar from the next."""
_DETAIL = {"country": 1, "region": 2, "address": 100}
"""How many parts of an address, from its end, tell one place from another."""
_WITHIN = "only the subset of this name"

TIMELINE = spec(
    "Timeline",
    "An overview by time: how many photos were taken in each year, month, day or hour.",
    {
        "within": text_field(_WITHIN),
        "by": text_field("the length of a step; chosen by itself when left out", choices=tuple(_STEPS)),
    },
)
MAP = spec(
    "Map",
    "An overview by place: how many photos were taken where, from the addresses of the photos.",
    {
        "within": text_field(_WITHIN),
        "by": text_field("how finely; region is the last two parts of an address", choices=tuple(_DETAIL)),
    },
)
FIELDS: Mapping[str, Callable[[Picture], Any]] = {
    "time": lambda picture: None if picture.taken_at is None else picture.taken_at.isoformat(),
    "address": lambda picture: picture.address,
    "coordinates": lambda picture: None if picture.lat is None else [picture.lat, picture.lon],
    "device": lambda picture: picture.device,
    "size": lambda picture: None if picture.width is None else [picture.width, picture.height],
}
USUAL = ("time", "address")
PEOPLE = spec(
    "People",
    "Who is in the photos, by names in their metadata; with a name, the photos of that person.",
    {"name": text_field("a person's name"), "within": text_field(_WITHIN), "save_as": SAVE_FIELD},
)


def _is_there(materials: Materials) -> bool:
    return bool(materials.pictures)


def names_people(materials: Materials) -> bool:
    """Do the metadata of any picture name people?"""
    if materials.searcher is not None:
        return _PEOPLE in materials.searcher.columns.by_name
    return any(picture.extra.get(_PEOPLE) for picture in materials.pictures.values())


def get_metadata(materials: Materials) -> Tool | None:
    """GetMetadata; of the fields that may be asked for, time and address are told when none is."""
    if not materials.pictures:
        return None
    fields = tuple(FIELDS) if materials.fields is None else materials.fields
    subjects, catalogue = NamedPictures(materials), Catalog(materials)
    told = spec(
        "GetMetadata",
        f"When and where photos were taken. Up to {MOST_AT_ONCE} photos at once.",
        {
            "photos": texts_field("ids of photos", MOST_AT_ONCE),
            "fields": texts_field("what to tell: time and address when left out", len(fields), choices=tuple(fields)),
        },
        "photos",
    )

    def work(given: ToolArguments, state: AgentState) -> Observation:
        wanted = given.texts("fields") or tuple(name for name in USUAL if name in fields)
        strange = [name for name in wanted if name not in fields]
        if strange:
            raise MistakeError(f"there is no field {shown(strange[0])}. Fields: {', '.join(fields)}.")
        ids = given.texts("photos")
        if not ids:
            raise MistakeError("photos is missing: which photos?")
        pictures, unknown = subjects.split(ids, state)
        places = _places(catalogue.columns, pictures) if "address" in wanted else {}
        rows = [{"photo_id": p.id, **{name: FIELDS[name](p) for name in wanted}} for p in pictures]
        for row in rows:
            if "address" in row and row["address"] is None:
                row["address"] = places.get(row["photo_id"])
        data: dict[str, Any] = {"photos": rows}
        if unknown:
            data["unknown"] = unknown[:20]
        return answered(data, [picture.id for picture in pictures])

    return FunctionTool(told, work)


@tool(TIMELINE, Catalog, _is_there)
def timeline(catalogue: Catalog, given: ToolArguments, state: AgentState) -> Observation:
    """Timeline, over the times of the columns."""
    rows = catalogue.rows(state, given.maybe_text("within"))
    wall = catalogue.columns.times.wall[rows]
    known = np.sort(wall[~np.isnan(wall)])
    stamps = [str(each) for each in known.astype("datetime64[s]")]
    step = given.maybe_text("by") or _fitting_step(stamps)
    bars = Counter(stamp[: _STEPS[step]] for stamp in stamps)
    data: dict[str, Any] = {
        "count": len(rows),
        "first": stamps[0] if stamps else None,
        "last": stamps[-1] if stamps else None,
        "without_time": len(rows) - len(stamps),
        "by": step,
        "photos_in": dict(list(bars.items())[:MOST_BARS]),
    }
    if len(bars) > MOST_BARS:
        data["note"] = f"only the first {MOST_BARS} of {len(bars)} are listed; take a longer step or a subset"
    return answered(data)


@tool(MAP, Catalog, _is_there)
def map_(catalogue: Catalog, given: ToolArguments, state: AgentState) -> Observation:
    """Map, over the addresses of the columns, or over coordinates rounded to a degree where there is none."""
    rows = catalogue.rows(state, given.maybe_text("within"))
    by = given.maybe_text("by") or "region"
    places = Counter(_place(catalogue.columns, row, by) for row in rows.tolist())
    nowhere = places.pop(None, 0)
    most = places.most_common(MOST_PLACES)
    data: dict[str, Any] = {"count": len(rows), "without_place": nowhere, "by": by, "photos_in": dict(most)}
    if len(places) > len(most):
        data["note"] = f"only the {len(most)} most frequent of {len(places)} places are listed"
    return answered(data)


@tool(PEOPLE, Catalog, names_people)
def people(catalogue: Catalog, given: ToolArguments, state: AgentState) -> Observation:
    """People, where the metadata of any picture name some; nothing here compares faces."""
    rows = catalogue.rows(state, given.maybe_text("within"))
    named = _named_people(catalogue.columns, rows)
    if not named:
        raise MistakeError(
            "no photo there names people in its metadata, and faces are not compared. "
            "Describe the person to ImageSearch instead."
        )
    name = given.maybe_text("name")
    if name is None:
        return answered({"people": {who: len(found) for who, found in sorted(named.items())}}, untrusted=True)
    match = next((who for who in named if who.casefold() == name.casefold()), None)
    if match is None:
        known = sorted(named)[:40]
        told = mistake(f"nobody is called {shown(name)}. Names: {', '.join(known)}.")
        return replace(told, data={"people": list[Json](known)}, untrusted=True)
    return listed(catalogue.ids(np.array(named[match], np.int64)), given.maybe_text("save_as"), state)


def _fitting_step(stamps: Sequence[str]) -> str:
    """The shortest step that gives a handful of bars."""
    for step in ("hour", "day", "month"):
        if len({stamp[: _STEPS[step]] for stamp in stamps}) <= 40:
            return step
    return "year"


def _places(columns: PictureColumns, pictures: Sequence[Picture]) -> dict[str, str | None]:
    """Places derived from coordinates, where the index has them."""
    ids, place = columns.texts("id"), columns.texts("place")
    found: dict[str, str | None] = {}
    for picture in pictures:
        code = ids.vocabulary.codes.get(picture.id)
        if picture.address is None and picture.lat is not None and code is not None:
            found[picture.id] = place[int(np.argmax(ids.codes == code))]
    return found


def _place(columns: PictureColumns, row: int, by: str) -> str | None:
    text = columns.texts("address")[row] or columns.texts("place")[row]
    if text is None:
        lat, lon = (float(columns.numbers(name).values[row]) for name in ("lat", "lon"))
        return None if np.isnan(lat) or np.isnan(lon) else f"about {lat:.0f}, {lon:.0f} (degrees north, east)"
    parts = [part.strip() for part in text.split(",") if part.strip()]
    return ", ".join(parts[-_DETAIL[by] :]) or None


def _named_people(columns: PictureColumns, rows: Rows) -> dict[str, list[int]]:
    column = columns.by_name.get(_PEOPLE)
    named: dict[str, list[int]] = {}
    for row in rows.tolist():
        value = column[row] if column is not None and hasattr(column, "__getitem__") else None
        for who in (value,) if isinstance(value, str) else value or ():
            named.setdefault(who, []).append(row)
    return named
