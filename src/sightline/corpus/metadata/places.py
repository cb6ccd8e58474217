"""Positions as cameras and editors write them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

from sightline.corpus.metadata.reasons import ImplausibleError

_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?(?:/\d+)?", re.ASCII | re.IGNORECASE)
_BETWEEN = re.compile(r"[\s,;:°'\"′″’”]*")
_LOWEST, _HIGHEST = -12_000.0, 100_000.0


class Place(NamedTuple):
    """Degrees north and east."""

    lat: float
    lon: float


class Angle(NamedTuple):
    """Degrees, minutes and seconds as they were written, and the hemisphere's letter if one was."""

    parts: tuple[float, ...]
    letter: str = ""


def place(lat: float, lon: float) -> Place:
    """A position on Earth that is not the (0, 0) of a receiver without a fix; otherwise `ImplausibleError`."""
    if not (abs(lat) <= 90 and abs(lon) <= 180) or (lat == 0 and lon == 0):
        raise ImplausibleError(f"{lat}, {lon}")
    return Place(lat, lon)


def signed(angle: Angle, hemispheres: str) -> float:
    """Degrees with their sign; `hemispheres` is the positive letter, then the negative one."""
    size = _degrees(angle.parts)
    letter = angle.letter[:1].upper()
    contradicts = math.copysign(1, size) < 0 and letter == hemispheres[0]
    if not letter or letter not in hemispheres or contradicts:
        raise ImplausibleError(f"{size} {angle.letter}")
    return -abs(size) if letter == hemispheres[1] else abs(size)


def read_angle(text: str) -> Angle:
    """`48,51.5N`, `48,51,29.4N`, `48° 51' 29.4" N`, `48/1,51/1,2940/100` or `-48.858`."""
    text = text.strip()
    letter = ""
    if text[-1:].upper() in tuple("NSEW"):
        text, letter = text[:-1], text[-1]
    elif text[:1].upper() in tuple("NSEW"):
        text, letter = text[1:], text[0]
    numbers = _NUMBER.findall(text)
    if not numbers or not _BETWEEN.fullmatch(_NUMBER.sub("", text)):
        raise ImplausibleError(text)
    return Angle(tuple(read_number(number) for number in numbers), letter)


def read_decimal(text: str, hemispheres: str) -> float:
    """A coordinate whose hemisphere is in its letter or, for one decimal number, in its sign."""
    angle = read_angle(text)
    if not angle.letter and len(angle.parts) == 1:
        return angle.parts[0]
    return signed(angle, hemispheres)


def read_number(text: str) -> float:
    """`12.5` or `25/2`; NaN when it is neither."""
    above, slash, below = text.partition("/")
    try:
        return ratio(float(above), float(below) if slash else 1.0)
    except ValueError:
        return math.nan


def ratio(above: float, below: float) -> float:
    """A quotient for which 0/0 is NaN and anything else over zero is infinite."""
    if below == 0:
        return math.nan if above == 0 else math.inf
    return above / below


def altitude(metres: float, *, below_sea: bool) -> float:
    """Metres above the sea between the deepest trench and the edge of space; otherwise `ImplausibleError`."""
    value = -abs(metres) if below_sea else metres
    if not _LOWEST <= value <= _HIGHEST:
        raise ImplausibleError(str(metres))
    return value


def _degrees(parts: Sequence[float]) -> float:
    """Degrees from degrees, minutes and seconds; 0/0 in the last two is how some cameras leave them out."""
    if not 1 <= len(parts) <= 3:
        raise ImplausibleError(str(parts))
    minutes, seconds = ([0.0 if math.isnan(part) else part for part in parts[1:]] + [0.0, 0.0])[:2]
    if not (math.isfinite(parts[0]) and 0 <= minutes <= 60 and 0 <= seconds <= 60):
        raise ImplausibleError(str(parts))
    return math.copysign(abs(parts[0]) + minutes / 60 + seconds / 3600, parts[0])
