"""Values as cameras and editors write them: text in any bytes, times, positions; tidied, or refused as implausible."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache
from typing import NamedTuple

from sightline.corpus.metadata.facts import ImplausibleError, unique

MAX_TEXT = 32_768
MAX_KEYWORDS = 1_000

_UNWANTED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
FIRST_YEAR = 1826
"""The year of the oldest photograph."""
_TIME = re.compile(
    r"(\d{4})[-:/.](\d\d?)[-:/.](\d\d?)"
    r"(?:[T ]\s*(\d\d?):(\d\d?)(?::(\d\d?)(?:[.,](\d+))?)?\s*(Z|[-+][\d:]+)?)?",
    re.ASCII | re.IGNORECASE,
)
_OFFSET = re.compile(r"([-+])(\d\d?):?(\d\d)?", re.ASCII)
_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?(?:/\d+)?", re.ASCII | re.IGNORECASE)
_BETWEEN = re.compile(r"[\s,;:°'\"′″’”]*")
_LOWEST, _HIGHEST = -12_000.0, 100_000.0


def tidy(text: str) -> str | None:
    """Without control characters and outer space, cut to a sane length; None when nothing is left."""
    text = text[:MAX_TEXT]
    if not text.isprintable():
        text = _UNWANTED.sub("", text)
    return text.strip() or None


def decode(raw: bytes) -> str | None:
    """UTF-8 where it is valid, otherwise Windows' Latin-1: what cameras and old editors write."""
    try:
        return tidy(raw.decode())
    except UnicodeDecodeError:
        return tidy(raw.decode("cp1252", "replace"))


def decode_ascii(raw: bytes) -> str | None:
    """An EXIF string: the first part between NULs that says anything."""
    if raw.count(b"\0") == 1 and raw.endswith(b"\0"):
        return decode(raw[:-1])
    return next((text for part in raw.split(b"\0") if (text := decode(part))), None)


def decode_utf16(raw: bytes) -> str | None:
    """One of Windows' XP… strings."""
    return tidy(raw.decode("utf-16-le", "replace").split("\0")[0])


def keyword_tuple(words: Iterable[str]) -> tuple[str, ...]:
    """Tidy keywords, each once, at most a thousand."""
    return unique(word for raw in words if (word := tidy(raw)))[:MAX_KEYWORDS]


def split_keywords(text: str | None, separator: str) -> tuple[str, ...]:
    """Keywords written into one string."""
    return keyword_tuple((text or "").split(separator))


def read_rating(text: str) -> int | None:
    """Stars from -1 to 5, also written "4.0"; None when it is none of these."""
    try:
        rating = float(text)
    except ValueError:
        return None
    return int(rating) if rating.is_integer() and -1 <= rating <= 5 else None


def parse_time(text: str, *, subseconds: str | None = None, offset: str | None = None) -> datetime:
    """EXIF's `2021:05:03 10:11:12` or any ISO 8601 form of a full date; a date alone is its midnight.

    An offset inside `text` wins over `offset`; an offset that can't be is left out. Anything else raises
    `ImplausibleError`.
    """
    found = _TIME.fullmatch(text.strip())
    if found is None:
        raise ImplausibleError(text)
    year, month, day, hour, minute, second, fraction, zone = found.groups()
    try:
        moment = datetime(
            int(year),
            int(month),
            int(day),
            int(hour or 0),
            int(minute or 0),
            int(second or 0),
            _microseconds(fraction or subseconds),
            _zone(zone or offset),
        )
    except ValueError:
        raise ImplausibleError(text) from None
    return plausible(moment)


def plausible(moment: datetime) -> datetime:
    """The same time, if a photograph can have been taken then."""
    if not FIRST_YEAR <= moment.year <= last_year():
        raise ImplausibleError(moment.isoformat())
    return moment


def last_year() -> int:
    """Next year; a machine whose clock was never set does not make every picture implausible."""
    return max(datetime.now().year, 2026) + 1


def _microseconds(digits: str | None) -> int:
    digits = (digits or "").strip()[:6]
    return int(digits.ljust(6, "0")) if digits.isascii() and digits.isdigit() else 0


@lru_cache(maxsize=256)
def _zone(text: str | None) -> timezone | None:
    text = (text or "").strip()
    if text in ("Z", "z"):
        return UTC
    found = _OFFSET.fullmatch(text)
    if found is None:
        return None
    sign, hours, minutes = found.groups()
    east = (60 * int(hours) + int(minutes or 0)) * (-1 if sign == "-" else 1)
    is_used = -12 * 60 <= east <= 14 * 60 and east % 15 == 0
    return timezone(timedelta(minutes=east)) if is_used else None


class Position(NamedTuple):
    """Degrees north and east."""

    lat: float
    lon: float


class Angle(NamedTuple):
    """Degrees, minutes and seconds as they were written, and the hemisphere's letter if one was."""

    parts: tuple[float, ...]
    letter: str = ""


def position(lat: float, lon: float) -> Position:
    """A position on Earth that is not the (0, 0) of a receiver without a fix; otherwise `ImplausibleError`."""
    if not (abs(lat) <= 90 and abs(lon) <= 180) or (lat == 0 and lon == 0):
        raise ImplausibleError(f"{lat}, {lon}")
    return Position(lat, lon)


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
