"""Which pictures of the corpus a page shows, and in what order: from its address, and for SQLite."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

ORDERS = {
    "newest": "p.taken_key IS NULL, p.taken_key DESC, p.id",
    "oldest": "p.taken_key IS NULL, p.taken_key, p.id",
    "name": "p.id",
}
FACETS = {
    "year": "substr(p.taken_at, 1, 4)",
    "owner": "p.owner",
    "device": "p.device",
    "place": "p.address",
    "license": "p.license",
    "type": "p.mime",
}
UNKNOWN = "?"
"""As the value of a facet: pictures of which it is not known."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Which pictures are shown, and in what order; what is None does not limit."""

    year: str | None = None
    owner: str | None = None
    device: str | None = None
    place: str | None = None
    license: str | None = None
    type: str | None = None
    month: str | None = None
    warning: str | None = None
    group: str | None = None
    box: tuple[float, float, float, float] | None = None
    name: str | None = None
    order: str = "newest"

    @classmethod
    def read(cls, query: Mapping[str, str]) -> Choice:
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
                parts.append(f"{column} = ?")
                values.append(wanted)
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


def _box(text: str) -> tuple[float, float, float, float] | None:
    try:
        west, south, east, north = (float(part) for part in text.split(","))
    except ValueError:
        return None
    return (west, south, east, north) if west < east and south < north else None
