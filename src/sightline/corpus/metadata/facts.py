"""What a picture's metadata says of it, how several sources become one, and the named reasons for which it is not
believed.

A scan counts the reasons.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal, ParamSpec, TypeAlias, TypeVar

from sightline.types import Json

BROKEN_EXIF = "broken exif"
BROKEN_XMP = "broken xmp"
BROKEN_IPTC = "broken iptc"
BROKEN_SIDECAR = "broken sidecar"
IMPLAUSIBLE_TIME = "implausible time"
IMPLAUSIBLE_POSITION = "implausible position"
IMPLAUSIBLE_ALTITUDE = "implausible altitude"

P = ParamSpec("P")
T = TypeVar("T")


class ImplausibleError(ValueError):
    """A value is there, but no camera could have meant it."""


def believe(reason: str, warnings: list[str], read: Callable[P, T], *args: P.args, **options: P.kwargs) -> T | None:
    """What `read` gives; None, and the reason among the warnings, when that is implausible."""
    try:
        return read(*args, **options)
    except ImplausibleError:
        if reason not in warnings:
            warnings.append(reason)
        return None


Source: TypeAlias = Literal["picture", "xmp", "takeout"]


@dataclass(frozen=True, slots=True)
class MetadataFacts:
    """What metadata says of one picture; `warnings` names what was there and could not be believed."""

    taken_at: datetime | None = None
    "With its offset from UTC where one was written; otherwise the camera's wall-clock time, naive."
    lat: float | None = None
    lon: float | None = None
    altitude: float | None = None
    device: str | None = None
    lens: str | None = None
    orientation: int = 1
    "1 to 8: what is left to do to the pixels that Pillow gives, to see the picture upright."
    title: str | None = None
    description: str | None = None
    keywords: tuple[str, ...] = ()
    rating: int | None = None
    "1 to 5 stars; 0 is unrated, -1 is rejected."
    creator: str | None = None
    copyright: str | None = None
    license: str | None = None
    extra: Mapping[str, Json] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    source: Source = "picture"


_WRITTEN = ("title", "description", "rating", "creator", "copyright", "license")


def combine(
    measured: Sequence[MetadataFacts], words: Sequence[MetadataFacts], *, unite_keywords: bool
) -> MetadataFacts:
    """One from several: what was measured from the first of `measured` that has it, what was written from `words`.

    A position is taken whole. Keywords come from the first that has any, or from all. `orientation` is `measured[0]`'s.
    """
    placed = next((facts for facts in measured if facts.lat is not None), MetadataFacts())
    keywords = unique(word for facts in words for word in facts.keywords)
    if not unite_keywords:
        keywords = next((facts.keywords for facts in words if facts.keywords), ())
    extra: dict[str, Json] = {}
    for facts in reversed(words):
        extra |= facts.extra
    return replace(
        placed,
        **{name: _first(measured, name) for name in ("taken_at", "device", "lens")},
        **{name: _first(words, name) for name in _WRITTEN},
        orientation=measured[0].orientation,
        keywords=keywords,
        extra=extra,
        warnings=unique(_relevant_warnings(measured)),
        source=measured[0].source,
    )


def _first(sources: Iterable[MetadataFacts], name: str) -> Any:
    return next((value for facts in sources if (value := getattr(facts, name)) not in (None, "")), None)


def _relevant_warnings(measured: Sequence[MetadataFacts]) -> Iterator[str]:
    """All warnings, but none about a time or a position that a better source had already given."""
    settled: set[str] = set()
    for facts in measured:
        yield from (warning for warning in facts.warnings if warning not in settled)
        if facts.taken_at is not None:
            settled.add(IMPLAUSIBLE_TIME)
        if facts.lat is not None:
            settled.update((IMPLAUSIBLE_POSITION, IMPLAUSIBLE_ALTITUDE))


def merge_facts(picture: MetadataFacts, sidecars: Sequence[MetadataFacts]) -> MetadataFacts:
    """The picture's facts, completed by its sidecars.

    Time, position, device and lens: the picture's own, then `.xmp`, then Takeout. Words and rating: `.xmp`, then
    Takeout, then the picture's own, because people edit there. Keywords are united.
    """
    if not sidecars:
        return picture
    beside = sorted(sidecars, key=lambda facts: facts.source == "takeout")
    return combine((picture, *beside), (*beside, picture), unite_keywords=True)


def unique(items: Iterable[str]) -> tuple[str, ...]:
    """The items in order, each once."""
    return tuple(dict.fromkeys(items))
