"""What is reached without reasoning: by direct retrieval at any cut-off, or by one filter on metadata."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from sightline.mine.graph import Photo


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
    """The best F1 of a time or a place: a span of time, one value of one field, or a span within a value.

    `photos` are in order of time. Values are year, month, day, weekday and hour, device, and each part of an address.
    """
    chosen = set(wanted)
    best = Reached(0.0, "", 0)
    for name, listed in _filters(photos):
        for reached in (_whole(name, listed, chosen), _span(name, listed, chosen)):
            if reached.f1 > best.f1:
                best = reached
    return best


def _filters(photos: Sequence[Photo]) -> Iterator[tuple[str, list[Photo]]]:
    yield "", list(photos)
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
    }
    if photo.device:
        found["device"] = photo.device
    parts = [part.strip() for part in (photo.address or "").split(",")]
    return found | {f"place {number}": part for number, part in enumerate(reversed(parts)) if part}


def _whole(name: str, listed: Sequence[Photo], wanted: set[str]) -> Reached:
    hits = sum(photo.id in wanted for photo in listed)
    return Reached(2 * hits / (len(listed) + len(wanted)) if hits else 0.0, name or "everything", len(listed))


def _span(name: str, listed: Sequence[Photo], wanted: set[str]) -> Reached:
    """The best run of neighbours in time; both its ends are wanted ones."""
    at = [place for place, photo in enumerate(listed) if photo.id in wanted]
    best = Reached(0.0, "", 0)
    for first, start in enumerate(at):
        for last in range(first, len(at)):
            size = at[last] - start + 1
            f1 = 2 * (last - first + 1) / (size + len(wanted))
            if f1 > best.f1:
                ends = f"{listed[start].taken_at[:16]} to {listed[at[last]].taken_at[:16]}"
                best = Reached(f1, f"{name}, {ends}".removeprefix(", "), size)
    return best
