"""Proof that a set of pictures can't be found by looking at one picture at a time.

A *filter* is a conjunction of up to `DEPTH` conditions on a single picture. Of all filters this finds the one that
comes nearest to the wanted set, by F1: exactly, since a filter that has lost too much of the set can't get better by a
further condition, so that whole branches fall away. Three families are looked at:

- content: every trait of `traits.py`, once with only what is surely there and once with what is perhaps there too, and
  "not" for places, lights, people and signs;
- metadata: two of town, year, month, weekday, part of the day and device, together with any span of time whatsoever;
- both: content with town, year, month and part of the day. This is reported, not forbidden: whoever knows the month of
  an event has found the event, which is what a task asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from sightline_world.tasks.album import Album
from sightline_world.tasks.traits import Sight, Trait
from sightline_world.truth import ShotTruth

DEPTH = 3
_PARTS = ((6, "night"), (12, "morning"), (18, "afternoon"), (24, "evening"))


@dataclass(frozen=True, slots=True)
class Condition:
    """Something that holds of single pictures, and of which."""

    name: str
    pictures: int


@dataclass(frozen=True, slots=True)
class Best:
    """How near a filter comes to a set, and what it says."""

    f1: float = 0.0
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Proof:
    """The best filter of each family."""

    content: Best
    metadata: Best
    both: Best


class Filters:
    """All conditions on the pictures of one album."""

    def __init__(self, album: Album) -> None:
        self.content = _distinct(_content(album))
        self.metadata = _distinct(_metadata(album))
        coarse = [each for each in self.metadata if each.name.split(":")[0] in ("town", "year", "month", "part")]
        self.both = _distinct([*self.content, *coarse])
        self._dated = album.dated

    def proof(self, wanted: int, limit: float = 1.0) -> Proof | None:
        """The best filters for a set that is not empty; None where content or metadata alone comes up to the limit."""
        metadata = self._in_time(wanted)
        if metadata.f1 >= limit:
            return None
        content = best_filter(wanted, self.content, DEPTH, limit)
        if content.f1 >= limit:
            return None
        return Proof(content, metadata, best_filter(wanted, self.both, DEPTH))

    def _in_time(self, wanted: int) -> Best:
        """The best filter on metadata: up to two conditions and any span of time."""
        ends = [number for number in range(wanted.bit_length()) if wanted >> number & 1]
        useful = [each for each in self.metadata if each.pictures & wanted]
        best = Best()
        for size in (0, 1, 2):
            for chosen in combinations(useful, size):
                pictures = self._dated
                for each in chosen:
                    pictures &= each.pictures
                if _ceiling(pictures, wanted) > best.f1:
                    best = _better(best, _best_span(pictures, wanted, ends), (*(each.name for each in chosen), "span"))
        return best


def best_filter(wanted: int, conditions: Sequence[Condition], depth: int, enough: float = 1.0) -> Best:
    """The conjunction of up to `depth` conditions with the highest F1; the search ends once `enough` is reached."""
    useful = sorted(
        (each for each in conditions if each.pictures & wanted),
        key=lambda each: (-(each.pictures & wanted).bit_count(), each.pictures.bit_count(), each.name),
    )
    best = Best()

    def extend(start: int, pictures: int, names: tuple[str, ...]) -> None:
        nonlocal best
        for place in range(start, len(useful)):
            each = useful[place]
            joint = pictures & each.pictures if names else each.pictures
            if best.f1 >= enough or _ceiling(joint, wanted) <= best.f1:
                continue
            said = (*names, each.name)
            best = _better(best, f1(joint, wanted), said)
            if len(said) < depth:
                extend(place + 1, joint, said)

    extend(0, 0, ())
    return best


def f1(found: int, wanted: int) -> float:
    """2·|both| / (|found| + |wanted|); two empty sets agree."""
    total = found.bit_count() + wanted.bit_count()
    return 2 * (found & wanted).bit_count() / total if total else 1.0


def _ceiling(found: int, wanted: int) -> float:
    """What F1 can become when further conditions take away everything wrong."""
    hits = (found & wanted).bit_count()
    return 2 * hits / (hits + wanted.bit_count())


def _better(best: Best, value: float, names: tuple[str, ...]) -> Best:
    return replace(best, f1=value, names=names) if value > best.f1 else best


def _best_span(pictures: int, wanted: int, ends: Sequence[int]) -> float:
    """The best of all spans from one wanted picture to another."""
    return max(
        f1(pictures & ((2 << last) - (1 << first)), wanted) for place, first in enumerate(ends) for last in ends[place:]
    )


def _content(album: Album) -> Iterator[Condition]:
    signs, people = Sight(), Sight()
    for trait, sight in album.sights.items():
        name = ":".join((trait.kind, *trait.values))
        yield Condition(name, sight.sure)
        yield Condition(f"{name}?", sight.at_all)
        if trait.kind in ("place", "light"):
            yield Condition(f"not {name}", album.all & ~sight.at_all)
        if trait.kind == "words":
            signs = Sight(signs.sure | sight.sure, signs.perhaps | sight.perhaps)
        if trait == Trait("people", ("1",)):
            people = sight
    yield Condition("sign", signs.sure)
    yield Condition("not sign", album.all & ~signs.at_all)
    yield Condition("not people", album.all & ~people.sure)


def _metadata(album: Album) -> Iterator[Condition]:
    readers: dict[str, Callable[[ShotTruth], str | None]] = {
        "town": lambda shot: shot.town if shot.lat is not None else None,
        "year": lambda shot: str(shot.when.year),
        "month": lambda shot: str(shot.when.month),
        "weekday": lambda shot: str(shot.when.weekday()),
        "part": lambda shot: next(name for hour, name in _PARTS if shot.when.hour < hour),
        "device": lambda shot: shot.device,
    }
    for name, read in readers.items():
        values = [read(shot) for shot in album.shots]
        for value in sorted({value for value in values if value is not None}):
            yield Condition(f"{name}:{value}", album.where(each == value for each in values) & album.dated)


def _distinct(conditions: Iterator[Condition] | Sequence[Condition]) -> tuple[Condition, ...]:
    """Each set of pictures once, under the first name that it has."""
    first: dict[int, Condition] = {}
    for each in conditions:
        if each.pictures:
            first.setdefault(each.pictures, each)
    return tuple(first.values())
