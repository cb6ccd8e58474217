"""What is reached without reasoning: by direct retrieval at any cut-off, or by one filter on metadata."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from sightline.mine.graph import Photo

_ALL = "everything"
_WITH_DAYS = (_ALL, "device", "place")


class Reached(NamedTuple):
    """The best F1, and what reaches it."""

    f1: float
    by: str
    size: int


def best_cut(ranking: Sequence[str], wanted: Collection[str]) -> Reached:
    """The best F1 = 2·hits / (k + wanted) over all k of a ranking; with nothing wanted it is 0."""
    chosen, hits, best = set(wanted), 0, Reached(0.0, "", 0)
    for k, picture in enumerate(ranking, 1):
        hits += picture in chosen
        f1 = 2 * hits / (k + len(chosen)) if chosen else 0.0
        if f1 > best.f1:
            best = Reached(f1, f"the first {k} of a search", k)
    return best


def best_filter(photos: Sequence[Photo], wanted: Collection[str]) -> Reached:
    """The best F1 of what can be told of times and places: one value of one field, or some days in a row.

    Values are year, month, day, weekday, hour, event, device, and each part of an address; the days are all or those
    with one device or at one place. A span within a day is none: only who knows the answer could tell it.
    """
    chosen = set(wanted)
    best = Reached(0.0, "", 0)
    for name, listed in _filters(photos):
        best = max(best, _whole(name, listed, chosen), key=_f1)
        if name.startswith(_WITH_DAYS):
            best = max(best, _days(name, listed, chosen), key=_f1)
    return best if best.f1 > 0 else Reached(0.0, "", 0)


def _f1(reached: Reached) -> float:
    return reached.f1


def _filters(photos: Sequence[Photo]) -> Iterator[tuple[str, list[Photo]]]:
    yield _ALL, list(photos)
    values: dict[str, list[Photo]] = {}
    for photo in photos:
        for name, value in _values(photo).items():
            values.setdefault(f"{name} {value}", []).append(photo)
    yield from values.items()


def _values(photo: Photo) -> Mapping[str, str]:
    taken = datetime.fromisoformat(photo.taken_at)
    found = {
        "year": f"{taken:%Y}",
        "month": f"{taken:%B}",
        "month of": f"{taken:%Y-%m}",
        "day": f"{taken:%Y-%m-%d}",
        "weekday": f"{taken:%A}",
        "hour": f"{taken:%H}",
        "event": photo.event,
    }
    if photo.device:
        found["device"] = photo.device
    parts = [part.strip() for part in (photo.address or "").split(",")]
    return found | {f"place {number}": part for number, part in enumerate(reversed(parts)) if part}


def _whole(name: str, listed: Sequence[Photo], wanted: set[str]) -> Reached:
    hits = sum(photo.id in wanted for photo in listed)
    return Reached(2 * hits / (len(listed) + len(wanted)) if hits else 0.0, name, len(listed))


def _days(name: str, listed: Sequence[Photo], wanted: set[str]) -> Reached:
    """The best run of whole days; on both its ends there are wanted ones."""
    sizes = Counter(photo.taken_at[:10] for photo in listed)
    found = Counter(photo.taken_at[:10] for photo in listed if photo.id in wanted)
    days, best = sorted(sizes), Reached(0.0, "", 0)
    for first in found:
        size = hits = 0
        for day in days[days.index(first) :]:
            size, hits = size + sizes[day], hits + found[day]
            f1 = 2 * hits / (size + len(wanted))
            if f1 > best.f1:
                best = Reached(f1, f"{name}, {first} to {day}", size)
    return best
