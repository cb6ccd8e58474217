"""Which pictures a page shows: chosen facets, as they stand in an address, as SQLite and as a filter read them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

ORDERS = {
    "newest": "p.taken_key IS NULL, p.taken_key DESC, p.id",
    "oldest": "p.taken_key IS NULL, p.taken_key, p.id",
    "name": "p.id",
}
_SAID = "coalesce(json_extract(p.given, '$.{0}'), json_extract(p.extra, '$.{0}'))"
"""What was said of a picture beside it (by a catalogue, a Takeout, a table), else in its file."""
FACETS = {
    "year": "substr(p.taken_at, 1, 4)",
    "place": "coalesce(p.address, place_of(p.id))",
    "device": "p.device",
    "people": _SAID.format("people"),
    "tag": _SAID.format("keywords"),
    "album": _SAID.format("album"),
    "rating": _SAID.format("rating"),
    "type": "p.mime",
    "owner": "p.owner",
    "license": "p.license",
}
"""In the order in which they are offered; `place_of` is a function of the corpus view."""
LISTS = {"people": "people", "tag": "keywords", "album": "album"}
"""Facets of which a picture may have several values."""
UNKNOWN = "?"
"""As the value of a facet: pictures of which it is not known."""
_FILTERS = {
    "year": "year",
    "place": "address",
    "device": "device",
    "people": "people",
    "tag": "tag",
    "album": "album",
    "rating": "rating",
    "type": "mime",
    "owner": "owner",
    "license": "licence",
    "month": "time",
    "group": "group",
}
_NUMBERS = ("year", "rating", "month")


@dataclass(frozen=True, slots=True)
class PictureChoice:
    """Which pictures are shown, and in what order; what is None does not limit."""

    year: str | None = None
    place: str | None = None
    device: str | None = None
    people: str | None = None
    tag: str | None = None
    album: str | None = None
    rating: str | None = None
    type: str | None = None
    owner: str | None = None
    license: str | None = None
    month: str | None = None
    warning: str | None = None
    group: str | None = None
    box: tuple[float, float, float, float] | None = None
    name: str | None = None
    order: str = "newest"

    @classmethod
    def read(cls, query: Mapping[str, str]) -> PictureChoice:
        """From an address; what is not understood there does not limit."""
        texts = {each.name: query.get(each.name, "").strip() or None for each in fields(cls) if each.name != "box"}
        order = texts.pop("order") or ""
        return cls(**texts, box=_box(query.get("box", "")), order=order if order in ORDERS else "newest")

    def chosen(self) -> dict[str, str]:
        """What limits, as it stands in an address."""
        found = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in ("box", "order")}
        if self.box is not None:
            found["box"] = ",".join(f"{edge:g}" for edge in self.box)
        return {name: value for name, value in found.items() if value is not None}

    def clauses(self) -> tuple[str, list[Any]]:
        """The same for SQLite: conditions, and what they compare with."""
        parts: list[str] = []
        values: list[Any] = []
        for facet, column in FACETS.items():
            wanted = getattr(self, facet)
            if wanted == UNKNOWN:
                parts.append(f"{column} IS NULL")
            elif wanted is not None:
                values.append(wanted)
                path = LISTS.get(facet)
                side = f"iif(json_type(p.given, '$.{path}') IS NULL, p.extra, p.given)"
                of_list = f"EXISTS (SELECT 1 FROM json_each({side}, '$.{path}') WHERE value = ?)"
                parts.append(f"CAST({column} AS TEXT) = ?" if path is None else of_list)
        for condition, value in (
            ("substr(p.taken_at, 1, 7) = ?", self.month),
            ("EXISTS (SELECT 1 FROM json_each(p.warnings) WHERE value = ?)", self.warning),
            ("p.id IN (SELECT picture FROM members WHERE group_id = ?)", self.group),
            ("instr(lower(p.id), lower(?)) > 0", self.name),
        ):
            if value is not None:
                parts.append(condition)
                values.append(value)
        if self.box is not None:
            parts.append("p.lon >= ? AND p.lat >= ? AND p.lon < ? AND p.lat < ?")
            values += self.box
        return "".join(f" AND {part}" for part in parts), values

    def as_filter(self) -> str:
        """The same in the language of docs/filters.md, which does not know warnings of a scan."""
        return " and ".join(self._tests())

    def _tests(self) -> Iterator[str]:
        for facet, field in _FILTERS.items():
            value = getattr(self, facet)
            if value == UNKNOWN:
                yield f"not has({'time' if facet == 'year' else field})"
            elif value is not None:
                yield f"{field} = {value if facet in _NUMBERS else json.dumps(value, ensure_ascii=False)}"
        if self.name is not None:
            yield f"id = {json.dumps(f'*{self.name}*', ensure_ascii=False)}"
        if self.box is not None:
            west, south, east, north = self.box
            yield f"box({south:g}, {west:g}, {north:g}, {east:g})"


def _box(text: str) -> tuple[float, float, float, float] | None:
    try:
        west, south, east, north = (float(part) for part in text.split(","))
    except ValueError:
        return None
    return (west, south, east, north) if west < east and south < north else None
